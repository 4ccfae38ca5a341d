import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from '@turnpike/http/node'
import { undiciTransport } from '@turnpike/providers/undici'
import { serverListener } from './listener.js'
import { addressOf, start } from './start.js'

/** Time-out for flushing the responses of completed requests at shutdown, in milliseconds. */
const FLUSH_MS = 1_000

await start({
  transport: undiciTransport(),
  async serve({ servable, node, handler, origin }, { HOST, PORT }) {
    const server = createServer(servable, { listener: serverListener(node, { handler, origin }) })
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
