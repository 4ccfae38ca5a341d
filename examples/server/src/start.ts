import { setTimeout as delay } from 'node:timers/promises'
import type { RequestEvents } from '@turnpike/gateway'
import { requestEvents } from '@turnpike/gateway'
import type { Transport } from '@turnpike/providers'
import { createApp } from './app.js'
import type { Environment } from './environment.js'
import { readEnvironment } from './environment.js'
import { onShutdown } from './shutdown.js'

/** The composed server, as {@link createApp} returns it. */
export type App = Awaited<ReturnType<typeof createApp>>

/** The part of the server that is specific to a runtime. */
export interface Runtime {
  transport: Transport
  /** Starts to listen. @returns the address, and `stop`: accepts no more connections, and resolves when the open ones have closed */
  serve(app: App, environment: Environment): Promise<{ address: string; stop(): Promise<unknown> }>
}

/** How long the connections of completed requests may take to close at shutdown, in milliseconds. */
const FLUSH_MS = 1_000

/** Serves in this process. @param say receives the start-up message once the server listens */
async function serveHere(
  { transport, serve }: Runtime,
  environment: Environment,
  events: RequestEvents,
  say: (text: string) => void,
): Promise<void> {
  const app = await createApp(environment, transport, events)
  const { address, stop } = await serve(app, environment)
  onShutdown(async () => {
    const closed = stop()
    await app.close()
    await Promise.race([closed, delay(FLUSH_MS)])
    process.exit(0)
  })
  // After `onShutdown`, because a supervisor may send SIGTERM as soon as it reads the message.
  app.announce(address, say)
}

/** Starts the server, and shuts it down gracefully on SIGTERM or SIGINT. */
export async function start(runtime: Runtime): Promise<void> {
  try {
    const environment = readEnvironment(process.env)
    if (environment.WORKERS === 1) return await serveHere(runtime, environment, requestEvents(), console.log)
    const { isParent, supervise, work } = await import('./workers.js')
    await (isParent ? supervise(environment) : work((events, say) => serveHere(runtime, environment, events, say)))
  } catch (error) {
    console.error(`Turnpike cannot start:\n${(error as Error).message}`)
    process.exit(1)
  }
}

/** `http://host:port`, with brackets around an IPv6 address. */
export const addressOf = (host: string, port: number): string =>
  `http://${host.includes(':') ? `[${host}]` : host}:${port}`
