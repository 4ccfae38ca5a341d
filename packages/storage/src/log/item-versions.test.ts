import { expect, it } from 'vitest'
import { mapDriver, set } from '../../../../test/support/map-driver.js'
import { openKV } from '../open-kv.js'

it('does not reuse a version where the last delete was merged away while a write failed', async () => {
  const { driver, faults } = mapDriver()
  const first = await openKV(driver, { mergeAfter: 0 })
  await first.commit(set('a'))
  const { version } = (await first.get(['a']))!
  await first.commit({ del: [['a']] })
  await new Promise((resolve) => setTimeout(resolve, 20))
  let failures = 0
  faults.setItem = (key) => {
    // Fails the write of the group, and not that of the concurrent merge.
    const [, from, to] = /^kv:(\d+)-(\d+)/.exec(key) ?? []
    if (from === to && failures++ === 0) throw new Error('disk full')
  }
  await expect(first.commit({ del: [['x']] })).rejects.toThrow()
  await first.close()
  const second = await openKV(driver)
  await second.commit(set('a', 'new'))
  expect(Number((await second.get(['a']))!.version)).toBeGreaterThan(Number(version) + 1)
})
