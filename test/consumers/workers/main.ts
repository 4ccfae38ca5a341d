import { createUser, memoryKV } from '@turnpike/core'
import type { Gateway } from '@turnpike/gateway'
import { createGateway } from '@turnpike/gateway'
import { createRouter, openai } from '@turnpike/providers'

interface Env {
  OPENAI_API_KEY: string
  OPENAI_BASE_URL: string
}

let gateway: Promise<Gateway> | undefined

async function start({ OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL }: Env): Promise<Gateway> {
  const kv = await memoryKV()
  const started = createGateway({ router: createRouter({ providers: [openai({ apiKey, baseURL })] }), kv })
  const user = (await createUser(kv, { name: 'my app' }))!
  const { key } = (await started.keys.create(user.id, { name: 'production' }))!
  console.log(`Gateway key: ${key}`)
  return started
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    gateway ??= start(env)
    return (await gateway).fetch(request)
  },
}
