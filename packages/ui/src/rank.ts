/**
 * How well something fits what is looked for: each word of that is in its name or detail, in upper or lower case.
 * @returns undefined where it does not fit; else 0 where it is the name, 1 where the name begins with it, 2 where words begin with its words, 3
 */
export function rank(wanted: string, name: string, detail = ''): number | undefined {
  const lower = `${name} ${detail}`.toLowerCase()
  const words = wanted.toLowerCase().split(/\s+/).filter(Boolean)
  const phrase = words.join(' ')
  if (!words.every((word) => lower.includes(word))) return undefined
  if (name.toLowerCase() === phrase) return 0
  if (lower.startsWith(phrase)) return 1
  const begun = words.every((word) => lower.startsWith(word) || lower.includes(` ${word}`))
  return begun ? 2 : 3
}

/** What fits, the best first and otherwise in its order. @param most how many at most */
export const best = <T extends { name: string; detail?: string }>(
  wanted: string,
  all: readonly T[],
  most: number,
): T[] =>
  all
    .map((one) => ({ one, rank: rank(wanted, one.name, one.detail) }))
    .filter((one): one is { one: T; rank: number } => one.rank !== undefined)
    .toSorted((a, b) => a.rank - b.rank)
    .slice(0, most)
    .map(({ one }) => one)
