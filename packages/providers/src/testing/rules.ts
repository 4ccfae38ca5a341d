/** Helpers for the validation rules of the fakes. @module */

export type Json = Record<string, unknown>

/** A numeric parameter with its range. */
export type NumberRange = [name: string, min: number, max: number, integer: boolean]

/** The vendor's error for an invalid request; undefined if valid. */
export type Problem = string | undefined

/** The first problem found by a check among items. */
export const first = <T>(items: readonly T[], check: (item: T, i: number) => Problem): Problem => {
  for (const [i, item] of items.entries()) {
    const problem = check(item, i)
    if (problem) return problem
  }
  return undefined
}

export const words = (text: string): string[] => text.split(/\s+/)
