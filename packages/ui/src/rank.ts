/**
 * How well a text fits what is looked for: each word of that is in it, in upper or lower case.
 * @returns undefined where it does not fit; else 0 where the text begins with it, 1 where words of the text begin with its words, 2
 */
export function rank(wanted: string, text: string): number | undefined {
  const lower = text.toLowerCase()
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  if (!words.every((word) => lower.includes(word))) return undefined
  if (lower.startsWith(words.join(' '))) return 0
  const begun = words.every((word) => lower.startsWith(word) || lower.includes(` ${word}`))
  return begun ? 1 : 2
}

/** What fits, the best first and otherwise in its order. @param most how many at most */
export const best = <T>(wanted: string, all: readonly T[], textOf: (one: T) => string, most: number): T[] =>
  all
    .map((one) => ({ one, rank: rank(wanted, textOf(one)) }))
    .filter((one): one is { one: T; rank: number } => one.rank !== undefined)
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ one }) => one)
