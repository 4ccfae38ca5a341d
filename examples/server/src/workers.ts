/** The server as several processes that listen on one port: a parent, which serves no requests itself, and its workers. @module */
import cluster from 'node:cluster'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { RequestEvent, RequestEvents } from '@turnpike/gateway'
import { requestEvents } from '@turnpike/gateway'
import type { Config } from 'turnpike'
import { checkProviders, loadConfig, openStorage } from 'turnpike'
import { onReload } from './reload.js'
import { onShutdown } from './shutdown.js'
import type { Told } from './start.js'

/** A message from a worker to its parent: the text to print once all workers listen, or why it cannot start. */
type Report = { text: string } | { error: string }

/** Events of requests that have ended in a worker, which the parent relays to all workers. */
interface EndedRequests {
  events: RequestEvent[]
}

/**
 * The configuration that a worker begins to run with, of which the parent keeps the last; null for one that no message can have. A worker whose file
 * is broken asks for it (`last`).
 */
type Running = { config: Config | null } | { last: true }

interface Worker {
  pid: number
  tell(message: EndedRequests | Running): void
  /** The text of its report once it listens. Rejects if it ends before. */
  listening: Promise<string>
  /** How it ended, such as `code 0` or `SIGKILL`. */
  ended: Promise<string>
  /** Sends SIGTERM. */
  stop(): void
  /** Sends SIGHUP once it listens, as it would end by one before: it reads its configuration again. */
  reload(): void
}

/** A worker that has listened for this long, in milliseconds, is replaced without a delay. */
const STEADY_MS = 10_000
/** The first and the maximum delay before a worker that ends repeatedly is replaced, in milliseconds. */
const FIRST_PAUSE_MS = 1_000
const LONGEST_PAUSE_MS = 30_000
/** How long events are collected before they are relayed, in milliseconds: a message costs about as much as ten events. */
const RELAY_MS = 50

export const { isWorker } = cluster

/** @param onMessage called with all but reports */
function startWorker(port: number, onMessage: (message: EndedRequests | Running) => void): Worker {
  const worker = cluster.fork({ PORT: port })
  const ended = once(worker, 'exit').then(
    ([code, signal]: (number | string | null)[]) => String(signal ?? `code ${code}`),
    (error: Error) => error.message,
  )
  const listening = new Promise<string>((resolve, reject) => {
    worker.on('message', (message: Report | EndedRequests | Running) => {
      if ('error' in message) reject(new Error(message.error))
      else if ('text' in message) resolve(message.text)
      else onMessage(message)
    })
    void ended.then((how) => reject(new Error(`A worker ended with ${how} before it listened`)))
  })
  // Not every caller awaits `listening`: this prevents an unhandled rejection.
  listening.catch(() => undefined)
  return {
    pid: worker.process.pid!,
    // Messages to a worker that is ending are dropped.
    tell: (message) => void (worker.isConnected() && worker.send(message, undefined, undefined, () => undefined)),
    listening,
    ended,
    stop: () => void worker.process.kill('SIGTERM'),
    reload: () =>
      void listening.then(
        () => worker.process.kill('SIGHUP'),
        () => undefined,
      ),
  }
}

/** @throws Error if the store that `STORAGE` names serves only one process */
async function checkStorage({ store, server }: Config): Promise<void> {
  if (typeof store !== 'string') throw new Error('WORKERS needs a store that is named by its URL')
  const { kv } = await openStorage(store)
  const { writers, driver } = kv.capabilities
  await kv.close()
  if (writers === 'one-process')
    throw new Error(
      `WORKERS=${server.workers} needs a store that processes can share, and "${driver}" serves only one. ` +
        'STORAGE can be redis://… or postgres://…, or sqlite:FILE, for which Node must be 22.13 or newer, or Bun',
    )
}

/**
 * Finds the port for all workers: that of the configuration, or a free one. The workers may share the port, and so could a second server
 * by mistake; this listener does not share it, and so detects that.
 * @throws Error if the port is in use
 */
