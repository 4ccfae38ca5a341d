import bunAdapter from '@hattip/adapter-bun'
import { fetchTransport } from '@turnpike/providers'
import { addressOf, start } from './start.js'

interface BunServer {
  port: number
  stop(closeConnections?: boolean): Promise<void>
}

// Declared here to avoid a dependency on Bun's type package.
declare const Bun: { serve(options: object): BunServer }

await start({
  transport: fetchTransport(),
  async serve({ hattip }, { host, port, workers }) {
    const server = Bun.serve({
      ...bunAdapter(hattip),
      hostname: host,
      port,
      reusePort: workers > 1,
      // Bun's default closes a connection after 10 idle seconds; a model may take longer to respond.
      idleTimeout: 0,
      // The gateway enforces its own limit and responds with its own error body.
      maxRequestBodySize: Number.MAX_SAFE_INTEGER,
    })
    return { address: addressOf(host, server.port), stop: () => server.stop() }
  },
})
