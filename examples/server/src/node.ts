import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMiddleware } from '@hattip/adapter-node'
import { createListener, createServer } from '@turnpike/http/node'
import { undiciTransport } from '@turnpike/providers/undici'
import { addressOf, start } from './start.js'

/** How long the last bytes of ended requests have to leave, in milliseconds. */
const FLUSH_MS = 1_000

await start({
  transport: undiciTransport(),
  async serve({ gateway, origin }, { HOST, PORT, TRUSTED_HOPS: trustedHops }) {
    const hattip = createMiddleware(gateway.hattip, { origin, alwaysCallNext: false })
    const fallback = createListener(gateway, { trustedHops })
    const server = createServer(gateway, {
      listener(request: IncomingMessage & { rawBody?: null }, response) {
        // The gateway reads the body itself; null keeps the adapter from wrapping it into a stream that nobody reads.
        request.rawBody = null
        void hattip(request as never, response, () => fallback(request, response))
      },
    })
    await once(server.listen(PORT, HOST), 'listening')
    let closed: Promise<unknown>
    return {
      address: addressOf(HOST, (server.address() as AddressInfo).port),
      stop() {
        closed = once(server, 'close')
        server.close()
      },
      async end() {
        await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, FLUSH_MS))])
      },
    }
  },
})
