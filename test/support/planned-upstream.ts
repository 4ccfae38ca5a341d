import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** What an upstream does with a request. It stands, as JSON, in the only message of the request. */
export interface Plan {
  /** A UUID of its own. */
  id: string
  /** Tokens of the request and of the answer, which has four characters for each. */
  prompt: number
  completion: number
  /** Whether they are reported. */
  usage: boolean
  /** Milliseconds before the answer, and before each piece of a stream. */
  pause: number
  /** `cut` = the connection breaks within the stream. */
  ending: 'whole' | 'refused' | 'cut'
}

/** An OpenAI in this process that does as it is asked, on real sockets. */
export interface PlannedUpstream {
  url: string
  /** The plans that it has read, by id. */
  begun: Set<string>
  close(): Promise<void>
}

/** The pieces of a streamed answer. */
const PIECES = 3

const head = { id: 'chatcmpl-planned', created: 1_770_933_892, model: 'gpt-4o-mini' }
const textOf = ({ completion }: Plan): string => 'word'.repeat(completion)
const usageOf = ({ prompt, completion, usage }: Plan): object =>
  usage ? { usage: { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion } } : {}

/** What goes out in one write each. */
function* eventsOf(plan: Plan): Generator<string> {
  const event = (choices: object[], more: object = {}): string =>
    `data: ${JSON.stringify({ ...head, object: 'chat.completion.chunk', choices, ...more })}\n\n`
  const text = textOf(plan)
  const length = Math.ceil(text.length / PIECES)
  for (let at = 0; at < text.length; at += length)
    yield event([{ index: 0, delta: { content: text.slice(at, at + length) }, finish_reason: null }])
  yield (
    event([{ index: 0, delta: {}, finish_reason: 'stop' }]) +
    (plan.usage ? event([], usageOf(plan)) : '') +
    'data: [DONE]\n\n'
  )
}

async function answer(response: ServerResponse, plan: Plan, stream: boolean): Promise<void> {
  await sleep(plan.pause)
  if (plan.ending === 'refused') {
    const error = { message: 'As planned', type: 'invalid_request_error', param: null, code: null }
    response.writeHead(400, { 'content-type': 'application/json' }).end(JSON.stringify({ error }))
    return
  }
  if (!stream) {
    const message = { role: 'assistant', content: textOf(plan) }
    const choices = [{ index: 0, message, finish_reason: 'stop' }]
    const body = JSON.stringify({ ...head, object: 'chat.completion', choices, ...usageOf(plan) })
    response.writeHead(200, { 'content-type': 'application/json' }).end(body)
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const events = [...eventsOf(plan)]
  const last = events.pop()
  for (const event of events) {
    response.write(event)
    await sleep(plan.pause)
    if (plan.ending === 'cut') return void response.destroy()
  }
  response.end(last)
}

/** Listens on a free port of the loopback interface. */
export async function plannedUpstream(): Promise<PlannedUpstream> {
  const begun = new Set<string>()
  const read = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    let text = ''
    for await (const piece of request.setEncoding('utf8')) text += piece as string
    const { messages, stream } = JSON.parse(text) as { messages: [{ content: string }]; stream?: boolean }
    const plan = JSON.parse(messages[0].content) as Plan
    begun.add(plan.id)
    await answer(response, plan, stream === true)
  }
  // A gateway that dies or leaves is what these tests are about.
  const server = createServer((request, response) => void read(request, response).catch(() => response.destroy()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    begun,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}
