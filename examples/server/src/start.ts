import type { RequestEvents } from '@turnpike/gateway'
import { requestEvents } from '@turnpike/gateway'
import type { Transport } from '@turnpike/providers'
import { createApp } from './app.js'
import type { Environment } from './environment.js'
import { readEnvironment } from './environment.js'
import { onShutdown } from './shutdown.js'

export type App = Awaited<ReturnType<typeof createApp>>

/** What differs between runtimes. */
export interface Runtime {
  transport: Transport
  /** Starts to listen. @returns the address, and how to stop: at first from taking connections, then altogether */
  serve(
    app: App,
    environment: Environment,
  ): Promise<{ address: string; stop(): Promise<void> | void; end(): Promise<void> | void }>
}

/** Serves in this process. @param say told where it listens, once it does */
async function serveHere(
  { transport, serve }: Runtime,
  environment: Environment,
  events: RequestEvents,
  say: (text: string) => void,
): Promise<void> {
  const app = await createApp(environment, transport, events)
  const { address, stop, end } = await serve(app, environment)
  onShutdown(async () => {
    await stop()
    await app.close()
    await end()
    process.exit(0)
  })
  // Last: whoever reads it may already want to stop the server.
  app.announce(address, say)
}

/** Starts the server, says so, and ends it in order at SIGTERM or SIGINT. */
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
