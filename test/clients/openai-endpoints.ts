import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import * as openai6 from 'openai'
import * as openai4 from 'openai-4'
import { afterAll } from 'vitest'

/** The two clients, typed as the newer one: both have the same calls. */
export const libraries: { name: string; library: typeof openai6 }[] = [
  { name: 'openai', library: openai6 },
  { name: 'openai 4', library: openai4 as unknown as typeof openai6 },
]

/** A client without retries. */
export const connect = ({ default: Client }: typeof openai6, { url, key }: { url: string; key: string }) =>
  new Client({ baseURL: url, apiKey: key, maxRetries: 0 })

export type OpenAIClient = ReturnType<typeof connect>

/** A folder for the files of a test file; gone afterwards. */
export function useFolder(): (name: string) => string {
  const folder = mkdtempSync(join(tmpdir(), 'endpoints-'))
  afterAll(() => rmSync(folder, { recursive: true }))
  return (name) => join(folder, name)
}

/** Writes the body of a response into a file as it arrives. */
export const streamTo = (path: string, { body }: Response): Promise<void> =>
  pipeline(body as unknown as AsyncIterable<Uint8Array>, createWriteStream(path))

export interface EndpointCall {
  endpoint: string
  /** Where the upstream of the call is asked. */
  path: RegExp
  /** A call that succeeds. */
  call(client: OpenAIClient): Promise<unknown>
  /** A call that the gateway refuses, and its words. */
  refused(client: OpenAIClient): Promise<unknown>
  message: string
}

const file = (library: typeof openai6, name = 'a.mp3') => library.toFile(Buffer.from('some audio'), name)

/** A call of each endpoint that is no chat. */
export const endpointCalls = (library: typeof openai6): EndpointCall[] => [
  {
    endpoint: 'embeddings',
    path: /embeddings$/,
    call: ({ embeddings }) => embeddings.create({ model: 'text-embedding-3-small', input: 'Hi' }),
    refused: ({ embeddings }) => embeddings.create({ model: 'text-embedding-3-small', input: 'Hi', dimensions: 0 }),
    message: 'dimensions must be at least 1, not 0',
  },
  {
    endpoint: 'images.generations',
    path: /images\/generations$/,
    call: ({ images }) => images.generate({ model: 'gpt-image-2', prompt: 'Hi' }),
    refused: ({ images }) => images.generate({ model: 'gpt-image-2', prompt: 'Hi', n: 11 }),
    message: 'n must be at most 10, not 11',
  },
  {
    endpoint: 'audio.speech',
    path: /audio\/speech$/,
    call: ({ audio }) => audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hi' }),
    refused: ({ audio }) => audio.speech.create({ model: 'tts-1', voice: 'alloy', input: 'Hi', speed: 5 }),
    message: 'speed must be at most 4, not 5',
  },
  {
    endpoint: 'audio.transcriptions',
    path: /audio\/transcriptions$/,
    call: async ({ audio }) => audio.transcriptions.create({ model: 'whisper-1', file: await file(library) }),
    refused: async ({ audio }) =>
      audio.transcriptions.create({ model: 'whisper-1', file: await file(library, 'a.txt') }),
    message: 'file must be one of mp3, mp4, mpeg, mpga, m4a, wav, webm',
  },
]
