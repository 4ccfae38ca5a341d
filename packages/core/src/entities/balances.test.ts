import { describe, expect, it } from 'vitest'
import { usageRecord } from '../../../../test/support/usage-record.js'
import { isUuid } from '../helpers/ids.js'
import type { KV } from '../kv/kv.js'
import { memoryKV } from '../kv/memory-kv.js'
import { usageLedger } from '../ledger/usage-ledger.js'
import { listAudit } from './audit.js'
import type { Balance, BalanceChange } from './balances.js'
import { changeBalance, getBalance, tokenLimit } from './balances.js'

/** A store, and how its user `ada` uses tokens and gets credits. */
async function setUp() {
  const kv = await memoryKV()
  const ledger = usageLedger(kv)
  return {
    kv,
    use: (tokens: number) => ledger.append(usageRecord({ prompt_tokens: 1, completion_tokens: tokens - 1, tokens })),
    give: (credits: number) => add(kv, { credit_coins: credits }),
    credits: async (policy?: 'off' | 'report' | 'enforce') => (await getBalance(kv, 'ada', policy)).credit_coins,
  }
}

const add = (kv: KV, amounts: { [part in keyof BalanceChange]: number }): Promise<Balance> =>
  changeBalance(kv, 'ada', (balance) => {
    const sums: BalanceChange = {}
    for (const part of Object.keys(amounts) as (keyof BalanceChange)[]) sums[part] = balance[part] + amounts[part]!
    return sums
  })

describe('the credits of a user', () => {
  it('are taken off when the last of their 1,000 tokens is used', async () => {
    const { use, give, credits } = await setUp()
    await give(5)
    const seen: number[] = []
    for (const tokens of [400, 400, 199, 1, 200, 799, 1]) {
      await use(tokens)
      seen.push(await credits())
    }
    expect(seen).toEqual([5, 5, 5, 4, 4, 4, 3])
  })

  it('carry the remainder: 3 times 400 tokens cost one, and leave 200 for the next', async () => {
    const { use, give, credits } = await setUp()
    await give(2)
    for (let i = 0; i < 3; i++) await use(400)
    expect(await credits()).toBe(1)
    await use(799)
    expect(await credits()).toBe(1)
    await use(1)
    expect(await credits()).toBe(0)
  })

  it('keep the remainder when they are set or added to', async () => {
    const { kv, use, give, credits } = await setUp()
    await give(1)
    await use(400)
    expect((await changeBalance(kv, 'ada', () => ({ credit_coins: 10 }))).credit_coins).toBe(10)
    await use(600)
    expect(await credits()).toBe(9)
    await use(300)
    expect((await give(-4)).credit_coins).toBe(5)
    await use(700)
    expect(await credits()).toBe(4)
  })

  it('do not count what was used before the first change', async () => {
    const { use, give, credits } = await setUp()
    await use(4_400)
    expect(await credits()).toBe(0)
    expect((await give(2)).credit_coins).toBe(2)
    await use(600)
    expect(await credits()).toBe(2)
    await use(400)
    expect(await credits()).toBe(1)
  })

  it('fall below 0 where more is used than was given', async () => {
    const { use, give, credits } = await setUp()
    await give(1)
    await use(1_999)
    expect(await credits()).toBe(0)
    await use(1)
    expect(await credits()).toBe(-1)
    expect((await give(3)).credit_coins).toBe(2)
  })

  it('stay as they were given where the policy is off', async () => {
    const { kv, use, give, credits } = await setUp()
    await give(2)
    await use(1_500)
    expect([await credits('off'), await credits('report'), await credits('enforce'), await credits()]).toEqual([
      2, 1, 1, 1,
    ])
    const changed = await changeBalance(kv, 'ada', (balance) => ({ credit_coins: balance.credit_coins + 3 }), {
      policy: 'off',
    })
    expect(changed.credit_coins).toBe(5)
    expect(await credits('off')).toBe(5)
  })

  it('are the tokens that a user may use', async () => {
    const { kv, use, give } = await setUp()
    await use(300)
    expect(await tokenLimit(kv, 'ada')).toBe(0)
    await give(2)
    expect(await tokenLimit(kv, 'ada')).toBe(2_300)
    await use(700)
    await give(1)
    expect(await tokenLimit(kv, 'ada')).toBe(3_300)
  })
})

describe('a balance', () => {
  it('is empty until it is changed', async () => {
    const { kv } = await setUp()
    expect(await getBalance(kv, 'ada')).toEqual({
      id: null,
      user_id: 'ada',
      credit_coins: 0,
      storage_gb: 0,
      extra_projects: 0,
      extra_agents: 0,
      created_at: null,
      updated_at: null,
    })
  })

  it('has an id and times once it was changed', async () => {
    const { kv } = await setUp()
    const made = await changeBalance(kv, 'ada', () => ({ storage_gb: 5 }), { now: Date.UTC(2026, 0, 2), by: 'root' })
    expect(made).toEqual({
      id: expect.any(String) as string,
      user_id: 'ada',
      credit_coins: 0,
      storage_gb: 5,
      extra_projects: 0,
      extra_agents: 0,
      created_at: '2026-01-02T00:00:00.000Z',
      updated_at: '2026-01-02T00:00:00.000Z',
    })
    expect(isUuid(made.id!)).toBe(true)
    const changed = await changeBalance(kv, 'ada', () => ({ extra_agents: 1 }), { now: Date.UTC(2026, 0, 3) })
    expect(changed).toEqual({ ...made, extra_agents: 1, updated_at: '2026-01-03T00:00:00.000Z' })
    expect(await getBalance(kv, 'ada')).toEqual(changed)
    expect((await listAudit(kv)).items).toMatchObject([{ action: 'balance.update', target: 'ada', actor: 'root' }])
  })

  it('counts each of 50 concurrent changes', async () => {
    const { kv } = await setUp()
    const amounts = { credit_coins: 2, storage_gb: 1, extra_projects: 3, extra_agents: -1 }
    await Promise.all(Array.from({ length: 50 }, () => add(kv, amounts)))
    expect(await getBalance(kv, 'ada')).toMatchObject({
      credit_coins: 100,
      storage_gb: 50,
      extra_projects: 150,
      extra_agents: -50,
    })
  })

  it('is not written by a change of nothing', async () => {
    const { kv, give } = await setUp()
    const empty = await changeBalance(kv, 'ada', () => ({}), { by: 'root' })
    expect(empty.id).toBeNull()
    expect(await kv.get(['balance', 'ada'])).toBeNull()
    const given = await give(1)
    const { version } = (await kv.get(['balance', 'ada']))!
    expect(await changeBalance(kv, 'ada', () => ({}), { by: 'root' })).toEqual(given)
    expect((await kv.get(['balance', 'ada']))!.version).toBe(version)
    expect((await listAudit(kv)).items).toEqual([])
  })

  it('is not changed where the change throws', async () => {
    const { kv, give } = await setUp()
    const given = await give(1)
    const refuse = (): never => {
      throw new RangeError('No')
    }
    await expect(changeBalance(kv, 'ada', refuse)).rejects.toThrow('No')
    expect(await getBalance(kv, 'ada')).toEqual(given)
  })
})
