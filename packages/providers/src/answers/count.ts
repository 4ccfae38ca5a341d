/** A count reported by an upstream; undefined if it is not a non-negative integer. */
export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined
