/** Credits as `1,250`, exactly. */
export const credits = (value: number): string => value.toLocaleString('en')

/** The tokens of credits, of which each is a thousand: `1,250,000 tokens`. */
export const tokensOf = (value: number): string => `${credits(value * 1_000)} tokens`

/** Bytes of the gigabytes that plans and balances count in. */
export const BYTES_PER_GB = 1e9
