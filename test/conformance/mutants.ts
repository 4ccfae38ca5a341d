import type { IncomingMessage, ServerResponse } from 'node:http'
import { serve as listen } from '../embed/setup.js'

export interface Answer {
  status: number
  type: string
  text: string
}

/** A way in which a gateway can be wrong, the case that must see it, and what is wrong with its requests or its answers. */
export interface Mutant {
  title: string
  suite: string
  /** The beginning of the case's name. */
  seenBy: string
  request?: (text: string) => string
  answer?: (answer: Answer) => Answer
  /** Sends a request once more that is answered with 400. */
  repeats?: true
}

type Choices = { choices: { message: { tool_calls?: unknown[] } }[] }
type Messages = { messages: { role: string }[] }

const inText =
  (change: (text: string) => string) =>
  (answer: Answer): Answer => ({ ...answer, text: change(answer.text) })

export const mutants: Mutant[] = [
  {
    title: 'drops a tool call',
    suite: 'translation',
    seenBy: 'calls of one tool in the answer',
    answer: inText((text) => {
      const body = JSON.parse(text) as Choices
      body.choices[0]!.message.tool_calls?.pop()
      return JSON.stringify(body)
    }),
  },
  {
    title: 'drops the second system message',
    suite: 'translation',
    seenBy: 'every system message',
    request(text) {
      const { messages, ...rest } = JSON.parse(text) as Messages
      return JSON.stringify({ ...rest, messages: messages.filter(({ role }, i) => role !== 'system' || i === 0) })
    },
  },
  {
    title: 'swaps a finish_reason',
    suite: 'streams',
    seenBy: 'an answer at its limit',
    answer: inText((text) => text.replace('"finish_reason":"length"', '"finish_reason":"stop"')),
  },
  {
    title: 'gives every tool call the same index',
    suite: 'streams',
    seenBy: 'parallel tool calls',
    answer: inText((text) => text.replaceAll('"tool_calls":[{"index":1', '"tool_calls":[{"index":0')),
  },
  {
    title: 'adds [DONE] after an error',
    suite: 'faults',
    seenBy: 'an error in a stream',
    answer: inText((text) => (text.includes('"error"') ? `${text}data: [DONE]\n\n` : text)),
  },
  {
    title: 'sends errors as text',
    suite: 'faults',
    seenBy: '500 is 5xx',
    answer: (answer) => (answer.status < 500 ? answer : { ...answer, type: 'text/plain', text: 'Internal error' }),
  },
  {
    title: 'adds [DONE] after a refusal in a stream',
    suite: 'servers',
    seenBy: 'a refusal in a stream',
    answer: inText((text) => (text.includes('"error"') ? `${text}data: [DONE]\n\n` : text)),
  },
  {
    title: 'asks again after any 400',
    suite: 'servers',
    seenBy: 'a refusal of',
    repeats: true,
  },
  {
    title: 'drops what it does not know of a call',
    suite: 'models',
    seenBy: 'an image in the result',
    request: (text) => text.replace(/,\{"type":"image_url"[^]*?\}\}/, ''),
  },
  {
    title: 'counts no cached tokens',
    suite: 'servers',
    seenBy: 'the usage of Kimi',
    answer: inText((text) => text.replaceAll('"cached_tokens":900', '"cached_tokens":0')),
  },
  {
    title: 'has a page for what is not there',
    suite: 'specification',
    seenBy: 'is there, or an error in JSON',
    answer: (answer) => ({ ...answer, type: 'text/html', text: '<html>Not found</html>' }),
  },
  {
    title: 'leaves [DONE] out',
    suite: 'specification',
    seenBy: '[DONE] comes once',
    answer: inText((text) => text.replace('data: [DONE]\n\n', '')),
  },
  {
    title: 'takes a body that is no JSON',
    suite: 'specification',
    seenBy: 'a body that is no JSON',
    request: (text) => (text.endsWith('[') ? '{"model":"gpt-4o","messages":[{"role":"user","content":"Hi"}]}' : text),
  },
]

/** Starts a gateway that is wrong in one way, in front of one that is right. */
export async function startMutant(gateway: string, { request, answer, repeats }: Mutant) {
  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const piece of message.setEncoding('utf8')) body += piece as string
    const { authorization = '' } = message.headers
    const ask = (): Promise<Response> =>
      fetch(gateway + message.url!, {
        method: message.method!,
        headers: { authorization, 'content-type': 'application/json' },
        body: request ? request(body) : body,
      })
    let right = await ask()
    if (repeats && right.status === 400) right = await ask()
    const given = { status: right.status, type: right.headers.get('content-type') ?? '', text: await right.text() }
    const { status, type, text } = answer ? answer(given) : given
    response.writeHead(status, { 'content-type': type }).end(text)
  }
  return listen((message, response) => void serve(message, response).catch(() => response.destroy()))
}
