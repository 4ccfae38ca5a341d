/** Whose requests have failed, and for whom something rests by that. @module */
import type { Need, Target } from '@turnpike/core'

/** Those whom a rest is for: all callers of an account, or all whose `caller` begins so; empty = everybody. */
export type Only = readonly string[]

/** What the callers of two requests have in common: nothing where one is not known. */
export const common = (one: Only = [], other: Only = []): Only => {
  const end = one.findIndex((part, i) => part !== other[i])
  return end < 0 ? one : one.slice(0, end)
}

/** Whether a rest is for the caller of a request: what those of `only` have met may be of their own making. */
export const restsFor = ({ need: { caller } = {} }: { need?: Pick<Need, 'caller'> }, only: Only): boolean =>
  caller === undefined || only.every((part, i) => part === caller[i])

/** Whether, of those for whom something rests, two requests are of the same one. */
export function isOfSame({ need: one }: Target, { need: other }: Pick<Target, 'need'>, { length }: Only): boolean {
  const part = one?.caller?.[length]
  return part !== undefined && part === other?.caller?.[length]
}

/** Failures in a row, and what their callers have in common. */
interface Own {
  count: number
  only: Only
}

/** The failures since the last answer, by account; '' = callers that are not known, and the operator. */
export class Failures {
  readonly #accounts = new Map<string, Own>()

  /** Notes a failure of a caller's request; absent = of the operator. @returns those of its account */
  add(caller: Only = []): Own {
    const [account = ''] = caller
    const before = this.#accounts.get(account)
    const own = { count: (before?.count ?? 0) + 1, only: before ? common(before.only, caller) : caller }
    this.#accounts.set(account, own)
    return own
  }

  /** Whether they are as many as make a rest for everybody, of which one account makes half at most. */
  areOfAll(most: number): boolean {
    const half = Math.ceil(most / 2)
    let all = 0
    for (const [name, { count }] of this.#accounts) all += name === '' ? count : Math.min(count, half)
    return all >= most && (this.#accounts.size > 1 || this.#accounts.has(''))
  }

  clear(): void {
    this.#accounts.clear()
  }

  get count(): number {
    let all = 0
    for (const { count } of this.#accounts.values()) all += count
    return all
  }
}
