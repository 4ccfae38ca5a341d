import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createUser, usageLedger, verifyStore } from '@turnpike/core'
import { fsKV } from '@turnpike/storage'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { startServer } from '../support/server.js'
import { usageRecord } from '../support/usage-record.js'

const DAY = 86_400_000
let folder = ''
beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'turnpike-usage-days-'))))
afterEach(() => rmSync(folder, { recursive: true }))

it.each([
  [{ USAGE_DAYS: '30' }, [1, 29]],
  [{}, [1, 29, 31, 399]],
  [{ USAGE_DAYS: '0' }, [1, 29, 31, 399, 401]],
])('the server with %o keeps the records of %o days ago, and every sum', async (settings, kept) => {
  const kv = await fsKV(folder)
  const { id } = await createUser(kv, { email: 'ada@example.org' })
  for (const days of [401, 399, 31, 29, 1]) {
    // Groups of records are dated by the clock of the process.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - days * DAY })
    const timestamp = new Date().toISOString()
    await usageLedger(kv).append(usageRecord({ request_id: `${days}`, user_id: id, timestamp }))
    vi.useRealTimers()
  }
  await kv.close()

  const server = await startServer({ STORAGE: `fs:${folder}`, ...settings })
  await server.stop()

  const after = await fsKV(folder)
  const { items } = await usageLedger(after).records(id)
  expect(items.map(({ request_id }) => Number(request_id))).toEqual(kept)
  expect((await usageLedger(after).totals('user', id)).requests).toBe(5)
  const problems = []
  for await (const problem of verifyStore(after)) problems.push(problem)
  expect(problems).toEqual([])
  await after.close()
})
