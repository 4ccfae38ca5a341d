/** The server as several processes that listen on one port: a parent, which serves nothing itself, and its workers. @module */
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { RequestEvent, RequestEvents } from '@turnpike/gateway'
import { requestEvents } from '@turnpike/gateway'
import type { Environment } from './environment.js'
import { onShutdown } from './shutdown.js'
import { openStorage } from './storage.js'

/** What a worker tells its parent: what to print once all listen, or why it cannot. */
type Report = { text: string } | { error: string }

/** Requests that have ended in a worker, which the parent passes on to all. */
interface EndedRequests {
  events: RequestEvent[]
}

interface Worker {
  pid: number
  tell(message: EndedRequests): void
  /** What it says once it listens. Rejects where it ends before. */
  listening: Promise<string>
  /** How it ended: `code 0`, `SIGKILL`. */
  ended: Promise<string>
  /** SIGTERM. */
  stop(): void
}

/** A worker that has listened for so long, in milliseconds, started well: the next one need not wait. */
const STEADY_MS = 10_000
/** The first and the longest pause before a worker that ends again and again is replaced, in milliseconds. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** How long ended requests wait to be passed on with others, in milliseconds: a message costs about as much as ten of them. */
const RELAY_MS = 50

export const isParent = cluster.isPrimary

/** @param onEvents told of what all workers are to know */
function startWorker(port: number, onEvents: (message: EndedRequests) => void): Worker {
  const worker = cluster.fork({ PORT: port })
  const ended = once(worker, 'exit').then(
    ([code, signal]: (number | string | null)[]) => String(signal ?? `code ${code}`),
    (error: Error) => error.message,
  )
  const listening = new Promise<string>((resolve, reject) => {
    worker.on('message', (message: Report | EndedRequests) => {
      if ('events' in message) onEvents(message)
      else if ('error' in message) reject(new Error(message.error))
      else resolve(message.text)
    })
    void ended.then((how) => reject(new Error(`A worker ended with ${how} before it listened`)))
  })
  // Not everybody who starts a worker waits for it.
  listening.catch(() => undefined)
  return {
    pid: worker.process.pid!,
    // One that is ending need not know.
    tell: (message) => void (worker.isConnected() && worker.send(message, undefined, undefined, () => undefined)),
    listening,
    ended,
    stop: () => void worker.process.kill('SIGTERM'),
  }
}

/** @throws Error where the store that `STORAGE` names is for one process */
async function checkStorage({ STORAGE, WORKERS }: Environment): Promise<void> {
  const { kv } = await openStorage(STORAGE)
  const { writers, driver } = kv.capabilities
  await kv.close()
  if (writers === 'one-process')
    throw new Error(
      `WORKERS=${WORKERS} needs a store that processes can share, and "${driver}" serves only one. ` +
        'STORAGE can be redis://… or postgres://…, or sqlite:FILE, for which Node must be 22.13 or newer, or Bun',
    )
}

/**
 * The port for all workers: that of the environment, or a free one. Where a port may be shared, a second server could take part in it
 * unseen; this listener does not share.
 * @throws Error where somebody has the port
 */
async function findPort({ HOST, PORT }: Environment): Promise<number> {
  const server = createServer()
  await once(server.listen(PORT, HOST), 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

/** Runs the workers, replaces those that end, and ends with them. @throws Error where one of them cannot start; none is left then */
export async function supervise(environment: Environment): Promise<void> {
  if (process.versions['bun'] && process.platform !== 'linux')
    throw new Error('WORKERS needs Linux on Bun; on other systems, use Node')
  await checkStorage(environment)
  const port = await findPort(environment)
  // Workers take connections themselves. A parent that hands them out forgets those on their way to a worker that ends
  // (nodejs/node#21746): their clients would wait for ever. The price is that a burst of connections is spread less evenly.
  cluster.schedulingPolicy = cluster.SCHED_NONE

  const alive = new Set<Worker>()
  let stopping = false
  const add = (): Worker => {
    const worker = startWorker(port, (message) => {
      // Also the one that it comes from, so that all tell of them in the same order.
      for (const one of alive) one.tell(message)
    })
    alive.add(worker)
    void worker.ended.then(() => alive.delete(worker))
    return worker
  }
  const stop = (): Promise<string[]> => {
    stopping = true
    for (const worker of alive) worker.stop()
    return Promise.all([...alive].map(({ ended }) => ended))
  }

  /** Puts others in the place of a worker until the server ends. */
  const keep = async (worker: Worker): Promise<void> => {
    for (let pause = 0; ; pause = Math.min(2 * pause || FIRST_PAUSE_MS, LONGEST_PAUSE_MS)) {
      let since = Infinity
      try {
        await worker.listening
        since = performance.now()
      } catch (error) {
        if (!stopping) console.error(`A worker cannot start: ${(error as Error).message}`)
      }
      const how = await worker.ended
      if (stopping) return
      if (performance.now() - since > STEADY_MS) pause = 0
      console.error(`Worker ${worker.pid} ended with ${how}; another takes its place in ${pause / 1_000} s`)
      await delay(pause)
      if (stopping) return
      worker = add()
    }
  }

  onShutdown(async () => {
    const ends = await stop()
    // A signal ends a worker only while it does not listen yet.
    process.exit(ends.every((how) => ['code 0', 'SIGTERM', 'SIGINT'].includes(how)) ? 0 : 1)
  })
  try {
    // One goes first: at the first start of all it has the key to show.
    const first = add()
    const text = await first.listening
    if (stopping) return
    const others = Array.from({ length: environment.WORKERS - 1 }, add)
    await Promise.all(others.map(({ listening }) => listening))
    for (const worker of [first, ...others]) void keep(worker)
    console.log(text)
  } catch (error) {
    if (stopping) return
    await stop()
    throw error
  }
}

/**
 * The requests of all workers, in the order in which the parent heard of them: whoever comes back to another worker goes on where it was.
 * Each is told of a moment after it ended.
 */
function eventsOfAll(): RequestEvents {
  const events = requestEvents()
  let own: RequestEvent[] = []
  const tell = (): void => {
    if (process.connected) process.send!({ events: own } satisfies EndedRequests, undefined, undefined, () => undefined)
    own = []
  }
  process.on('message', (message: Partial<EndedRequests>) => message.events?.forEach(events.publish))
  return {
    ...events,
    publish(event) {
      if (own.push(event) === 1) setTimeout(tell, RELAY_MS)
    },
  }
}

/** Runs one worker. @param serve starts to listen, and says so */
export async function work(
  serve: (events: RequestEvents, say: (text: string) => void) => Promise<void>,
): Promise<void> {
  const report = (message: Report): Promise<void> =>
    new Promise((resolve) => process.send!(message, undefined, undefined, () => resolve()))
  try {
    await serve(eventsOfAll(), (text) => void report({ text }))
    // A Ctrl-C comes from the terminal and, as SIGTERM, from the parent: the second must not end what the first lets end in order.
    process.on('SIGTERM', () => undefined)
    process.on('SIGINT', () => undefined)
  } catch (error) {
    await report({ error: (error as Error).message })
    process.exit(1)
  }
}
