import type { Commit, Key } from '@turnpike/core'
import { encodeKey } from '@turnpike/core'

/** A key that is present, as an SQL engine reads it. */
export interface Row {
  /** The encoded key. */
  k: string
  version: string
  /** JSON text of the value, or of the fields of a counter. */
  value: string
  /** True, or 1, where it is a counter. */
  counter: boolean | number
}

/** What a group of commits leaves of a key. */
export interface Change {
  k: string
  /** As in {@link Row}; `null` = the key is deleted. */
  value: string | null
  counter: boolean
  /** Milliseconds since the epoch; `null` = never. */
  expiresAt: number | null
}

/** A commit in the terms of the table, copied when it was asked for. */
export interface Prepared {
  /** All keys that it reads or writes. */
  keys: string[]
  /** Characters of JSON text in it. */
  size: number
  check: { k: string; version: string | null }[]
  set: { k: string; value: string; expiresAt: number | null }[]
  del: string[]
  sum: { k: string; add: [field: string, amount: number][] }[]
}

/** Longest encoded key, in characters: an index entry of PostgreSQL holds 2704 bytes. */
const MAX_KEY = 2_000

const encode = (key: Key): string => {
  const k = encodeKey(key)
  if (k.length > MAX_KEY) throw new TypeError(`A key is at most ${MAX_KEY} characters long when encoded`)
  return k
}

const wholeMilliseconds = (time: number | undefined): number | null => {
  if (time === undefined) return null
  const whole = Math.ceil(time)
  if (!Number.isSafeInteger(whole)) throw new TypeError('expiresAt is a time in milliseconds')
  return whole
}

/** @throws TypeError where a key, a value or a time cannot be stored */
export function prepare(commit: Commit): Prepared {
  const check = (commit.check ?? []).map(({ key, version }) => ({ k: encode(key), version }))
  const set = (commit.set ?? []).map(({ key, value, expiresAt }) => {
    const text = JSON.stringify(value) as string | undefined
    if (text === undefined) throw new TypeError('A value must be JSON')
    return { k: encode(key), value: text, expiresAt: wholeMilliseconds(expiresAt) }
  })
  const del = (commit.del ?? []).map(encode)
  const sum = (commit.sum ?? []).map(({ key, add }) => ({ k: encode(key), add: Object.entries(add) }))
  return {
    keys: [...[...check, ...set, ...sum].map(({ k }) => k), ...del],
    size: set.reduce((size, { value }) => size + value.length, 0),
    check,
    set,
    del,
    sum,
  }
}

interface State {
  /** Absent once this group has written the key: nobody can have read its new version. */
  version?: string
  value?: string
  /** The fields of a counter. */
  fields?: Map<string, number>
  expiresAt: number | null
}

/** `true` = applied, `false` = a check failed, an error = refused. */
export type Outcome = boolean | Error

const toState = ({ version, value, counter }: Row): State =>
  counter
    ? { version, fields: new Map(Object.entries(JSON.parse(value) as Record<string, number>)), expiresAt: null }
    : { version, value, expiresAt: null }

const toChange = (k: string, state: State | null): Change => ({
  k,
  value: state?.fields ? JSON.stringify(Object.fromEntries(state.fields)) : (state?.value ?? null),
  counter: state?.fields !== undefined,
  expiresAt: state?.expiresAt ?? null,
})

/**
 * Applies commits one after the other to `rows`, which are all present rows of their keys.
 * Each is whole or not at all, by itself. @returns what became of each, and what is to be written for all.
 */
export function evaluate(commits: Prepared[], rows: Row[], now: number): { outcomes: Outcome[]; changes: Change[] } {
  const present = new Map(rows.map((row) => [row.k, toState(row)]))
  const written = new Map<string, State | null>()
  const find = (k: string): State | null => {
    const state = written.has(k) ? written.get(k) : present.get(k)
    return state && (state.expiresAt === null || state.expiresAt > now) ? state : null
  }

  const apply = ({ check, set, del, sum }: Prepared): boolean => {
    for (const { k, version } of check) {
      const state = find(k)
      if ((state ? state.version : null) !== version) return false
    }
    const own = new Map<string, State | null>()
    for (const { k, value, expiresAt } of set) {
      if (find(k)?.fields) throw new TypeError(`${k} is a counter and cannot be set`)
      own.set(k, { value, expiresAt })
    }
    for (const k of del) own.set(k, null)
    for (const { k, add } of sum) {
      const before = own.has(k) ? own.get(k) : find(k)
      if (before?.value !== undefined) throw new TypeError(`${k} holds a value and cannot be summed`)
      const fields = new Map(before?.fields)
      for (const [field, amount] of add) {
        const total = (fields.get(field) ?? 0) + amount
        if (!Number.isSafeInteger(amount) || !Number.isSafeInteger(total))
          throw new RangeError(`${k}.${field} left the safe integers`)
        fields.set(field, total)
      }
      own.set(k, { fields, expiresAt: null })
    }
    for (const [k, state] of own) written.set(k, state)
    return true
  }

  const outcomes = commits.map((commit): Outcome => {
    try {
      return apply(commit)
    } catch (error) {
      return error as Error
    }
  })
  return { outcomes, changes: [...written].map(([k, state]) => toChange(k, state)) }
}
