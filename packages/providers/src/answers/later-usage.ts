import { isObject } from '@turnpike/core/helpers'

type Report = Record<string, unknown>

/** Most fields of an object, and items of a list, in a report that are kept: vendors tell some ten. */
const MOST_FIELDS = 64
/** Most values of the reports of a stream that are kept in all, and characters of each text and name: they stay in memory until the answer ends. */
const MOST_VALUES = 1_000
const MOST_LETTERS = 200

/** The fields of a report that may be kept. A part of a text would keep the whole in memory. */
const fieldsOf = (report: object): [name: string, value: unknown][] =>
  Object.entries(report)
    .slice(0, MOST_FIELDS)
    .filter(
      ([name, value]) => name.length <= MOST_LETTERS && !(typeof value === 'string' && value.length > MOST_LETTERS),
    )

/**
 * Joins the usage reports of one stream: of counts `countOf` says which one holds, of other values the later one does, and null says nothing. The
 * reports are joined in place, so that each costs by its own size and not by what is kept: a stream may have any number of them.
 * @param countOf default the larger one. Counts of OpenAI's and Claude's family are cumulative, and some servers report 0 at the end for what they told at the start
 * @returns adds a report, and returns all of them joined: always the same object
 */
export function usageJoiner<Joined extends object>(
  countOf: (earlier: number, later: number) => number = Math.max,
): (later: Joined) => Joined {
  const joined: Report = {}
  let left = MOST_VALUES

  /** Takes the place of a value and of those in it. @returns what is kept of it */
  const keep = (value: unknown): unknown => {
    left--
    if (typeof value !== 'object' || value === null) return value
    const kept: [name: string, value: unknown][] = []
    for (const [name, one] of fieldsOf(value)) {
      if (left <= 0) break
      kept.push([name, keep(one)])
    }
    return Array.isArray(value) ? kept.map(([, one]) => one) : Object.fromEntries(kept)
  }

  /** Gives back what {@link keep} took. */
  const free = (value: unknown): void => {
    left++
    if (typeof value === 'object' && value !== null) Object.values(value).forEach(free)
  }

  const join = (earlier: Report, later: object): void => {
    let room = MOST_FIELDS - Object.keys(earlier).length
    for (const [name, value] of fieldsOf(later)) {
      if (value === null || value === undefined) continue
      const isKnown = Object.hasOwn(earlier, name)
      const known = isKnown ? earlier[name] : undefined
      if (typeof value === 'number' && typeof known === 'number') earlier[name] = countOf(known, value)
      else if (isObject(value) && isObject(known)) join(known, value)
      else {
        if (isKnown) free(known)
        else if (room-- <= 0 || left <= 0) continue
        // A plain assignment of `__proto__` would set the prototype.
        Object.defineProperty(earlier, name, {
          value: keep(value),
          writable: true,
          enumerable: true,
          configurable: true,
        })
      }
    }
  }

  return (later) => {
    join(joined, later)
    return joined as Joined
  }
}
