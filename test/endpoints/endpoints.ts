import type { FakeAnswer } from '@turnpike/providers/testing'

/** The POST endpoints of the gateway, by name. */
export const paths = {
  chat: '/v1/chat/completions',
  embeddings: '/v1/embeddings',
  images: '/v1/images/generations',
  speech: '/v1/audio/speech',
  transcription: '/v1/audio/transcriptions',
}

export type Endpoint = keyof typeof paths

export const endpoints = Object.keys(paths) as Endpoint[]

/** Fields of a form: text, or a file by its name and what is in it. */
type Field = string | number | string[] | { name: string; bytes: string | Uint8Array<ArrayBuffer>; type?: string }

export const audio = (name: string, bytes: string | Uint8Array<ArrayBuffer> = 'audio', type?: string): Field => ({
  name,
  bytes,
  ...(type !== undefined && { type }),
})

/** The fields of a small valid request to OpenAI's models. */
const valid: Record<Endpoint, Record<string, unknown>> = {
  chat: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] },
  embeddings: { model: 'text-embedding-3-small', input: 'Hi' },
  images: { model: 'gpt-image-2', prompt: 'A cat' },
  speech: { model: 'tts-1', input: 'Hi', voice: 'alloy' },
  transcription: { model: 'whisper-1', file: audio('talk.mp3') },
}

function toForm(fields: Record<string, unknown>): FormData {
  const form = new FormData()
  for (const [name, value] of Object.entries(fields) as [string, Field][])
    if (Array.isArray(value)) for (const one of value) form.append(name, one)
    else if (typeof value === 'object') form.set(name, new File([value.bytes], value.name, { type: value.type ?? '' }))
    else form.set(name, String(value))
  return form
}

/** A valid request but for these fields; undefined leaves a field out. */
export function requestOf(endpoint: Endpoint, fields: object = {}): object {
  const all = Object.entries({ ...valid[endpoint], ...fields }).filter(([, value]) => value !== undefined)
  const request = Object.fromEntries(all)
  return endpoint === 'transcription' ? toForm(request) : request
}

/** An upstream's answer of this type. */
export const replied = (
  status: number,
  body: string | object,
  type = 'application/json',
  headers: Record<string, string> = {},
): FakeAnswer => ({
  status,
  headers: { 'content-type': type, ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** An error body of OpenAI. */
export const refusal = (message: string, code: string | null = null) => ({
  error: { message, type: 'a_type', param: null, code },
})

/** An answer whose connection breaks before its first byte. */
export const cut = (type = 'application/json'): FakeAnswer => ({
  status: 200,
  headers: { 'content-type': type },
  // oxlint-disable-next-line require-yield
  body: (async function* (): AsyncGenerator<string> {
    throw new Error('The connection broke')
  })(),
})

/** A network failure, as undici reports it. */
export const coded = (code: string): Error => Object.assign(new Error(`connect ${code}`), { code })
