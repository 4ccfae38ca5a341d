import { createUser, memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createRouter, openai } from '@turnpike/providers'
import { undiciTransport } from '@turnpike/providers/undici'

const provider = openai({
  apiKey: process.env.OPENAI_API_KEY,
  baseURL: process.env.OPENAI_BASE_URL,
  transport: undiciTransport(),
})
const kv = await memoryKV()
export const gateway = createGateway({ router: createRouter({ providers: [provider] }), kv })

const user = await createUser(kv, { name: 'my app' })
const { key } = await gateway.keys.create(user.id, { name: 'production' })
console.log(`Gateway key: ${key}`)
