import type { Commit } from './kv.js'
import { encodeKey } from './kv.js'

/** A commit as text, copied when it was asked for: what its caller changes afterwards is not part of it. */
export interface PreparedCommit {
  check: { k: string; version: string | null }[]
  /** `json` is the value; `expiresAt` in whole milliseconds since the epoch, undefined = never. */
  set: { k: string; json: string; expiresAt: number | undefined }[]
  del: string[]
  sum: { k: string; add: Record<string, number> }[]
}

const wholeMilliseconds = (time: number | undefined): number | undefined => {
  if (time === undefined) return undefined
  const whole = Math.ceil(time)
  if (!Number.isSafeInteger(whole)) throw new RangeError('expiresAt is a time in milliseconds')
  return whole
}

/** @throws TypeError or RangeError where a key, a value, a time or an amount cannot be stored */
export const prepareCommit = ({ check = [], set = [], del = [], sum = [] }: Commit): PreparedCommit => ({
  check: check.map(({ key, version }) => ({ k: encodeKey(key), version })),
  set: set.map(({ key, value, expiresAt }) => {
    const json = JSON.stringify(value) as string | undefined
    if (json === undefined) throw new TypeError('A value must be JSON')
    return { k: encodeKey(key), json, expiresAt: wholeMilliseconds(expiresAt) }
  }),
  del: del.map(encodeKey),
  sum: sum.map(({ key, add }) => {
    const k = encodeKey(key)
    for (const field of Object.keys(add))
      if (!Number.isSafeInteger(add[field]))
        throw new RangeError(`${k}.${field} is to change by ${add[field]}, which is no safe integer`)
    return { k, add: { ...add } }
  }),
})

/** What a key holds while a commit is decided on: a value as JSON, or the fields of a counter. */
export interface KeyState {
  /** Absent on what is not stored yet: nobody can have read its version. A number where that is what the store counts in. */
  version?: string | number | undefined
  /** The value; null where it is one, and its text does not matter. */
  json?: string | null | undefined
  fields?: Readonly<Record<string, number>> | undefined
  expiresAt?: number | undefined
}

/** Sets a field whatever it is called: to assign to `__proto__` would be something else. */
function setField(fields: Record<string, number>, field: string, value: number): void {
  if (field !== '__proto__') fields[field] = value
  else Object.defineProperty(fields, field, { value, enumerable: true, configurable: true, writable: true })
}

/**
 * What a commit makes of its keys, null = deleted; undefined where a check fails.
 * @param find what a key holds before it; null where there is nothing or its time is over
 * @throws TypeError where a counter is set or a value summed, RangeError where a field leaves the safe integers
 */
export function applyCommit(
  { check, set, del, sum }: PreparedCommit,
  find: (k: string) => KeyState | null,
): Map<string, KeyState | null> | undefined {
  for (const { k, version } of check) {
    const state = find(k)
    if ((state ? state.version?.toString() : null) !== version) return undefined
  }
  const after = new Map<string, KeyState | null>()
  for (const { k, json, expiresAt } of set) {
    if (find(k)?.fields) throw new TypeError(`${k} is a counter and cannot be set`)
    after.set(k, { json, expiresAt })
  }
  for (const k of del) after.set(k, null)
  for (const { k, add } of sum) {
    const before = after.has(k) ? after.get(k) : find(k)
    if (before && !before.fields) throw new TypeError(`${k} holds a value and cannot be summed`)
    const fields: Record<string, number> = { ...before?.fields }
    let grown = false
    for (const field of Object.keys(add)) {
      const known = Object.hasOwn(fields, field)
      grown ||= !known
      const total = (known ? fields[field]! : 0) + add[field]!
      if (!Number.isSafeInteger(total)) throw new RangeError(`${k}.${field} left the safe integers`)
      setField(fields, field, total)
    }
    // V8 makes a hash table of an object that got many fields by their names, and copies it a hundred times slower than one that it has parsed.
    after.set(k, { fields: grown ? (JSON.parse(JSON.stringify(fields)) as Record<string, number>) : fields })
  }
  return after
}
