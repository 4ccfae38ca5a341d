import type { KeyState, PreparedCommit } from '@turnpike/core/internal'
import { applyCommit } from '@turnpike/core/internal'

/** A row of the table, as an SQL engine reads it. */
export interface Row {
  /** The encoded key. */
  k: string
  version: string
  /** JSON text of the value, or of the fields of a counter. */
  value: string
  /** True, or 1, for a counter. */
  counter: boolean | number
  /** Milliseconds since the epoch, as a string from PostgreSQL; `null` = never. */
  expires_at: number | string | null
}

/** The state of a key after a group of commits. */
export interface Change {
  k: string
  /** As in {@link Row}; `null` = the key is deleted. */
  value: string | null
  counter: boolean
  /** Milliseconds since the epoch; `null` = never. */
  expiresAt: number | null
}

/** The result of a commit: `true` = applied, `false` = a check failed, an error = invalid. */
export type Outcome = boolean | Error

const toState = ({ version, value, counter }: Row): KeyState =>
  counter ? { version, fields: JSON.parse(value) as Record<string, number> } : { version, json: value }

const toChange = (k: string, state: KeyState | null): Change => ({
  k,
  value: state?.fields ? JSON.stringify(state.fields) : (state?.json ?? null),
  counter: state?.fields !== undefined,
  expiresAt: state?.expiresAt ?? null,
})

/**
 * Applies commits in order to `rows`, the existing rows of their keys. Each commit is atomic and independent of the others.
 * @returns the outcome of each commit, and the changes to write for all of them
 */
export function evaluate(
  commits: PreparedCommit[],
  rows: Row[],
  now: number,
): { outcomes: Outcome[]; changes: Change[] } {
  const present = new Map(rows.map((row) => [row.k, toState(row)]))
  const written = new Map<string, KeyState | null>()
  const find = (k: string): KeyState | null => {
    const state = written.has(k) ? written.get(k) : present.get(k)
    return state && (state.expiresAt === undefined || state.expiresAt > now) ? state : null
  }
  const outcomes = commits.map((commit): Outcome => {
    try {
      const after = applyCommit(commit, find)
      for (const [k, state] of after ?? []) written.set(k, state)
      return after !== undefined
    } catch (error) {
      return error as Error
    }
  })
  return { outcomes, changes: Array.from(written, ([k, state]) => toChange(k, state)) }
}
