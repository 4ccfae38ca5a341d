/** A count that an upstream reports; undefined for anything that is none. */
export const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined

/** No answer of a model has more tokens, and a ledger that adds them up takes no more of one record. */
const MAX_TOKENS = 1e8

/** A count of tokens that an upstream reports; undefined for anything that cannot be one. */
export const tokenCount = (value: unknown): number | undefined => {
  const tokens = count(value)
  return tokens !== undefined && tokens <= MAX_TOKENS ? tokens : undefined
}
