import { describe, expect, it } from 'vitest'
import { boundOf, bucketOf, histogramOf, quantile } from './histogram.js'

const histogram = (durations: number[]): Map<number, number> => {
  const counts = new Map<number, number>()
  for (const ms of durations) counts.set(bucketOf(ms), (counts.get(bucketOf(ms)) ?? 0) + 1)
  return counts
}

describe('a bucket', () => {
  it('contains durations above the previous bound, up to its own', () => {
    for (const ms of [0, 0.2, 1]) expect(bucketOf(ms)).toBe(0)
    for (let bucket = 1; bucket < 200; bucket++) {
      const high = boundOf(bucket)
      expect(bucketOf(high * (1 - 1e-12))).toBe(bucket)
      expect(bucketOf(high * (1 + 1e-12))).toBe(bucket + 1)
    }
    for (let power = 0; power < 50; power++) expect(bucketOf(2 ** power)).toBe(4 * power)
  })
})

describe('histogramOf', () => {
  it('finds the buckets among other fields', () => {
    const fields = { ms: 900, ms_0: 1, ms_12: 2, first_3: 4, first: 5, requests: 7 }
    expect([...histogramOf(fields, 'ms_')]).toEqual([
      [0, 1],
      [12, 2],
    ])
    expect([...histogramOf(fields, 'first_')]).toEqual([[3, 4]])
    expect(histogramOf({}, 'ms_').size).toBe(0)
  })
})

describe('quantile', () => {
  it('is null without data', () => {
    expect(quantile(new Map(), 0.5)).toBeNull()
    expect(quantile(new Map([[3, 0]]), 0.5)).toBeNull()
  })

  it.each([0, 1, 2, 20, 999, 1e6, 2 ** 52])('is close to a single duration of %d ms', (ms) => {
    for (const q of [0, 0.5, 1]) {
      const found = quantile(histogram([ms]), q)!
      expect(Math.abs(found - ms)).toBeLessThanOrEqual(Math.max(1, ms / 10))
    }
  })

  it('skips empty buckets', () => {
    const counts = new Map([
      [40, 3],
      [4, 0],
    ])
    expect(quantile(counts, 0)).toBe(quantile(counts, 1))
  })

  it('has an error of at most a tenth, for any durations', () => {
    const shapes = [
      () => Math.random() * 3_000,
      () => Math.exp(Math.random() * 14),
      () => 200 + 10 * Math.random(),
      () => (Math.random() < 0.9 ? 5 : 60_000),
      () => Math.floor(Math.random() * 4),
    ]
    for (const shape of shapes)
      for (const count of [1, 2, 7, 100, 5_000]) {
        const durations = Array.from({ length: count }, shape).toSorted((a, b) => a - b)
        const counts = histogram(durations)
        for (const q of [0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1]) {
          const exact = durations[Math.max(Math.ceil(q * count) - 1, 0)]!
          const off = Math.abs(quantile(counts, q)! - exact)
          expect(off, `${q} of ${count}, ${exact} ms`).toBeLessThanOrEqual(Math.max(1, exact / 10))
        }
      }
  })
})