async function findPort({ host, port: wanted }: Config['server']): Promise<number> {
  const server = createServer()
  await once(server.listen(wanted, host), 'listening')
  const { port } = server.address() as AddressInfo
  await once(server.close(), 'close')
  return port
}

/** Starts the workers, replaces those that end, and shuts them down. @throws Error if one cannot start, after stopping the others */
export async function supervise(config: Config): Promise<void> {
  if (process.versions['bun'] && process.platform !== 'linux')
    throw new Error('WORKERS needs Linux on Bun; on other systems, use Node')
  await checkStorage(config)
  const port = await findPort(config.server)
  // Workers accept connections themselves. A parent that distributes them loses those on their way to a worker that ends
  // (nodejs/node#21746), whose clients would wait for ever. The price is a less even distribution of a burst of connections.
  cluster.schedulingPolicy = cluster.SCHED_NONE

  const alive = new Set<Worker>()
  let stopping = false
  /** What a worker ran with last. */
  let running: Config | null = null
  const add = (): Worker => {
    const worker = startWorker(port, (message) => {
      if ('last' in message) worker.tell({ config: running })
      else if ('config' in message) running = message.config
      // The sender gets its events back too, so that all workers publish them in the same order.
      else for (const one of alive) one.tell(message)
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

  /** Replaces a worker, and its successors, until the server shuts down. */
  const keepAlive = async (worker: Worker): Promise<void> => {
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
    // A signal ends a worker only if it does not listen yet.
    process.exit(ends.every((how) => ['code 0', 'SIGTERM', 'SIGINT'].includes(how)) ? 0 : 1)
  })
  try {
    // One worker starts first: at the very first start, the text of its report has the command to try the gateway key with.
    const first = add()
    const text = await first.listening
    if (stopping) return
    const others = Array.from({ length: config.server.workers - 1 }, add)
    await Promise.all(others.map(({ listening }) => listening))
    for (const worker of [first, ...others]) void keepAlive(worker)
    onReload(config, () => {
      for (const worker of alive) worker.reload()
    })
    console.log(text)
  } catch (error) {
    if (stopping) return
    await stop()
    throw error
  }
}

/**
 * The events of all workers, in the order in which the parent received them, so that a client can resume the stream at another worker.
 * Each event is published shortly after its request has ended.
 */
function relayedEvents(): RequestEvents {
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

const report = (message: Report | Running): Promise<void> =>
  new Promise((resolve) => process.send!(message, undefined, undefined, () => resolve()))

/** A configuration as a message can have it; null if it has functions, or other objects that code makes. */
function asData(config: Config): Config | null {
  try {
    const data = JSON.parse(JSON.stringify(config)) as Config
    return isDeepStrictEqual(data, config) ? data : null
  } catch {
    return null
  }
}

/** What the workers run with, from the parent. */
const running = (): Promise<Config | null> =>
  new Promise((resolve) => {
    const onMessage = (message: object): void => {
      if (!('config' in message)) return
      process.off('message', onMessage)
      resolve(message.config as Config | null)
    }
    process.on('message', onMessage)
    void report({ last: true })
  })

/** The configuration of the file; that which the workers run with where it is broken, so that a worker that ends is replaced all the same. */
async function configuration(): Promise<Config> {
  try {
    const config = await loadConfig()
    await checkProviders(config)
    return config
  } catch (error) {
    const config = await running()
    if (config === null) throw error
    console.error(`A worker starts with the last configuration that was right:\n${(error as Error).message}`)
    return config
  }
}

/** Runs one worker. @param serve starts to listen, and calls `say` with the text of the report */
export async function work(serve: (config: Config, told: Told) => Promise<void>): Promise<void> {
  try {
    await serve(await configuration(), {
      events: relayedEvents(),
      say: (text) => void report({ text }),
      runsWith: (config) => void report({ config: asData(config) }),
    })
    // Ctrl-C sends SIGINT from the terminal, and then the parent sends SIGTERM, which must not interrupt the graceful shutdown.
    process.on('SIGTERM', () => undefined)
    process.on('SIGINT', () => undefined)
  } catch (error) {
    await report({ error: (error as Error).message })
    process.exit(1)
  }
}
