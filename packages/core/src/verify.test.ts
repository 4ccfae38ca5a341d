import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../test/support/usage-record.js'
import { gatewayKeys } from './entities/gateway-keys.js'
import { createSession } from './entities/sessions.js'
import { deleteUser } from './entities/user-changes.js'
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
  await createUser(kv, { id: 'gone', email: 'gone@example.org' })
  await deleteUser(kv, 'gone')
  const { id: sessionId } = await createSession(kv, 'ada')
  const { id: keyId } = (await gatewayKeys(kv).create('ada', { name: 'first' }))!
  const ledger = usageLedger(kv)
  for (const named of [{}, { in_project: true, in_task: true, in_conversation: true } as const])
    await ledger.append({ ...record('bob', 0), project_id: 'p', task_id: 't', conversation_id: 'c', ...named })
  for (let i = 0; i < 9; i++) await ledger.append(record(i % 3 === 0 ? 'ada' : 'bob', i))
  await ledger.hold(record('ada', 8), [{ of: 'user', id: 'ada', budget: { usd: 1 } }])
  await ledger.hold(record('bob', 8), [{ of: 'user', id: 'bob', tokens: 100_000 }])
  const budget = { of: 'key', id: keyId, budget: { usd: 1 } } as const
  await ledger.append(record('ada', 9), (await ledger.hold(record('ada', 9), [budget]))!)
  return { kv, keyId, sessionId }
}

describe('verifyStore', () => {
  it('reports no problem for what the entities write', async () => {
    const { kv } = await filled()
    await kv.commit({ set: [{ key: ['usage', 'probe'], value: true }] })
    expect(await problems(kv)).toEqual([])
    expect(await problems(await memoryKV())).toEqual([])
  })

  it.each<
    [
      what: string,
      change: (keyId: string, sessionId: string) => Commit,
      expected: (keyId: string, sessionId: string) => string[],
    ]
  >([
    [
      'an e-mail that refers to another user',
      () => ({ set: [{ key: ['email', 'ada@example.org'], value: 'bob' }] }),
      () => ['The e-mail of user bob is not that of its entry', 'User ada is not found by e-mail'],
    ],
    ['a missing e-mail', () => ({ del: [['email', 'bob@example.org']] }), () => ['User bob is not found by e-mail']],
    [
      'a missing user',
      () => ({ del: [['user', 'ada']] }),
      (id, session) => [
        'The e-mail of user ada is not that of its entry',
        '3 users are counted, and 2 live',
        `Key ${id} is of user ada, who is not there`,
        `Session ${session} is of user ada, who is not there`,
      ],
    ],
    [
      'a user under a wrong key',
      () => ({
        del: [['user', 'nobody']],
        set: [{ key: ['user', 'x'], value: { id: 'y', email: null, deleted_at: null } }],
      }),
      () => ['User x has the id y'],
    ],
    [
      'a missing key',
      (id) => ({ del: [['gwkey', id]] }),
      (id) => [
        `A hash leads to key ${id}, which is not there`,
        `User ada is led to key ${id}, which is not theirs`,
        '1 keys of user ada are counted, and 0 are there',
      ],
    ],
    [
      'a key without a hash',
      (id) => ({
        set: [
          { key: ['gwkey', 'x'], value: { id: 'x', user_id: 'ada' } },
          { key: ['user-gwkeys', 'ada', 'x'], value: id },
        ],
      }),
      () => ['Key x is not found by its hash', '1 keys of user ada are counted, and 2 are there'],
    ],
    [
      'a key in the list of another user',
      (id) => ({ set: [{ key: ['user-gwkeys', 'bob', id], value: true }] }),
      (id) => [`User bob is led to key ${id}, which is not theirs`],
    ],
    [
      'a session that is missing from the list of its user',
      (_, id) => ({ del: [['user-sessions', 'ada', id]] }),
      (_, id) => [`Session ${id} is not found by its user`],
    ],
    [
      'a missing session',
      (_, id) => ({ del: [['session', id]] }),
      (_, id) => [
        `User ada is led to session ${id}, which is not theirs`,
        '1 sessions of user ada are counted, and 0 are there',
      ],
    ],
    // As in a store of an earlier version.
    ['nothing of users whose keys and sessions are not counted', () => ({ del: [['owned', 'ada']] }), () => []],
    [
      'a wrong number of users',
      () => ({ sum: [{ key: ['user-count'], add: { users: -1 } }] }),
      () => ['2 users are counted, and 3 live'],
    ],
    [
      'a deleted user whose e-mail is missing',
      () => ({ del: [['email', 'gone@example.org']] }),
      () => ['User gone is not found by e-mail'],
    ],
    [
      'a key that is missing from the list of its user',
      (id) => ({ del: [['user-gwkeys', 'ada', id]] }),
      (id) => [`Key ${id} is not found by its user`],
    ],
    [
      'totals that differ from the sums of their records',
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
        'requests of usage-total user ada is 4 less than what it sums',
        'unpriced of usage-total user ada is 2 less than what it sums',
        'prompt_tokens of usage-total user ada is 18 less than what it sums',
        'completion_tokens of usage-total user ada is 4 less than what it sums',
        'cost_rest of usage-total user ada is 120 less than what it sums',
      ],
    ],
    [
      'a total without records',
      () => ({ sum: [{ key: ['usage-total', 'session', 'eve'], add: { requests: 1 } }] }),
      () => ['requests of usage-total session eve is 1 more than what it sums'],
    ],
    [
      'wrong totals of projects, tasks and conversations',
      () => ({
        del: [['usage-total', 'conversation', 'c']],
        sum: [
          { key: ['usage-total', 'project', 'p'], add: { requests: 1 } },
          { key: ['usage-total', 'task', 't'], add: { completion_tokens: -1 } },
          { key: ['usage-total', 'task', 'u'], add: { cost_rest: 3 } },
        ],
      }),
      () => [
        'requests of usage-total project p is 1 more than what it sums',
        'completion_tokens of usage-total task t is 1 less than what it sums',
        'cost_rest of usage-total task u is 3 more than what it sums',
        'requests of usage-total conversation c is 1 less than what it sums',
        'unpriced of usage-total conversation c is 1 less than what it sums',
        'completion_tokens of usage-total conversation c is 1 less than what it sums',
      ],
    ],
    [
      'a budget that holds an amount without a hold',
      () => ({ sum: [{ key: ['budget', 'key', 'k', 'all'], add: { spent_rest: 7, held_rest: 5 } }] }),
      () => ['held_rest of budget key k all is 5 more than what it sums'],
    ],
    [
      'tokens that are held without a hold, or too few of them',
      () => ({
        sum: [
          { key: ['usage-total', 'user', 'ada'], add: { held_tokens: 5 } },
          { key: ['usage-total', 'user', 'bob'], add: { held_tokens: -2 } },
        ],
      }),
      () => [
        'held_tokens of usage-total user ada is 5 more than what it sums',
        'held_tokens of usage-total user bob is 2 less than what it sums',
      ],
    ],
  ])('reports %s', async (_, change, expected) => {
    const { kv, keyId, sessionId } = await filled()
    await kv.commit(change(keyId, sessionId))
    expect((await problems(kv)).toSorted()).toEqual(expected(keyId, sessionId).toSorted())
  })
})
