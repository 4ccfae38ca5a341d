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
  expect(counted).toEqual([500 * 768, 768, 0])
  await expect(report()).rejects.toThrow('used up')
  expect(counted).toEqual([500 * 768, 768, 0])
})
