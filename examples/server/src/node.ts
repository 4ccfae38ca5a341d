import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from '@turnpike/http/node'
import { undiciTransport } from '@turnpike/providers/undici'
import { serverListener } from './listener.js'
import { addressOf, start } from './start.js'

await start({
  transport: undiciTransport(),
  async serve({ servable, node, handler, origin }, { HOST, PORT }) {
    const server = createServer(servable, { listener: serverListener(node, { handler, origin }) })
    await once(server.listen(PORT, HOST), 'listening')
    return {
      address: addressOf(HOST, (server.address() as AddressInfo).port),
      stop: () => once(server.close(), 'close'),
    }
  },
})
