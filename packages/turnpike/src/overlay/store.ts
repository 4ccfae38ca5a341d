/** The overlay: what administrators add to the configuration while the server runs. This is how it is stored. @module */
import type { Entry, JsonValue, Key, KV } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { audit, invalid } from '@turnpike/core/internal'
import { entriesOf } from '@turnpike/core'

/** How many of each kind there may be. */
export const MOST = { providers: 100, groups: 100, prices: 1_000 }
export type Kind = keyof typeof MOST

/** Longest name of a group or a price, in characters. */
export const NAME_LENGTH = 256
/** Bytes of the settings of one entry. */
export const ENTRY_BYTES = 64 * 1024

/** A provider: all its settings are encrypted, so that none that is a secret can be forgotten. */
export type StoredProvider = { id: string; type: string; sealed: string }

/** A provider by an id of its own, a group or a price by its name. */
export interface OverlayEntry {
  kind: Kind
  name: string
  value: JsonValue
  updated_at: string
}

export interface Overlay {
  /** Names the last change; absent = there was none. */
  change?: string
  entries: readonly OverlayEntry[]
}

/** The version of the overlay, which is written with each change: whoever has read another one is behind. */
const head: Key = ['overlay-version']
const below: Key = ['overlay']
const keyOf = ({ kind, name }: Pick<OverlayEntry, 'kind' | 'name'>): Key => [...below, kind, name]

type Head = { change: string }
type Stored = { value: JsonValue; updated_at: string }

/** The last change of the stored overlay; undefined where there was none. */
export const lastChange = async (kv: KV): Promise<string | undefined> => (await kv.get<Head>(head))?.value.change

async function readWithHead(kv: KV): Promise<{ overlay: Overlay; version: string | null }> {
  for (;;) {
    const before = await kv.get<Head>(head)
    const entries: OverlayEntry[] = []
    if (before)
      for await (const { key, value } of entriesOf<Stored>(kv, below))
        entries.push({ kind: key[1] as Kind, name: key[2]!, ...value })
    const after = before && (await kv.get<Head>(head))
    // Pages of a list may be of different times.
    if (before?.version === after?.version)
      return { overlay: { ...(before && { change: before.value.change }), entries }, version: before?.version ?? null }
  }
}

export const readOverlay = async (kv: KV): Promise<Overlay> => (await readWithHead(kv)).overlay

/** A change of one entry. */
export interface Change extends Pick<OverlayEntry, 'kind' | 'name'> {
  /** Null removes the entry. */
  value: JsonValue | null
  /** For the audit log. */
  action: string
  by: string
  detail?: string
}

/** @throws ApiError 400 where there is no room for it */
function withChange({ entries }: Overlay, { kind, name, value }: Change, change: string, now: Date): Overlay {
  const index = entries.findIndex((one) => one.kind === kind && one.name === name)
  if (value === null) return { change, entries: entries.toSpliced(index, 1) }
  const entry = { kind, name, value, updated_at: now.toISOString() }
  if (index >= 0) return { change, entries: entries.with(index, entry) }
  if (entries.filter((one) => one.kind === kind).length >= MOST[kind])
    throw invalid(`The store has ${MOST[kind]} ${kind} already, and no room for another one`)
  return { change, entries: [...entries, entry] }
}

/** Says what to change of what is stored; undefined = nothing. */
export type Decide = (overlay: Overlay) => Change | undefined | Promise<Change | undefined>

/**
 * Changes the overlay: in one commit the entry, an entry of the audit log and the version. Where somebody else is faster, all begins anew.
 * @returns what `accept` returns; undefined where nothing is to be changed
 * @param accept makes use of what would be stored, and throws where that is not possible
 */
export async function changeOverlay<T>(
  kv: KV,
  decide: Decide,
  accept: (overlay: Overlay, changed: Change) => Promise<T>,
): Promise<T | undefined> {
  for (;;) {
    const { overlay, version } = await readWithHead(kv)
    const change = await decide(overlay)
    if (!change) return undefined
    const { kind, name, value, action, by, detail } = change
    const now = new Date()
    const id = uuidv7(now.getTime())
    const accepted = await accept(withChange(overlay, change, id, now), change)
    const key = keyOf({ kind, name })
    const isDone = await kv.commit({
      check: [{ key: head, version }],
      set: [
        { key: head, value: { change: id } },
        ...(value === null ? [] : [{ key, value: { value, updated_at: now.toISOString() } }]),
        ...audit(action, name, { by, detail, now: now.getTime() }),
      ],
      del: value === null ? [key] : [],
    })
    if (isDone) return accepted
  }
}

/** Writes an entry in another form, which is no change of the overlay, unless somebody else has changed it. */
export async function rewrite(kv: KV, entry: OverlayEntry, value: JsonValue): Promise<void> {
  const key = keyOf(entry)
  const found: Entry<Stored> | null = await kv.get<Stored>(key)
  if (found && JSON.stringify(found.value.value) === JSON.stringify(entry.value))
    await kv.commit({
      check: [{ key, version: found.version }],
      set: [{ key, value: { value, updated_at: entry.updated_at } }],
    })
}
