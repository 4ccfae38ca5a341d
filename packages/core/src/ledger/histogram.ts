/** Buckets per doubling of the duration. With four, the middle of a bucket differs from the durations in it by at most a tenth. */
const PER_DOUBLE = 4

/** The upper bound of a bucket, in milliseconds. */
export const boundOf = (bucket: number): number => 2 ** (bucket / PER_DOUBLE)

/** The bucket of a duration in milliseconds; bucket 0 contains all durations up to 1 ms. */
export const bucketOf = (ms: number): number => (ms <= 1 ? 0 : Math.ceil(Math.log2(ms) * PER_DOUBLE))

/** The number of durations in each bucket. */
export type Histogram = ReadonlyMap<number, number>

/** Reads a histogram from the fields of a counter: one field per bucket, named `prefix` and the bucket. */
export function histogramOf(fields: Record<string, number>, prefix: string): Histogram {
  const buckets = new Map<number, number>()
  for (const [name, count] of Object.entries(fields))
    if (name.startsWith(prefix)) buckets.set(Number(name.slice(prefix.length)), count)
  return buckets
}

/**
 * Estimates the `q` quantile in milliseconds, `q` from 0 to 1: the error is at most a tenth, or a millisecond below 1 ms.
 * Null if the histogram is empty.
 */
export function quantile(histogram: Histogram, q: number): number | null {
  let total = 0
  for (const count of histogram.values()) total += count
  let seen = 0
  for (const [bucket, count] of [...histogram].toSorted(([a], [b]) => a - b)) {
    seen += count
    if (count > 0 && seen >= q * total) return boundOf(bucket - 0.5)
  }
  return null
}
