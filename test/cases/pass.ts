import type { Provider, UsageRecord } from '@turnpike/core'
import type { Transport } from '@turnpike/providers'
import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import { anthropicRefusal } from '../../packages/providers/src/testing/anthropic-rules.js'
import { googleRefusal } from '../../packages/providers/src/testing/google-rules.js'
import { openaiRefusal } from '../../packages/providers/src/testing/openai-rules.js'
import { testGateway } from '../support/gateway.js'
import { parseStream } from '../support/sse.js'

/** What is known of a family: how its provider is made, a model of it, and what the vendor itself would say against a body. */
const families = {
  openai: {
    provider: (transport: Transport): Provider => openai({ apiKey: 'sk-upstream', transport }),
    model: 'gpt-4o',
    refusal: (_: string, body: unknown): unknown => openaiRefusal(body),
  },
  anthropic: {
    provider: (transport: Transport): Provider => anthropic({ apiKey: 'sk-ant-upstream', transport }),
    model: 'claude-sonnet-4-5',
    refusal: (_: string, body: unknown): unknown => anthropicRefusal(body),
  },
  google: {
    provider: (transport: Transport): Provider => google({ apiKey: 'AIza-upstream', transport }),
    model: 'gemini-2.5-flash',
    refusal: (url: string, body: unknown): unknown => googleRefusal(/models\/([^:]+):/.exec(url)![1]!, body),
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
  body: unknown
}

/** What one request became on both sides of the gateway. */
export interface Passed {
  status: number
  headers: Headers
  /** The client's bytes, with `"created":0` and made-up ids as `chatcmpl-new` and `call_new`. */
  text: string
  /** The same, untouched. */
  raw: string
  /** Every upstream request, oldest first. */
  sent: Sent[]
  /** What was booked. */
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

/**
 * Sends `request`, with a model and a message where it has none, through a whole gateway in front of an upstream of the family that gives
 * `answer`. Fails if the upstream is sent what the vendor would refuse, or if the client gets a stream that is not well formed.
 */
export async function pass(
  family: Family,
  request: object,
  answer: Answer | ((sent: Sent) => Answer),
): Promise<Passed> {
  const { provider, model, refusal } = families[family]
  const sent: Sent[] = []
  const transport: Transport = async ({ url, headers, body }) => {
    const received = { url, headers, body: JSON.parse(body as string) as unknown }
    sent.push(received)
    const refused = refusal(url, received.body)
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
  const { chat, records } = await testGateway({ router: createRouter({ providers: [provider(transport)] }) })
  const response = await chat({ model, ...request })
  const raw = await response.text()
  if (response.headers.get('content-type')?.startsWith('text/event-stream')) parseStream(raw)
  const text = raw
    .replaceAll(/"created":\d+/g, '"created":0')
    .replaceAll(/chatcmpl-\w{24}(?=")/g, 'chatcmpl-new')
    .replaceAll(/call_\w{24}(?=")/g, 'call_new')
  return { status: response.status, headers: response.headers, text, raw, sent, records: await records() }
}

/** A stream's bytes as a client is to see them: a chunk of each choice, put behind what all have alike, and texts as they are. */
export const chunks = (head: object, ...events: (object | string)[]): string =>
  events
    .map((event) => (typeof event === 'string' ? event : JSON.stringify({ ...head, choices: [event] })))
    .map((data) => `data: ${data}\n\n`)
    .join('')
