import type { BudgetOf, KV, UsageRecord } from '@turnpike/core'
import { createSession, createUser, gatewayKeys, getSession, toUsd, usageLedger, verifyStore } from '@turnpike/core'
import { lastUsed } from '@turnpike/core/internal'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { needs } from '../support/needs.js'
import { randomOf } from '../support/random.js'
import { endEngines, engines } from '../support/engines.js'
import { sample, thorough } from '../support/scope.js'
import { killStores, startStore } from '../support/store-process.js'
import { totalsOfRecords, usageRecord } from '../support/usage-record.js'

/** The usage ledger on every engine, written by two processes at once if the engine allows it. */

const RECORDS = thorough ? 2_000 : 1_000
const CLIENTS = 64
const USERS = ['ada', 'bob', 'cleo/odd']
const KEYS = 4
const SESSIONS = 5
const PROJECTS = ['p1', 'p2', 'p3']
const TASKS = ['t1', 't2', 't3', 't4']

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1e9)

afterEach(killStores)
afterAll(endEngines)

describe.each(sample(engines))('the usage ledger on $name', ({ name, single, needed, create }) => {
  it('is exact, and leaves no hold', { ...needs(...needed), timeout: 120_000 }, async () => {
    const random = randomOf(seed)
    const among = <T>(items: T[]): T => items[Math.floor(random() * items.length)]!
    const url = await create()
    const kv = await startStore(url).opened
    const stores: KV[] = [kv, single ? kv : await startStore(url).opened]
    const ledgers = stores.map((store) => usageLedger(store))

    for (const id of USERS) await createUser(kv, { id })
    const keys = await Promise.all(
      Array.from({ length: KEYS }, (_, i) => gatewayKeys(kv).create(USERS[i % 3]!, { name: String(i) })),
    )
    const sessions = await Promise.all(Array.from({ length: SESSIONS }, (_, i) => createSession(kv, USERS[i % 3]!)))
    // One that takes all, and one that takes some.
    const budgets: BudgetOf[] = [
      { of: 'user', id: USERS[2]!, budget: { usd: 1_000, per: 'month' } },
      { of: 'key', id: keys[0]!.id, budget: { usd: 0.001 } },
    ]

    const recorded: UsageRecord[] = []
    let [refused, left, spentOfKey] = [0, 0, 0]
    const request = async (i: number): Promise<void> => {
      const ledger = ledgers[i % 2]!
      const key = among(keys)!
      const session = among([undefined, ...sessions.filter(({ user_id }) => user_id === key.user_id)])
      const [prompt_tokens, completion_tokens] = [Math.floor(random() * 5_000), Math.floor(random() * 900)]
      const estimated = Math.floor(random() * 30_000)
      const record = usageRecord({
        request_id: String(i),
        user_id: key.user_id,
        key_id: key.id,
        session_id: session?.id ?? '',
        in_session: session !== undefined,
        project_id: among(PROJECTS),
        task_id: among(TASKS),
        conversation_id: among(PROJECTS),
        ...(random() < 0.5 && { in_project: true }),
        ...(random() < 0.5 && { in_task: true }),
        ...(random() < 0.5 && { in_conversation: true }),
        provider: among(['openai', 'google']),
        prompt_tokens,
        completion_tokens,
        tokens: prompt_tokens + completion_tokens,
        cost_nano_usd: random() < 0.05 ? null : Math.floor(random() * estimated),
        timestamp: new Date(Date.UTC(2026, 0, 2, 0, 0, 0, i * 3)).toISOString(),
      })
      const wanted = budgets.filter(({ id }) => id === key.id || id === key.user_id)
      if (wanted.length === 0 && random() < 0.8) {
        await ledger.append(record)
        recorded.push(record)
        return
      }
      const estimate: UsageRecord = { ...record, accuracy: 'estimated', cost_nano_usd: estimated }
      const hold = await ledger.hold(estimate, wanted)
      if (!hold) {
        refused++
        return
      }
      const end = random()
      let made = record
      if (end < 0.1) return ledger.drop(hold)
      if (end < 0.2) {
        left++
        made = estimate
      } else await ledger.append(record, hold)
      recorded.push(made)
      if (key === keys[0]) spentOfKey += made.cost_nano_usd ?? estimated
    }

    const began = performance.now()
    let next = 0
    await Promise.all(
      Array.from({ length: CLIENTS }, async () => {
        while (next < RECORDS) await request(next++)
      }),
    )
    const seconds = (performance.now() - began) / 1_000
    const swept = await Promise.all(ledgers.map((ledger) => ledger.sweep(0)))
    expect(swept[0]! + swept[1]!).toBe(left)
    expect(refused).toBeGreaterThan(0)

    const problems: string[] = []
    for await (const problem of verifyStore(kv)) problems.push(problem)
    expect(problems, `seed ${seed}`).toEqual([])
    const ledger = ledgers[1]!
    expect(await ledger.totals('all', '')).toEqual(totalsOfRecords(recorded))
    for (const provider of ['openai', 'google'])
      expect(await ledger.totals('provider', provider)).toEqual(
        totalsOfRecords(recorded.filter((r) => r.provider === provider)),
      )
    for (const user of USERS) {
      const theirs = recorded.filter(({ user_id }) => user_id === user)
      expect(await ledger.totals('user', user)).toEqual(totalsOfRecords(theirs))
      const read: UsageRecord[] = []
      for (let after: string | undefined, more = true; more;) {
        const page = await ledger.records(user, { limit: 77, ...(after !== undefined && { after }) })
        read.push(...page.items)
        after = page.next
        more = after !== undefined
      }
      const byId = (a: UsageRecord, b: UsageRecord): number => Number(a.request_id) - Number(b.request_id)
      expect(read.toSorted(byId)).toEqual(theirs.toSorted(byId))
    }
    for (const key of keys)
      expect(await ledger.totals('key', key!.id)).toEqual(totalsOfRecords(recorded.filter((r) => r.key_id === key!.id)))
    const counted = (isIn: (r: UsageRecord) => boolean | undefined) => totalsOfRecords(recorded.filter((r) => isIn(r)))
    for (const id of PROJECTS) {
      const inProject = counted((r) => r.in_project && r.project_id === id)
      expect(await ledger.totals('project', id)).toEqual(inProject)
      const inConversation = counted((r) => r.in_conversation && r.conversation_id === id)
      expect(await ledger.totals('conversation', id)).toEqual(inConversation)
    }
    for (const id of TASKS)
      expect(await ledger.totals('task', id)).toEqual(counted((r) => r.in_task && r.task_id === id))
    for (const { id } of sessions) {
      const { requests, tokens, cost_nano_usd } = totalsOfRecords(
        recorded.filter(({ session_id }) => session_id === id),
      )
      expect(await getSession(kv, id)).toMatchObject({
        request_count: requests,
        total_tokens: tokens,
        cost_usd: toUsd(cost_nano_usd),
      })
    }
    expect(await lastUsed(kv, 'key', [keys[1]!.id])).not.toEqual([null])
    expect(await ledger.used(budgets[1]!)).toEqual({ spent: spentOfKey, held: 0 })
    expect(spentOfKey).toBeLessThanOrEqual(1e6)
    console.log(
      `${name}, seed ${seed}: ${Math.round(recorded.length / seconds)} records/s, ${refused} refused, ${left} swept`,
    )
  })

  it('is exact with holds, and with concurrent sweeps', needs(...needed), async () => {
    const url = await create()
    const kv = await startStore(url).opened
    const stores: KV[] = [kv, single ? kv : await startStore(url).opened]
    const ledgers = stores.map((store) => usageLedger(store))
    await createUser(kv, { id: 'ada' })
    const estimate = usageRecord({ accuracy: 'estimated', cost_nano_usd: 25_000 })
    let swept = 0
    for (let round = 1; round <= 3; round++) {
      const budget: BudgetOf = { of: 'key', id: `k${round}`, budget: { usd: 0.001 } }
      const wanted = await Promise.all(Array.from({ length: 100 }, (_, i) => ledgers[i % 2]!.hold(estimate, [budget])))
      const holds = wanted.filter((hold) => hold !== null)
      expect(holds).toHaveLength(40)
      const sweeps = Promise.all(ledgers.map((ledger) => ledger.sweep(0)))
      // Some end in flushes with others, some by themselves, some not at all.
      for (const [i, hold] of holds.entries())
        if (i % 4 < 2) void ledgers[0]!.append(usageRecord({ cost_nano_usd: 0 }), hold)
        else if (i % 4 === 2) await ledgers[0]!.append(usageRecord({ cost_nano_usd: 0 }), hold)
      swept += (await sweeps).reduce((a, b) => a + b)
      expect(swept).toBeGreaterThanOrEqual(10 * round)
      await ledgers[0]!.append(usageRecord({ cost_nano_usd: 0 }))
      expect(await ledgers[1]!.totals('user', 'ada')).toMatchObject({
        requests: 41 * round,
        // The record of a request that ended replaces the estimate of a sweep.
        cost_nano_usd: 10 * round * 25_000,
      })
      for await (const problem of verifyStore(kv)) throw new Error(problem)
    }
  })
})
