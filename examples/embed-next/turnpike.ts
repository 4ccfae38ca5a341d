import { randomBytes } from 'node:crypto'
import type { Gateway } from '@turnpike/gateway'
import { createUser, memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import type { Platform } from '@turnpike/platform'
import { createPlatform, passwordAuth } from '@turnpike/platform'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'

interface Turnpike {
  gateway: Gateway
  platform: Platform
}

async function create(): Promise<Turnpike> {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL = 'https://api.openai.com/v1' } = process.env
  // Without an API key, a simulated upstream answers, in this process.
  const provider = apiKey
    ? openai({ apiKey, baseURL })
    : openai({ apiKey: 'simulated', transport: fakeOpenAI({ delayMs: 50, remember: 0 }).transport })
  const kv = await memoryKV()
  const gateway = createGateway({ router: createRouter({ providers: [provider] }), kv, simulated: !apiKey })
  const user = await createUser(kv, { name: 'my app' })
  const { key } = await gateway.keys.create(user.id, { name: 'production' })
  console.log(`Gateway key: ${key}`)

  const platform = createPlatform({ kv, gateway, identity: passwordAuth({ kv }) })
  const password = randomBytes(12).toString('base64url')
  await platform.operations.users.create({ email: 'admin@localhost', password, role: 'admin' })
  console.log(`Administrator: admin@localhost, password ${password}`)
  return { gateway, platform }
}

// Next bundles each route by itself, with a copy of this module: only globals are shared.
const shared = globalThis as { turnpike?: Promise<Turnpike> }

export const turnpike = (): Promise<Turnpike> =>
  (shared.turnpike ??= create().catch((error: unknown) => {
    // The next request tries again.
    delete shared.turnpike
    throw error
  }))
