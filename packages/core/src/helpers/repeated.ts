import { nextTurn } from './microtask.js'

/** The last of those that repeat their attempt, by what they contend for. */
const repeating = new Map<string, Promise<unknown>>()

/**
 * Repeats an attempt until it succeeds, such as a commit whose check fails where others were faster. Those of this process that failed once
 * repeat theirs one after the other, so that n at once make about 2n attempts, and not n².
 * @param of what they contend for
 * @param attempt resolves with undefined where it has to be repeated
 * @param again called before each further attempt, which it prevents by throwing: as these wait, who makes them may no longer do so; default nothing
 */
export async function repeated<T extends object>(
  of: string,
  attempt: () => Promise<T | undefined>,
  again?: () => unknown,
): Promise<T> {
  const first = await attempt()
  if (first) return first
  const before = repeating.get(of)
  const rest = (async () => {
    await before?.catch(() => undefined)
    for (;;) {
      // Others have their turn, as a store in memory never waits.
      await nextTurn()
      await again?.()
      const result = await attempt()
      if (result) return result
    }
  })()
  repeating.set(of, rest)
  try {
    return await rest
  } finally {
    if (repeating.get(of) === rest) repeating.delete(of)
  }
}
