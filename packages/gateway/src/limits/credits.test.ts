import type { BalancePolicy } from '@turnpike/core'
import { changeBalance, getBalance, memoryKV, usageLedger } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { TestOptions } from '../../../../test/support/gateway.js'
import { chunk, completion, COST, errorOf, OWNER, streamed, withKey } from '../../../../test/support/gateway.js'

/** A gateway whose user has so many credits, and whose upstream reports 1,000 tokens for each request. */
async function setUp(credits: number, options: TestOptions = {}, input: Parameters<typeof withKey>[0] = {}) {
  const at = await withKey(input, {
    balancePolicy: 'enforce',
    upstream: () => completion({ usage: { prompt_tokens: 400, completion_tokens: 600, total_tokens: 1_000 } }),
    ...options,
  })
  if (credits !== 0) await changeBalance(at.kv, OWNER, () => ({ credit_coins: credits }))
  const left = async () => (await getBalance(at.kv, OWNER)).credit_coins
  const held = async () => (await at.gateway.ledger.used({ of: 'user', id: OWNER, tokens: 0 })).held
  return { ...at, left, held }
}

const insufficient = {
  type: 'permission_error',
  code: 'insufficient_credits',
  message: 'The credits are used up, or held by requests that are running',
}

describe('enforced credits', () => {
  it('refuse a user who has none, before the upstream is called', async () => {
    const { ask, upstream, records, holds, problems } = await setUp(0)
    for (const fields of [{}, { stream: true }]) {
      const refused = await ask(fields)
      expect([refused.status, await errorOf(refused)]).toEqual([403, insufficient])
    }
    expect(upstream.requests).toEqual([])
    expect([await records(), await holds(), await problems()]).toEqual([[], [], []])
  })

  it('admit requests until they are used up, and again when more are given', async () => {
    const { ask, kv, left, held, upstream, problems } = await setUp(2)
    const statuses: number[] = []
    for (let i = 0; i < 4; i++) statuses.push((await ask({ max_tokens: 2 })).status)
    expect(statuses).toEqual([200, 200, 403, 403])
    expect(await left()).toBe(0)
    await changeBalance(kv, OWNER, ({ credit_coins }) => ({ credit_coins: credit_coins + 1 }))
    expect((await ask({ max_tokens: 2 })).status).toBe(200)
    expect(upstream.requests).toHaveLength(3)
    expect([await left(), await held(), await problems()]).toEqual([0, 0, []])
  })

  it('are those of the user, whichever key is used', async () => {
    const { ask, chat } = await setUp(1)
    expect((await chat({ max_tokens: 2 })).status).toBe(200)
    expect((await ask({ max_tokens: 2 })).status).toBe(403)
  })

  it('admit one of 50 parallel requests that are each expected to use the last one', async () => {
    const { ask, left, held, upstream, problems } = await setUp(1)
    const responses = await Promise.all(Array.from({ length: 50 }, () => ask()))
    const refused = responses.filter(({ status }) => status === 403)
    expect([refused.length, upstream.requests.length]).toEqual([49, 1])
    for (const response of refused) expect(await errorOf(response)).toEqual(insufficient)
    expect([await left(), await held(), await problems()]).toEqual([0, 0, []])
  })

  it('are exceeded by no more than what was running, where requests use more than was expected', async () => {
    // Each may use 39 + 280 tokens, so that 4 are admitted at once, and uses 1,000.
    const { ask, left, upstream, problems } = await setUp(1)
    const responses = await Promise.all(Array.from({ length: 50 }, () => ask({ max_tokens: 280 })))
    expect(responses.filter(({ status }) => status === 200)).toHaveLength(4)
    expect(upstream.requests).toHaveLength(4)
    expect([await left(), await problems()]).toEqual([-3, []])
    expect((await ask({ max_tokens: 1 })).status).toBe(403)
  })

  it('are held while a stream runs, and charged its tokens', async () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    const usage = { prompt_tokens: 9, completion_tokens: 991, total_tokens: 1_000 }
    const { ask, left, held } = await setUp(1, {
      upstream: () => streamed(chunk('Hello'), gate, chunk('', 'stop'), { ...chunk(''), choices: [], usage }),
    })
    const running = await ask({ stream: true, max_tokens: 2_000 })
    expect(running.status).toBe(200)
    expect(await held()).toBe(2_047)
    const refused = await ask({ stream: true })
    expect([refused.status, await errorOf(refused)]).toEqual([403, insufficient])
    open()
    await running.text()
    expect([await left(), await held()]).toEqual([0, 0])
  })

  it('are released by a request that fails', async () => {
    const { ask, left, held, problems } = await setUp(1, { upstream: () => ({ status: 500, headers: {}, body: '{}' }) })
    for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(502)
    expect([await left(), await held(), await problems()]).toEqual([1, 0, []])
  })

  it('allow models without a price', async () => {
    const { ask, left } = await setUp(1)
    expect((await ask({ model: 'gpt-unheard-of', max_tokens: 1 })).status).toBe(200)
    expect(await left()).toBe(0)
  })
})

describe('credits and a budget', () => {
  it('have errors of their own', async () => {
    const budget = { usd: (1.5 * COST) / 1e9 }
    const poor = await setUp(0, {}, { budget })
    expect(await errorOf(await poor.ask({ max_tokens: 2 }))).toEqual(insufficient)
    const rich = await setUp(5, {}, { budget })
    const over = await rich.ask({ max_tokens: 100 })
    expect([over.status, await errorOf(over)]).toMatchObject([403, { code: 'budget_exceeded' }])
    expect(await rich.held()).toBe(0)
    expect((await rich.ask({ max_tokens: 2 })).status).toBe(200)
    expect([await rich.left(), await rich.problems()]).toEqual([4, []])
  })

  it('refuse models without a price, because of the budget', async () => {
    const { ask } = await setUp(5, {}, { budget: { usd: 1 } })
    expect(await errorOf(await ask({ model: 'gpt-unheard-of' }))).toMatchObject({ code: 'forbidden' })
  })

  it('name the credits, also where what held them ended in the meantime', async () => {
    const kv = await memoryKV()
    const ledger = { ...usageLedger(kv), hold: () => Promise.resolve(null) }
    const { ask } = await setUp(1, { kv, ledger })
    expect(await errorOf(await ask())).toEqual(insufficient)
  })
})

describe.each<BalancePolicy | undefined>(['off', 'report', undefined])('with the policy %s', (balancePolicy) => {
  it('nothing is refused, held or read', async () => {
    const { ask, kv, left, upstream } = await setUp(1, { balancePolicy: balancePolicy! })
    const read: string[] = []
    const { get, getMany, commit } = kv
    kv.get = (key) => (read.push(key[0]!), get(key))
    kv.getMany = (keys) => (read.push(...keys.map((key) => key[0]!)), getMany(keys))
    kv.commit = (change) => (read.push(...(change.set ?? []).map(({ key }) => key[0]!)), commit(change))
    for (let i = 0; i < 3; i++) expect((await ask()).status).toBe(200)
    expect(upstream.requests).toHaveLength(3)
    expect(read.filter((name) => ['balance', 'usage-total', 'hold'].includes(name))).toEqual([])
    expect(await left()).toBe(-2)
  })
})
