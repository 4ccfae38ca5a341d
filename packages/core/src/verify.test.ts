import { describe, expect, it } from 'vitest'
import { gatewayKeys } from './entities/gateway-keys.js'
import { createUser } from './entities/users.js'
import type { Commit, KV } from './kv/kv.js'
import { memoryKV } from './kv/memory-kv.js'
import type { UsageRecord } from './usage-ledger.js'
import { usageLedger } from './usage-ledger.js'
import { verifyStore } from './verify.js'

const problems = async (kv: KV): Promise<string[]> => {
  const all: string[] = []
  for await (const problem of verifyStore(kv)) all.push(problem)
  return all
}

const record = (user_id: string, n: number): UsageRecord => ({
  request_id: `r${n}`,
  user_id,
  key_id: 'k',
  session_id: '',
  conversation_id: '',
  task_id: '',
  project_id: '',
  task: 'chat',
  model: 'm',
  provider: 'p',
  attempts: 1,
  prompt_tokens: n,
  completion_tokens: 1,
  tokens: n + 1,
  accuracy: 'reported',
  units: {},
  rates: {},
  catalogue: '',
  cost_nano_usd: n % 2 === 0 ? null : 10 * n,
  outcome: 'complete',
  timestamp: '2026-01-01T00:00:00.000Z',
})

async function filled() {
  const kv = await memoryKV()
  for (const id of ['ada', 'bob']) await createUser(kv, { id, email: `${id}@Example.org` })
  await createUser(kv, { id: 'nobody' })
  const { id: keyId } = (await gatewayKeys(kv).create('ada', { name: 'first' }))!
  const ledger = usageLedger(kv)
  for (let i = 0; i < 9; i++) await ledger.append(record(i % 3 === 0 ? 'ada' : 'bob', i))
  return { kv, keyId }
}

describe('verifyStore', () => {
  it('finds nothing wrong with what the entities write', async () => {
    const { kv } = await filled()
    await kv.commit({ set: [{ key: ['usage', 'probe'], value: true }] })
    expect(await problems(kv)).toEqual([])
    expect(await problems(await memoryKV())).toEqual([])
  })

  it.each<[what: string, change: (keyId: string) => Commit, expected: (keyId: string) => string[]]>([
    [
      'an e-mail that leads elsewhere',
      () => ({ set: [{ key: ['email', 'ada@example.org'], value: 'bob' }] }),
      () => ['The e-mail of user bob is not that of its entry', 'User ada is not found by e-mail'],
    ],
    ['a lost e-mail', () => ({ del: [['email', 'bob@example.org']] }), () => ['User bob is not found by e-mail']],
    [
      'a lost user',
      () => ({ del: [['user', 'ada']] }),
      (id) => ['The e-mail of user ada is not that of its entry', `Key ${id} is of user ada, who is not there`],
    ],
    [
      'a user at a wrong key',
      () => ({ del: [['user', 'nobody']], set: [{ key: ['user', 'x'], value: { id: 'y', email: null } }] }),
      () => ['User x has the id y'],
    ],
    ['a lost key', (id) => ({ del: [['gwkey', id]] }), (id) => [`A hash leads to key ${id}, which is not there`]],
    [
      'a key that its user does not find',
      (id) => ({ del: [['user-gwkeys', 'ada', id]] }),
      (id) => [`Key ${id} is not found by its user`],
    ],
    [
      'a total that is no sum',
      () => ({ sum: [{ key: ['usage-total', 'bob'], add: { cost_nano_usd: 1, requests: -1 } }] }),
      () => [
        'The total of requests of user bob is 5, its records add up to 6',
        'The total of cost_nano_usd of user bob is 131, its records add up to 130',
      ],
    ],
    [
      'records without a total',
      () => ({ del: [['usage-total', 'ada']] }),
      () => [
        'The total of requests of user ada is 0, its records add up to 3',
        'The total of prompt_tokens of user ada is 0, its records add up to 9',
        'The total of completion_tokens of user ada is 0, its records add up to 3',
        'The total of cost_nano_usd of user ada is 0, its records add up to 30',
      ],
    ],
    [
      'a total without records',
      () => ({ sum: [{ key: ['usage-total', 'eve'], add: { requests: 1 } }] }),
      () => ['User eve has totals and no records'],
    ],
  ])('finds %s', async (_, change, expected) => {
    const { kv, keyId } = await filled()
    await kv.commit(change(keyId))
    expect(await problems(kv)).toEqual(expected(keyId))
  })
})
