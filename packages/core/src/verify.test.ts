import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../test/support/usage-record.js'
import { gatewayKeys } from './entities/gateway-keys.js'
import { createUser } from './entities/users.js'
import type { Commit, KV } from './kv/kv.js'
import { memoryKV } from './kv/memory-kv.js'
import type { UsageRecord } from './ledger/usage-record.js'
import { usageLedger } from './ledger/usage-ledger.js'
import { verifyStore } from './verify.js'

const problems = async (kv: KV): Promise<string[]> => {
  const all: string[] = []
  for await (const problem of verifyStore(kv)) all.push(problem)
  return all
}

const record = (user_id: string, n: number): UsageRecord =>
  usageRecord({
    request_id: `r${n}`,
    user_id,
    prompt_tokens: n,
    completion_tokens: 1,
    tokens: n + 1,
    cost_nano_usd: n % 2 === 0 ? null : 10 * n,
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
      'totals that are no sums',
      () => ({
        sum: [
          { key: ['usage-total', 'user', 'bob'], add: { cost_rest: 1, requests: -1 } },
          { key: ['usage-hour', 'key', 'key', '2026-01-02-00'], add: { prompt_tokens: 2 } },
        ],
      }),
      () => [
        'requests of usage-total user bob is 1 less than what it sums',
        'cost_rest of usage-total user bob is 1 more than what it sums',
        'prompt_tokens of usage-hour key key 2026-01-02-00 is 2 more than what it sums',
      ],
    ],
    [
      'records without a total',
      () => ({ del: [['usage-total', 'user', 'ada']] }),
      () => [
        'requests of usage-total user ada is 3 less than what it sums',
        'unpriced of usage-total user ada is 2 less than what it sums',
        'prompt_tokens of usage-total user ada is 9 less than what it sums',
        'completion_tokens of usage-total user ada is 3 less than what it sums',
        'cost_rest of usage-total user ada is 30 less than what it sums',
      ],
    ],
    [
      'a total without records',
      () => ({ sum: [{ key: ['usage-total', 'session', 'eve'], add: { requests: 1 } }] }),
      () => ['requests of usage-total session eve is 1 more than what it sums'],
    ],
    [
      'a budget that holds what no hold does',
      () => ({ sum: [{ key: ['budget', 'key', 'k', 'all'], add: { spent: 7, held: 5 } }] }),
      () => ['held of budget key k all is 5 more than what it sums'],
    ],
  ])('finds %s', async (_, change, expected) => {
    const { kv, keyId } = await filled()
    await kv.commit(change(keyId))
    expect((await problems(kv)).toSorted()).toEqual(expected(keyId).toSorted())
  })
})
