/** What the rules of the vendors are written with. @module */

export type Json = Record<string, unknown>

/** What is wrong with a request, in the vendor's own terms; undefined = nothing. */
export type Problem = string | undefined

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The first problem that a check finds among items. */
export const first = <T>(items: readonly T[], check: (item: T, i: number) => Problem): Problem => {
  for (const [i, item] of items.entries()) {
    const problem = check(item, i)
    if (problem) return problem
  }
  return undefined
}

export const words = (text: string): string[] => text.split(/\s+/)
