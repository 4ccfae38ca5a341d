import { createUser, expireRecords, getUser } from '@turnpike/core'
import type { Gateway } from '@turnpike/gateway'
import { createGateway } from '@turnpike/gateway'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { openKV } from '@turnpike/storage/open-kv'

interface Env {
  GATEWAY: DurableObjectNamespace
  /** The gateway key of the callers. */
  GATEWAY_KEY: string
  OPENAI_API_KEY?: string
  OPENAI_BASE_URL?: string
}

const USER = '00000000-0000-7000-8000-000000000001'

/** Characters of values that are kept in memory. */
const CACHE = 4_000_000
/** Days for which the record of each request is kept; sums stay. */
const RECORD_DAYS = 30

/** All keys, a page after the other: a list has the values as well. */
async function keysOf(storage: DurableObjectStorage): Promise<string[]> {
  const keys: string[] = []
  for (;;) {
    const page = await storage.list({ limit: 20, ...(keys.length > 0 && { startAfter: keys.at(-1)! }) })
    keys.push(...page.keys())
    if (page.size < 20) return keys
  }
}

async function start(storage: DurableObjectStorage, env: Env): Promise<Gateway> {
  const { OPENAI_API_KEY: apiKey, OPENAI_BASE_URL: baseURL = 'https://api.openai.com/v1' } = env
  // Without an API key, a simulated upstream answers, in the worker.
  const provider = apiKey
    ? openai({ apiKey, baseURL })
    : openai({ apiKey: 'simulated', transport: fakeOpenAI({ delayMs: 50, remember: 0 }).transport })
  const kv = await openKV(
    {
      getItem: (key) => storage.get(key),
      setItem: (key, text) => storage.put(key, text),
      removeItem: (key) => storage.delete(key),
      getKeys: () => keysOf(storage),
    },
    { cache: CACHE },
  )
  // An object has 128 MB, and the index of all that is stored takes its part of them.
  await expireRecords(kv, new Date(Date.now() - RECORD_DAYS * 86_400_000))
  const gateway = createGateway({ router: createRouter({ providers: [provider] }), kv, simulated: !apiKey })
  // Both are made at the first start only.
  if (!(await getUser(kv, USER))) await createUser(kv, { id: USER, name: 'my app' })
  if (!(await gateway.keys.verify(env.GATEWAY_KEY))) {
    // Another key than before ends that, which may have leaked.
    await gateway.keys.revokeAll(USER)
    await gateway.keys.create(USER, { name: 'production', key: env.GATEWAY_KEY })
  }
  return gateway
}

/** The gateway is one object, as it is one process elsewhere: all requests share its store, its limits and its timers. */
export class GatewayObject implements DurableObject {
  private gateway!: Gateway

  constructor(state: DurableObjectState, env: Env) {
    void state.blockConcurrencyWhile(async () => {
      this.gateway = await start(state.storage, env)
    })
  }

  fetch(request: Request): Promise<Response> {
    return this.gateway.fetch(request)
  }
}

export default {
  fetch: (request: Request, env: Env) => env.GATEWAY.get(env.GATEWAY.idFromName('gateway')).fetch(request),
}
