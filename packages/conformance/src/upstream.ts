import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import { setImmediate } from 'node:timers/promises'
import { families } from './families/index.js'
import type { Family, Json, Sent } from './families/family.js'
import type { Answer, Play } from './play.js'
import { cut, untilClosed, untilRead, whole } from './play.js'

/** What the upstreams do at present, and what came of it. */
export interface Scene {
  family: Family
  play: Play
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
  /** Sets the stage for the requests that come next. */
  scene: Scene | undefined
  /** Resolves once they have ended all their answers. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** How long an upstream waits for the client or the gateway. */
const PATIENCE_MS = 10_000

const within = (ms: number, promise: Promise<unknown>): Promise<unknown> => {
  let timer: NodeJS.Timeout
  const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, ms)))
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

async function perform(response: ServerResponse, answer: Answer, scene: Scene): Promise<void> {
  const { status = 200, headers, change } = answer
  const steps = change ? change(answer.steps.join('')) : answer.steps
  if (steps[0] === cut) return void response.destroy()
  const closed = once(response, 'close').then(() => {
    if (!response.writableFinished) scene.onClosed()
  })
  response.writeHead(status, headers)
  response.flushHeaders()
  for (const step of steps) {
    if (response.destroyed) return
    if (step === cut) return void response.destroy()
    if (step === untilRead) {
      await within(PATIENCE_MS, scene.read)
      scene.onReadEnd()
    } else if (step === untilClosed) await within(PATIENCE_MS, closed)
    else {
      await within(PATIENCE_MS, new Promise((resolve) => response.write(step, resolve)))
      // Each step has a packet of its own.
      await setImmediate()
    }
  }
  response.end()
}

const parse = (text: string): Json => {
  try {
    return JSON.parse(text) as Json
  } catch {
    return {}
  }
}

/** What an upstream answers to a request; it performs the scene where that is of its family. */
function answerTo(family: Family, request: Omit<Sent, 'asked'>, scene: Scene, keys: Map<Family, string>): Answer {
  const pathname = decodeURIComponent(request.path.split('?')[0]!)
  if (pathname.endsWith('/models')) return whole(family.models)
  if (!family.path.test(pathname)) return whole(family.error(404, `Unknown path ${pathname}`), 404)
  const key = family.credential(request)
  // The first request of all is a valid one.
  if (key !== undefined && !keys.has(family)) keys.set(family, key)
  const known = key !== undefined && key === keys.get(family)
  const refusal = family.refusal(request)
  if (known && refusal === undefined) {
    const sent = { ...request, asked: family.read(request) }
    scene.sent.push(sent)
    const answer = scene.play(sent)
    return family.asAsked?.(answer, sent) ?? answer
  }
  if (known) scene.refusal ??= refusal!
  return known ? whole(family.error(400, refusal!), 400) : whole(family.error(401, 'Invalid key'), 401)
}

/** Starts the upstreams of all families on a port of the loopback interface: `/openai/v1`, `/anthropic`, `/google/v1beta`. */
export async function startUpstreams(port: number): Promise<Upstreams> {
  const keys = new Map<Family, string>()
  const answers = new Set<Promise<void>>()

  async function serve(message: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const piece of message.setEncoding('utf8')) text += piece as string
    const { url: path = '/', headers } = message
    const family = families.find(({ name }) => path.startsWith(`/${name}/`))
    const { scene } = upstreams
    if (!family || family !== scene?.family) return void response.writeHead(404).end()
    scene.onRequest()
    const request = { path, headers: headers as Record<string, string>, body: parse(text) }
    await perform(response, answerTo(family, request, scene, keys), scene)
  }

  const server = createServer((message, response) => {
    const answer = serve(message, response).catch(() => void response.destroy())
    answers.add(answer)
    void answer.finally(() => answers.delete(answer))
  })
  await once(server.listen(port, '127.0.0.1'), 'listening')
  const upstreams: Upstreams = {
    scene: undefined,
    async idle() {
      await Promise.all(answers)
    },
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
  return upstreams
}
