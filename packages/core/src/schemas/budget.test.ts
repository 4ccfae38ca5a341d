import { describe, expect, it } from 'vitest'
import { gatewayKeys } from '../entities/gateway-keys.js'
import { updateUser } from '../entities/user-changes.js'
import { createUser, getUser } from '../entities/users.js'
import { memoryKV } from '../kv/memory-kv.js'
import type { Budget } from '../ledger/holds.js'

describe('a budget that code gives', () => {
  it.each([
    {},
    { usd: -1 },
    { usd: '5' },
    { usd: Number.NaN },
    { usd: 1_000_001 },
    { per: 'week' },
    { usd: 5, per: 'week' },
    { usd: 5, per: null },
    { usd: 5, period: 'day' },
    null,
    5,
  ])('%j is a TypeError, and is not stored', async (given) => {
    const kv = await memoryKV()
    const keys = gatewayKeys(kv)
    const budget = given as Budget
    const ada = await createUser(kv, { id: 'ada', budget: { usd: 0.01, per: 'month' } })
    for (const made of [
      createUser(kv, { id: 'bob', budget }),
      // Null takes a budget away.
      ...(budget ? [updateUser(kv, 'ada', { budget }), keys.create('ada', { name: 'x', budget })] : []),
    ])
      await expect(made).rejects.toThrow(TypeError)
    expect([await getUser(kv, 'ada'), await getUser(kv, 'bob')]).toEqual([ada, null])
    expect((await keys.list('ada')).items).toEqual([])
  })
})
