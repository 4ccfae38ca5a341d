import { describe, expect, it } from 'vitest'
import {
  ends,
  estimated,
  losing,
  lost,
  makes,
  nano,
  ofKey,
  outcomes,
  twoLedgers,
} from '../../../../test/support/two-ledgers.js'
import { StorageError } from '../errors.js'
import type { Commit } from '../kv/kv.js'

const DAY = 86_400_000

describe('a hold delayed by conflicts with other processes', () => {
  it('does not delay records, and is made together with later ones', async () => {
    let busy = true
    let tries = 0
    const commits: Commit[] = []
    const { first, keysBelow, expectClean } = await twoLedgers(async (commit, kv) => {
      if (busy && makes(commit)) return tries++ < 0
      commits.push(commit)
      return kv.commit(commit)
    })
    const early = first.hold(nano(5), [ofKey(1e-8)])
    await first.append(nano(1))
    await first.append(nano(1))
    expect(tries).toBeGreaterThan(0)
    const late = [1, 2].map(() => first.hold(nano(5), [ofKey(1e-8)]))
    await first.append(nano(1))
    commits.splice(0)
    busy = false
    expect((await Promise.all([early, ...late])).map((hold) => hold !== null)).toEqual([true, true, false])
    expect(commits).toHaveLength(1)
    expect(await keysBelow('hold')).toHaveLength(2)
    await expectClean()
  })
})

describe('a commit of unknown outcome', () => {
  it.each(outcomes)('of a hold leaves no hold: %s', async (outcome) => {
    const losses = losing(makes, outcome)
    const { clock, first, used, keysBelow, expectClean } = await twoLedgers(losses.fault)
    await expect(first.hold(nano(5), [ofKey(1)])).rejects.toMatchObject({ code: 'ledger_unavailable' })
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    if (losses.late) expect(await losses.late()).toBe(false)
    expect(await keysBelow('hold')).toEqual([])
    expect(await used('key', 'k', 'all')).toEqual({ spent: 0, held: 0 })
    clock.now += DAY
    expect(await first.sweep(0)).toBe(0)
    await expectClean()
  })

  it.each(outcomes)('of the end of a hold takes effect once: %s', async (outcome) => {
    for (const end of ['append', 'drop'] as const) {
      const losses = losing(ends, outcome)
      const { first, used, keysBelow, expectClean } = await twoLedgers(losses.fault)
      const hold = (await first.hold(nano(500), [ofKey(1)]))!
      await (end === 'append' ? first.append(nano(300), hold) : first.drop(hold))
      if (losses.late) expect(await losses.late()).toBe(false)
      expect(await used('key', 'k', 'all')).toEqual({ spent: end === 'append' ? 300 : 0, held: 0 })
      expect((await first.records('ada')).items).toHaveLength(end === 'append' ? 1 : 0)
      expect(await keysBelow('hold')).toEqual([])
      expect(await first.sweep(0)).toBe(0)
      await expectClean()
    }
  })

  it('that is not applied in three tries leaves the hold to a sweep', async () => {
    let broken = false
    const { clock, first, second, used, expectClean } = await twoLedgers((commit, kv) =>
      broken && ends(commit) ? Promise.reject(lost) : kv.commit(commit),
    )
    const holds = await Promise.all([1, 2].map(() => first.hold(estimated(500), [ofKey(1)])))
    broken = true
    await expect(first.append(nano(300), holds[0]!)).rejects.toMatchObject({ code: 'ledger_unavailable' })
    await expect(first.drop(holds[1]!)).rejects.toBe(lost)
    clock.now += 1
    expect(await second.sweep(0)).toBe(2)
    expect(await used('key', 'k', 'all')).toEqual({ spent: 1_000, held: 0 })
    expect((await second.records('ada')).items.map(({ accuracy }) => accuracy)).toEqual(['estimated', 'estimated'])
    await expectClean()
  })

  it('deletes nothing if nothing can have been created', async () => {
    const refused = new StorageError('Refused', 'none')
    const { first, keysBelow } = await twoLedgers((commit, kv) =>
      makes(commit) ? Promise.reject(refused) : kv.commit(commit),
    )
    await expect(first.hold(nano(5), [])).rejects.toMatchObject({ cause: refused })
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    expect(await keysBelow('hold-end')).toEqual([])
  })
})
