/** Four buckets between a number and its double, so that the middle of one is at most a tenth off what it counts. */
const PER_DOUBLE = 4

/** Upper bound of a bucket, in milliseconds. */
export const boundOf = (bucket: number): number => 2 ** (bucket / PER_DOUBLE)

/** The bucket that a duration in milliseconds falls into; 0 holds all up to 1 ms. */
export const bucketOf = (ms: number): number => (ms <= 1 ? 0 : Math.ceil(Math.log2(ms) * PER_DOUBLE))

/** Durations counted by bucket. */
export type Histogram = ReadonlyMap<number, number>

/** The buckets among the fields of a counter, which begin with `prefix`. */
export function histogramOf(fields: Record<string, number>, prefix: string): Histogram {
  const buckets = new Map<number, number>()
  for (const [name, count] of Object.entries(fields))
    if (name.startsWith(prefix)) buckets.set(Number(name.slice(prefix.length)), count)
  return buckets
}

/**
 * The duration in milliseconds that a share `q` of all does not exceed, from 0 to 1: at most a tenth off, or a millisecond below 1 ms.
 * Null where there is none.
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
