import { describe, expect, it, vi } from 'vitest'
import { isUuid, uuidv7 } from './ids.js'

describe('uuidv7', () => {
  it('holds the time, the version and the variant', () => {
    const id = uuidv7(0x0123456789ab)
    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(uuidv7(1)).toMatch(/^00000000-0001-7/)
  })

  it('accepts time 0 in a process that has created no id yet', async () => {
    vi.resetModules()
    const fresh = await import('./ids.js')
    expect(fresh.uuidv7(0)).toMatch(/^00000000-0000-7/)
  })

  it('takes the present time by default', () => {
    const before = Date.now()
    const time = Number.parseInt(uuidv7().replace('-', '').slice(0, 12), 16)
    expect(time).toBeGreaterThanOrEqual(before)
    expect(time).toBeLessThanOrEqual(Date.now())
  })

  it('sorts by time', () => {
    const times = [0, 1, 255, 256, 65_535, 65_536, 1_600_000_000_000, 1_700_000_000_000, 2 ** 48 - 1]
    const ids = times.map((time) => uuidv7(time))
    expect(ids.toSorted()).toEqual(ids)
  })

  it('never repeats, and uses all its random bits', () => {
    const ids = Array.from({ length: 20_000 }, () => uuidv7(1))
    expect(new Set(ids).size).toBe(ids.length)
    const digits = Array.from({ length: 36 }, (_, i) => new Set(ids.map((id) => id[i])))
    const fixed = [...'00000000-0001-7']
    expect(digits.slice(0, 15)).toEqual(fixed.map((digit) => new Set([digit])))
    expect(digits[19]).toEqual(new Set('89ab'))
    for (const [i, seen] of digits.entries())
      if (i > 14 && ![18, 19, 23].includes(i)) expect(seen.size, `digit ${i}`).toBe(16)
  })
})

describe('isUuid', () => {
  it.each(['01234567-89ab-7cde-8f01-234567890abc', '01234567-89AB-4CDE-BF01-234567890ABC'])('accepts %s', (id) =>
    expect(isUuid(id)).toBe(true),
  )
  it.each([
    '',
    '0123456789ab7cde8f01234567890abc',
    '{01234567-89ab-7cde-8f01-234567890abc}',
    ' 01234567-89ab-7cde-8f01-234567890abc',
    '01234567-89ab-7cde-8f01-234567890abc\n',
    '01234567-89ab-7cde-8f01-234567890abg',
    '01234567-89ab-7cde-8f01-234567890abcd',
  ])('refuses %j', (id) => expect(isUuid(id)).toBe(false))
})
