import { createUser, memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'

const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL = 'https://api.openai.com/v1' } = process.env
// Without an API key, a simulated upstream answers, in this process.
const provider = apiKey
  ? openai({ apiKey, baseURL })
  : openai({ apiKey: 'simulated', transport: fakeOpenAI({ delayMs: 50, remember: 0 }).transport })
export const kv = await memoryKV()
export const gateway = createGateway({ router: createRouter({ providers: [provider] }), kv, simulated: !apiKey })

const user = await createUser(kv, { name: 'my app' })
const { key } = await gateway.keys.create(user.id, { name: 'production' })
console.log(`Gateway key: ${key}`)
