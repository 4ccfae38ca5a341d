import type { Provider, UsageRecord } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'
import { anthropic, createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import { anthropicRefusal } from '../../packages/providers/src/testing/anthropic-rules.js'
import { googleBatchEmbeddingRefusal } from '../../packages/providers/src/testing/google-embeddings.js'
import { googleRefusal } from '../../packages/providers/src/testing/google-rules.js'
import { openaiEmbeddingRefusal } from '../../packages/providers/src/testing/openai-embeddings.js'
import { openaiImageRefusal } from '../../packages/providers/src/testing/openai-images.js'
import { openaiRefusal } from '../../packages/providers/src/testing/openai-rules.js'
import { openaiSpeechRefusal } from '../../packages/providers/src/testing/openai-speech.js'
import { openaiTranscriptionRefusal } from '../../packages/providers/src/testing/openai-transcriptions.js'
import type { TestOptions } from '../support/gateway.js'
import { testGateway } from '../support/gateway.js'
import { parseStream } from '../support/sse.js'

/** Validates bodies against OpenAI's schemas, by the end of the URL. */
const openaiRules: Record<string, (body: unknown) => unknown> = {
  completions: openaiRefusal,
  embeddings: openaiEmbeddingRefusal,
  generations: openaiImageRefusal,
  speech: openaiSpeechRefusal,
  transcriptions: (body) => openaiTranscriptionRefusal(body as FormData),
}

/** Validates bodies against Google's schemas, by the method at the end of the URL. */
const googleRules: Record<string, (model: string, body: unknown) => unknown> = {
  generateContent: googleRefusal,
  streamGenerateContent: googleRefusal,
  batchEmbedContents: googleBatchEmbeddingRefusal,
}

/** What is known of a family: how its provider is made, a model of it, and what the vendor itself would say against a body. */
const families = {
  openai: {
    provider: (transport: Transport): Provider => openai({ apiKey: 'sk-upstream', transport }),
    model: 'gpt-4o',
    refusal: (url: string, body: unknown): unknown => openaiRules[/\w+$/.exec(url)![0]]!(body),
  },
  anthropic: {
    provider: (transport: Transport): Provider => anthropic({ apiKey: 'sk-ant-upstream', transport }),
    model: 'claude-sonnet-4-5',
    refusal: (_: string, body: unknown): unknown => anthropicRefusal(body),
  },
  google: {
    provider: (transport: Transport): Provider =>
      google({ apiKey: 'AIza-upstream', transport, endpoints: googleEndpoints() }),
    model: 'gemini-2.5-flash',
    refusal(url: string, body: unknown): unknown {
      const [, model, method] = /models\/([^:]+):(\w+)/.exec(url)!
      return googleRules[method!]!(model!, body)
    },
  },
}

export type Family = keyof typeof families

/** An upstream's answer, in the pieces in which it arrives; an error among them breaks the connection. */
export interface Answer {
  /** Default 200. */
  status?: number
  headers?: Record<string, string>
  body: string | Iterable<string | Uint8Array | Error>
}

/** A request as it reached the upstream. */
export interface Sent {
  url: string
  headers: Record<string, string>
  /** JSON, or the parts of a form. */
  body: unknown
}

/** A file in a form, with its bytes as text, a character for each. */
export interface SentFile {
  filename: string
  type: string
  bytes: string
}

/** What one request became on both sides of the gateway. */
export interface Passed {
  status: number
  headers: Headers
  /** The client's bytes, with `"created":0` and made-up ids as `chatcmpl-new` and `call_new`. */
  text: string
  /** The same, untouched. */
  raw: string
  /** Of what is no text, a character for each byte. */
  bytes: string
  /** Every upstream request, oldest first. */
  sent: Sent[]
  /** The usage records. */
  records: UsageRecord[]
}

const utf8 = new TextEncoder()

/** A whole answer. */
export const whole = (body: object | string, status = 200, headers: Record<string, string> = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', ...headers },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** A stream of one event per value, as `data:` lines; texts are sent as they are, an error breaks the connection. */
export const stream = (...events: (object | string | Error)[]): Answer => ({
  headers: { 'content-type': 'text/event-stream' },
  body: events.map((event) =>
    typeof event === 'string' || event instanceof Error ? event : `data: ${JSON.stringify(event)}\n\n`,
  ),
})

const latin1 = (bytes: ArrayBuffer | Uint8Array<ArrayBuffer>): string =>
  Buffer.from(bytes as ArrayBuffer).toString('latin1')

/** The parts of a form by name and value, in their order. */
const partsOf = (form: FormData): Promise<[name: string, value: string | SentFile][]> =>
  Promise.all(
    [...form].map(async ([name, value]) => [
      name,
      typeof value === 'string'
        ? value
        : { filename: value.name, type: value.type, bytes: latin1(await value.arrayBuffer()) },
    ]),
  )

/** A gateway in front of an upstream of a family that gives `answer`, and all that this was sent. It throws at what the vendor would refuse. */
export async function setUp(family: Family, answer: Answer | ((sent: Sent) => Answer), options: TestOptions = {}) {
  const { provider, refusal } = families[family]
  const sent: Sent[] = []
  const transport: Transport = async ({ url, headers, body }) => {
    const form =
      typeof body === 'string'
        ? undefined
        : await new Response(body, { headers: { 'content-type': headers['content-type']! } }).formData()
    const json = form ? undefined : (JSON.parse(body as string) as unknown)
    const received: Sent = { url, headers, body: form ? await partsOf(form) : json }
    sent.push(received)
    const refused = refusal(url, form ?? json)
    if (refused) throw new Error(`The vendor would refuse this: ${JSON.stringify(refused)}`)
    const { status = 200, headers: head = {}, body: given } = typeof answer === 'function' ? answer(received) : answer
    return {
      status,
      header: (name) => head[name],
      body: (async function* () {
        for (const piece of typeof given === 'string' ? [given] : given)
          if (piece instanceof Error) throw piece
          else yield typeof piece === 'string' ? utf8.encode(piece) : piece
      })(),
    }
  }
  const router = createRouter({ providers: [provider(transport)] })
  const at = await testGateway({ router, ...options })
  return { ...at, sent }
}

/** Sends `request`, JSON or a form, to `path` of a gateway as {@link setUp} makes it. Fails if the client gets a stream that is not well formed. */
export async function passTo(
  family: Family,
  path: string,
  request: object,
  answer: Answer | ((sent: Sent) => Answer),
  init: RequestInit = {},
): Promise<Passed> {
  const { send, records, sent } = await setUp(family, answer)
  const response = await send('POST', path, request, init)
  const given = new Uint8Array(await response.arrayBuffer())
  const raw = new TextDecoder().decode(given)
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) parseStream(raw)
  const text = raw
    .replaceAll(/"created":\d+/g, '"created":0')
    .replaceAll(/chatcmpl-\w{24}(?=")/g, 'chatcmpl-new')
    .replaceAll(/call_\w{24}(?=")/g, 'call_new')
  const { status, headers } = response
  return { status, headers, text, raw, bytes: latin1(given), sent, records: await records() }
}

/** Sends a chat `request`, with a model and a message where it has none, as {@link passTo} does. */
export const pass = (
  family: Family,
  request: object,
  answer: Answer | ((sent: Sent) => Answer),
  init: RequestInit = {},
): Promise<Passed> => {
  const fields = { model: families[family].model, messages: [{ role: 'user', content: 'Hi' }], ...request }
  return passTo(family, '/v1/chat/completions', fields, answer, init)
}

/** A stream's bytes as a client is to see them: a chunk of each choice, put behind what all have alike, and texts as they are. */
export const chunks = (head: object, ...events: (object | string)[]): string =>
  events
    .map((event) => (typeof event === 'string' ? event : JSON.stringify({ ...head, choices: [event] })))
    .map((data) => `data: ${data}\n\n`)
    .join('')
