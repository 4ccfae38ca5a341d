import bunAdapter from '@hattip/adapter-bun'
import { fetchTransport } from '@turnpike/providers'
import { addressOf, start } from './start.js'

interface BunServer {
  port: number
  stop(closeConnections?: boolean): Promise<void>
}

// Bun has types of its own, in a package that the project does without.
declare const Bun: { serve(options: object): BunServer }

await start({
  transport: fetchTransport(),
  async serve({ handler }, { HOST, PORT, WORKERS }) {
    const server = Bun.serve({
      ...bunAdapter(handler),
      hostname: HOST,
      port: PORT,
      reusePort: WORKERS > 1,
      // Bun ends a connection that is silent for 10 seconds; a model may think for longer.
      idleTimeout: 0,
      // The gateway has its own bound, and its own words for what is over it.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    })
    let stopped: Promise<void>
    return {
      address: addressOf(HOST, server.port),
      stop() {
        stopped = server.stop()
      },
      async end() {
        await Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, 1_000))])
      },
    }
  },
})
