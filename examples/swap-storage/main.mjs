// A key, a chat completion and the total so far: node main.mjs [memory | fs | redis | postgres | driver] [key of an earlier run]
import { createUser, getUser, memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { fsKV, openKV, postgresKV, redisKV } from '@turnpike/storage'
import { Redis } from 'ioredis'
import { Pool } from 'pg'
import { createStorage } from 'unstorage'
import fsLite from 'unstorage/drivers/fs-lite'

const [store = 'memory', earlierKey] = process.argv.slice(2)

// One line per store; an application needs only one of them: `const kv = await fsKV('.turnpike/fs')`.
const open = {
  memory: () => memoryKV(),
  fs: () => fsKV('.turnpike/fs'),
  redis: () => redisKV(new Redis(process.env.REDIS_URL)),
  postgres: () => postgresKV(new Pool({ connectionString: process.env.DATABASE_URL })),
  driver: () => openKV(createStorage({ driver: fsLite({ base: '.turnpike/fs-lite' }) })),
}
const kv = await open[store]()

// Nothing below depends on the kind of store.
const simulated = openai({ apiKey: 'simulated', transport: fakeOpenAI().transport })
const gateway = createGateway({ kv, router: createRouter({ providers: [simulated] }) })

const userId = '00000000-0000-7000-8000-000000000001'
if (!(await getUser(kv, userId))) await createUser(kv, { id: userId, name: 'Ada' })
const key = earlierKey ?? (await gateway.keys.create(userId, { name: 'example' })).key

const response = await gateway.fetch(
  new Request('http://localhost/v1/chat/completions', {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }] }),
  }),
)
const { choices, error } = await response.json()
const { requests, tokens } = await gateway.ledger.totals('user', userId)

console.log(
  `store:  ${kv.capabilities.driver}, writers ${kv.capabilities.writers}, survives ${kv.capabilities.durability}`,
)
console.log(`key:    ${key}`)
console.log(`answer: ${response.status} ${error?.message ?? choices[0].message.content}`)
console.log(`total:  ${requests} requests, ${tokens} tokens`)

await kv.close()
// kv.close() leaves the Redis client and the PostgreSQL pool open, because they belong to the application.
process.exit()
