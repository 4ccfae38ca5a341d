import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { getHeapStatistics } from 'node:v8'
import { createServer } from '@turnpike/http/node'
import { undiciAgent, undiciTransport } from '@turnpike/providers/undici'
import { setGlobalDispatcher } from 'undici'
import { serverListener } from './listener.js'
import { addressOf, start } from './start.js'

// Files in S3 come by `fetch`.
setGlobalDispatcher(undiciAgent())
await start({
  transport: undiciTransport(),
  // `/v1` and `/api` take as much each, and what is parsed and answered comes on top.
  bodyMemoryMB: Math.min(512, Math.floor(getHeapStatistics().heap_size_limit / 4_000_000)),
  async serve(app, { host, port, baseUrl: origin = 'http://localhost' }) {
    const server = createServer(app, { listener: serverListener(app.node, { handler: app.hattip, origin }) })
    await once(server.listen(port, host), 'listening')
    return {
      address: addressOf(host, (server.address() as AddressInfo).port),
      stop: () => once(server.close(), 'close'),
    }
  },
})
