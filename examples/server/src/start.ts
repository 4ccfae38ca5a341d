import { setTimeout as delay } from 'node:timers/promises'
import type { RequestEvents } from '@turnpike/gateway'
import { requestEvents } from '@turnpike/gateway'
import type { Transport } from '@turnpike/providers'
import type { Config, Turnpike } from 'turnpike'
import { findConfig, loadConfig, turnpike } from 'turnpike'
import { createLog } from './log.js'
import { toPng } from './png.js'
import { onReload } from './reload.js'
import { onShutdown } from './shutdown.js'

/** The part of the server that is specific to a runtime. */
export interface Runtime {
  transport: Transport
  /** Default for `server.bodyMemoryMB`; default 512. */
  bodyMemoryMB?: number
  /** Starts to listen. @returns the address, and `stop`: accepts no more connections, and resolves when the open ones have closed */
  serve(app: Turnpike, server: Config['server']): Promise<{ address: string; stop(): Promise<unknown> }>
}

/** How long the connections of completed requests may take to close at shutdown, in milliseconds. */
const FLUSH_MS = 1_000

const curl = (url: string, key: string, model: string): string => {
  const json = JSON.stringify({ model, messages: [{ role: 'user', content: 'Hello!' }] })
  return `curl ${url}/v1/chat/completions -H "Authorization: Bearer ${key}" -H "Content-Type: application/json" -d '${json}'`
}

/** A model to try: a small one, else one for agents, else the first that may chat; undefined where none is listed. */
async function modelToTry({ router }: Turnpike['current']): Promise<string | undefined> {
  const ids = (await router.models()).map(({ id }) => id)
  if (ids.includes('gpt-4o-mini')) return 'gpt-4o-mini'
  const agents = await router.agentModels()
  // What a local server's models can do is not known; those for vectors are named so. A quote would end the text of the command.
  return [...agents, ...ids].find((id) => !/embed|'/i.test(id))
}

/** Where the server listens and, at the first start, how to call it. */
async function announcement({ current, firstKey }: Turnpike, address: string): Promise<string> {
  const { baseUrl: url = address } = current.config.server
  const lines = [`Turnpike is listening on ${address}`, `Console: ${url}/console`]
  if (current.simulated)
    lines.push(
      'No provider key is set, so answers come from simulated upstreams.',
      'Set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY for real ones.',
    )
  if (firstKey === undefined) return lines.join('\n')
  const model = await modelToTry(current)
  if (model === undefined)
    lines.push(
      'No models are listed. Does the upstream run, and are its address and its key right? OPENAI_BASE_URL includes /v1, such as http://localhost:11434/v1.',
    )
  return [...lines, '', 'Try it:', `  ${curl(url, firstKey, model ?? 'gpt-4o-mini')}`].join('\n')
}

/** What becomes known of a server. */
export interface Told {
  events: RequestEvents
  /** Receives the start-up message once the server listens. */
  say(text: string): void
  /** Receives each configuration that the server begins to run with. */
  runsWith(config: Config): void
}

/** Serves in this process. */
async function serveHere(
  { transport, bodyMemoryMB, serve }: Runtime,
  config: Config,
  { events, say, runsWith }: Told,
): Promise<void> {
  const { onError, onRequest } = createLog(config.server.log)
  const hosted = (config: Config): Config => ({
    transport,
    ...config,
    server: { ...(bodyMemoryMB !== undefined && { bodyMemoryMB }), ...config.server },
    gateway: { toPng, ...config.gateway },
  })
  const app = await turnpike(hosted(config), { onError, onRequest, events })
  const { address, stop } = await serve(app, config.server)
  onShutdown(async () => {
    const closed = stop()
    await app.close()
    await Promise.race([closed, delay(FLUSH_MS)])
    process.exit(0)
  })
  const reload = async (): Promise<void> => {
    try {
      const changed = await loadConfig()
      const waiting = await app.reload(hosted(changed))
      runsWith(changed)
      console.log(
        `The configuration was read again${waiting.length > 0 ? `; the next start takes ${waiting.join(', ')}` : ''}`,
      )
    } catch (error) {
      console.error(`The configuration stays as it was:\n${(error as Error).message}`)
    }
  }
  // Workers are told by their parent.
  if (config.server.workers === 1) onReload(config, () => void reload())
  else process.on('SIGHUP', () => void reload())
  runsWith(config)
  // After `onShutdown`, because a supervisor may send SIGTERM as soon as it reads the message.
  say(await announcement(app, address))
}

/** Starts the server, and shuts it down gracefully on SIGTERM or SIGINT. */
export async function start(runtime: Runtime): Promise<void> {
  try {
    // Only what another process has started has a channel to its parent.
    const workers = process.send && (await import('./workers.js'))
    if (workers?.isWorker) return await workers.work((config, told) => serveHere(runtime, config, told))
    const file = findConfig(process.env)
    // Where the file goes away later, all would be as by default: a file that is named must be there, also for workers.
    if (file !== undefined) process.env['CONFIG'] = file
    const config = await loadConfig()
    if (config.server.workers === 1)
      return await serveHere(runtime, config, {
        events: requestEvents(),
        say: console.log,
        runsWith: () => undefined,
      })
    const { supervise } = await import('./workers.js')
    await supervise(config)
  } catch (error) {
    console.error(`Turnpike cannot start:\n${(error as Error).message}`)
    process.exit(1)
  }
}

/** `http://host:port`, with brackets around an IPv6 address. */
export const addressOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
