import type { UsagePart, UsageTotals } from '@turnpike/core'
import { createUser, gatewayKeys, memoryKV, usageLedger } from '@turnpike/core'
import { expect, it } from 'vitest'
import type { Parts } from '../parts.js'
import { usageOperations } from './usage.js'

it('threat 173: counts the keys that a report reads, page by page, though they were revoked and used nothing', async () => {
  const kv = await memoryKV()
  const { id } = await createUser(kv, { email: 'ada@example.org' })
  const keys = gatewayKeys(kv)
  for (let i = 0; i < 501; i++) await keys.revoke((await keys.create(id, { name: 'k' })).id)
  const counted: number[] = []
  let checks = 0
  const parts = {
    kvOf: () => kv,
    keys,
    ledger: usageLedger(kv),
    countRead: (_: string, characters: number) => void counted.push(characters),
    checkRead() {
      if (++checks > 3) throw new Error('The minute is used up')
    },
  } satisfies Partial<Parts>
  const report = () => usageOperations(parts as unknown as Parts).report(id, 'key', new Date(0), new Date())
  expect((await report()).rows).toEqual([])
  expect(counted).toEqual([0, 500 * 768, 768, 0])
  await expect(report()).rejects.toThrow('used up')
  expect(counted).toEqual([0, 500 * 768, 768, 0])
})

it('threat 174: adds parts up as they are read, counts each page of them, and refuses a period of too many', async () => {
  const kv = await memoryKV()
  const { id } = await createUser(kv, { email: 'ada@example.org' })
  let parts = 1_200
  let yielded = 0
  const totals: UsageTotals = {
    requests: 1,
    unpriced: 0,
    prompt_tokens: 2,
    completion_tokens: 1,
    tokens: 3,
    cost_nano_usd: 5,
  }
  async function* partsOf(): AsyncGenerator<UsagePart> {
    for (; yielded < parts; yielded++)
      yield { id: `model-${yielded % 600}`, hour: `2026-01-01-${yielded < 600 ? '09' : '10'}`, totals }
  }
  const counted: number[] = []
  const ledger = { ...usageLedger(kv), parts: partsOf }
  const countRead = (_: string, characters: number) => void counted.push(characters)
  const given = { kvOf: () => kv, ledger, countRead, checkRead: () => undefined } satisfies Partial<Parts>
  const report = () => usageOperations(given as unknown as Parts).report(id, 'model', new Date(0), new Date())

  const { rows, omitted } = await report()
  expect([rows.length, omitted]).toEqual([500, 100])
  expect(rows[0]).toMatchObject({ id: 'model-0', total: { requests: 2, tokens: 6, cost_nano_usd: 10 } })
  expect([...rows[0]!.hours.keys()]).toEqual(['2026-01-01-09', '2026-01-01-10'])
  expect(counted).toEqual([0, 500 * 256, 500 * 256, 200 * 256])

  counted.length = yielded = 0
  parts = Infinity
  await expect(report()).rejects.toMatchObject({
    status: 400,
    message: expect.stringContaining('a shorter one') as string,
  })
  expect(yielded).toBe(199_999)
  expect(counted).toHaveLength(401)
})
