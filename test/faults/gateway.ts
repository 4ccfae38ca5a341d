import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { KV, UsageRecord } from '@turnpike/core'
import { createUser, memoryKV } from '@turnpike/core'
import type { Gateway, GatewayOptions } from '@turnpike/gateway'
import { createGateway } from '@turnpike/gateway'
import { createServer } from '@turnpike/http/node'
import type { Transport } from '@turnpike/providers'
import { anthropic, createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import { undiciTransport } from '@turnpike/providers/undici'
import type { RawUpstream } from '../support/raw-upstream.js'
import { rawUpstream } from '../support/raw-upstream.js'
import { catalogues } from '../support/catalogues.js'

/** A gateway in this process and so always on Node, between real sockets. */
export interface LocalGateway {
  url: string
  key: string
  gateway: Gateway
  upstream: RawUpstream
  /** The usage records so far, newest first. */
  records(): Promise<UsageRecord[]>
  close(): Promise<void>
}

export async function startGateway(
  options: Partial<GatewayOptions> & { transport?: Transport; wrap?: (kv: KV) => KV } = {},
): Promise<LocalGateway> {
  const { transport = undiciTransport(), wrap = (kv) => kv, ...rest } = options
  const upstream = await rawUpstream()
  const providers = [
    openai({ apiKey: 'sk-upstream', baseURL: `${upstream.url}/v1`, transport, models: catalogues.openai }),
    anthropic({ apiKey: 'sk-ant-upstream', baseURL: upstream.url, transport, models: catalogues.anthropic }),
    google({
      apiKey: 'AIza-upstream',
      baseURL: `${upstream.url}/v1beta`,
      transport,
      models: catalogues.google,
      endpoints: googleEndpoints(),
    }),
  ]
  const kv = await memoryKV()
  const gateway = createGateway({ router: createRouter({ providers }), kv: wrap(kv), ...rest })
  const user = await createUser(kv, {})
  const { key } = await gateway.keys.create(user.id, { name: 'faults' })
  const server = createServer(gateway)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    key,
    gateway,
    upstream,
    records: async () => (await gateway.ledger.records(user.id)).items,
    async close() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
      await upstream.close()
    },
  }
}
