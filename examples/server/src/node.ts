import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from '@turnpike/http/node'
import { undiciTransport } from '@turnpike/providers/undici'
import { hattipListener } from './hattip-listener.js'
import { addressOf, start } from './start.js'

/** How long the last bytes of ended requests have to leave, in milliseconds. */
const FLUSH_MS = 1_000

await start({
  transport: undiciTransport(),
  async serve({ gateway, origin }, { HOST, PORT, TRUSTED_HOPS: trustedHops }) {
    const server = createServer(gateway, { listener: hattipListener(gateway, { origin, trustedHops }) })
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
