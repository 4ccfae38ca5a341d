import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { families } from './families/index.js'
import type { Family, Sent } from './families/family.js'
import { parseJson } from './families/family.js'
import type { Answer, Script } from './script.js'
import { cut, untilClosed, untilRead, whole } from './script.js'

/** The case that is run at present, as the upstreams see it. */
export interface CurrentCase {
  family: Family
  script: Script
  /** The requests that reached the family's upstream, oldest first. */
  sent: Sent[]
  /** Why the vendor would refuse the first one that it would refuse. */
  refusal?: string
  /** Called with each request. */
  onRequest(): void
  /** Resolves once the client has received a part of the answer. */
  read: Promise<void>
  /** The upstream waited for the client to read, and goes on. */
  onReadEnd(): void
  /** The gateway closed the connection before the answer was sent. */
  onClosed(): void
}

export interface Upstreams {
  /** The case that the requests which come next belong to. */
  current: CurrentCase | undefined
  /** Resolves once they have ended all their answers. Rejects after {@link IDLE_MS}, with the requests that are still open, and ends those. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** How long an upstream waits for the client or the gateway. */
const PATIENCE_MS = 10_000

/** How long the upstreams wait for their answers to end: for longer than the answer of any script waits. */
export const IDLE_MS = 30_000

const within = (ms: number, promise: Promise<unknown>): Promise<unknown> => {
  let timer: NodeJS.Timeout
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

async function sendAnswer(response: ServerResponse, answer: Answer, current: CurrentCase): Promise<void> {
  const { status = 200, headers, change } = answer
  const closed = once(response, 'close').then(() => {
    if (!response.writableFinished) current.onClosed()
  })
  for (const step of change ? change(answer.steps.join('')) : answer.steps) {
    if (response.destroyed) return
    if (step === cut) return void response.destroy()
    if (step === untilRead) {
      await within(PATIENCE_MS, current.read)
      current.onReadEnd()
    } else if (step === untilClosed) await within(PATIENCE_MS, closed)
    else {
      if (!response.headersSent) response.writeHead(status, headers).flushHeaders()
      // A write may have no end where the gateway leaves meanwhile.
      const write = () => Promise.race([closed, new Promise((resolve) => response.write(step, resolve))])
      if (step !== '') await within(PATIENCE_MS, write())
      // Each step has a packet of its own.
      await setImmediate()
    }
  }
  response.end()
}

/** What an upstream answers to a request: by the script of the current case where the vendor would accept the request. */
function answerTo(
  family: Family,
  request: Omit<Sent, 'asked'>,
  current: CurrentCase,
  keys: Map<Family, string>,
): Answer {
  const pathname = decodeURIComponent(request.path.split('?')[0]!)
  if (!family.path.test(pathname)) return whole(family.error(404, `Unknown path ${pathname}`), 404)
  const key = family.credential(request)
  // The first request of all is a valid one.
  if (key !== undefined && !keys.has(family)) keys.set(family, key)
  const known = key !== undefined && key === keys.get(family)
  const refusal = family.refusal(request)
  if (known && refusal === undefined) {
    const sent = { ...request, asked: family.read(request) }
    current.sent.push(sent)
    const answer = current.script(sent)
    return family.asAsked?.(answer, sent) ?? answer
  }
  if (known) current.refusal ??= refusal!
  return known ? whole(family.error(400, refusal!), 400) : whole(family.error(401, 'Invalid key'), 401)
}

/** Starts the upstreams of all families on a port of the loopback interface: `/openai/v1`, `/anthropic`, `/google/v1beta`. */
export async function startUpstreams(port: number): Promise<Upstreams> {
  const keys = new Map<Family, string>()
  const answers = new Map<ServerResponse, Promise<void>>()

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const piece of message.setEncoding('utf8')) text += piece as string
    const { url: path = '/', headers } = message
    const family = families.find(({ name }) => path.startsWith(`/${name}/`))
    const { current } = upstreams
    // Gateways read the lists of models when they want to.
    if (family && /\/models(\?|$)/.test(path))
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(family.models))
    if (!family || family !== current?.family) return void response.writeHead(404).end()
    current.onRequest()
    const request = { path, headers: headers as Record<string, string>, body: parseJson(text) ?? {} }
    await sendAnswer(response, answerTo(family, request, current, keys), current)
  }

  const server = createServer((message, response) => {
    const answer = serve(message, response).catch(() => void response.destroy())
    answers.set(response, answer)
    void answer.finally(() => answers.delete(response))
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const upstreams: Upstreams = {
    current: undefined,
    async idle() {
      const ended = Promise.all(answers.values()).then(() => true)
      if (await within(IDLE_MS, ended)) return
      // Without the query, in which clients of Gemini may send their key.
      const open = [...answers.keys()].map(({ req }) => `${req.method} ${req.url?.split('?')[0]}`)
      for (const response of answers.keys()) response.destroy()
      throw new Error(
        `the requests to the upstreams: expected an end within ${IDLE_MS / 1_000} s, still open: ${open.join(', ')}`,
      )
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return upstreams
}
