/** Credits as `1,250`, exactly. */
export const credits = (value: number): string => value.toLocaleString('en')

/** The tokens of credits, of which each is a thousand: `1,250K tokens`. */
export const tokensOf = (value: number): string => (value === 0 ? '0 tokens' : `${credits(value)}K tokens`)
