import type { KV } from '@turnpike/core'
import type { PlatformOptions } from '@turnpike/platform'
import { createPlatform, gatewayResponder, passwordAuth, scryptHasher } from '@turnpike/platform'
import { unstorageBlobs } from '@turnpike/storage'
import type { TestOptions } from './gateway.js'
import { testGateway } from './gateway.js'
import { mapDriver } from './map-driver.js'

export const ADA = { email: 'ada@example.org', password: 'correct horse battery' }

/** A platform in this process, with the gateway of `testGateway`, files and a developer, {@link ADA}. */
export async function testPlatform(options: TestOptions = {}, more: Partial<PlatformOptions> = {}) {
  const at = await testGateway(options)
  const kv: KV = at.kv
  // The store drops what has expired by the clock of the machine.
  at.clock.now = Date.now()
  const now = () => at.clock.now
  const platform = createPlatform({
    kv,
    identity: passwordAuth({ kv, hasher: scryptHasher({ ln: 8, r: 8, p: 1 }), now }),
    gateway: at.gateway,
    userRateLimit: 1_000_000,
    apiRateLimits: { user: 1_000_000, address: 1_000_000 },
    files: { blobs: unstorageBlobs(mapDriver<string | Uint8Array>().driver) },
    responder: gatewayResponder(at.gateway, { models: async () => ['gpt-4o'] }),
    now,
    ...more,
  })
  await platform.operations.users.create({ ...ADA, role: 'developer' })
  return { ...at, platform }
}
