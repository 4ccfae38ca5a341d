import type { KVLog, LogEntry } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { isDelete } from '@turnpike/core/internal'
import type { Owner } from './ownership.js'
import { countingNames, parseFence } from './ownership.js'
import type { Content, Name } from './segments.js'
import { chain, jsonOf, kept, nameOf, parseName, seal, sizeOf, unseal, valueIn } from './segments.js'
import type { Items } from './storage-like.js'
import { valueCache } from './value-cache.js'

/** An item of the log, and what of it still counts. */
interface Segment extends Name {
  /** Entries that count, with the size of each. */
  live: Map<LogEntry, number>
  /** Sum of the sizes in `live`. */
  weight: number
  /** What `weight` was when the item was written. */
  size: number
}

const segmentOf = (name: Name): Segment => ({ ...name, live: new Map(), weight: 0, size: 0 })

const enlist = (segment: Segment, entry: LogEntry, size = sizeOf(entry)): void => {
  entry.at = segment
  segment.live.set(entry, size)
  segment.weight += size
}

const discharge = (entry: LogEntry): void => {
  const segment = entry.at as Segment
  segment.weight -= segment.live.get(entry) ?? 0
  segment.live.delete(entry)
}

export interface SegmentLogOptions {
  /** Characters of values that stay in memory. */
  cache: number
  /** Groups of commits after which items are merged. */
  mergeAfter: number
  /** Characters that an item is merged up to. */
  itemSize: number
  /** Whether an item may be there in part after a crash. */
  torn: boolean
}

/**
 * A log on a storage of items. Each group of commits is an item; items are merged in the background, a few hundred entries at a time,
 * which never holds a commit up. Each write is followed by a look at the owner, so nothing is acknowledged that a later owner may not
 * have seen.
 */
export function segmentLog(items: Items, owner: Owner, options: SegmentLogOptions): KVLog {
  const { mergeAfter, itemSize, torn } = options
  const segments: Segment[] = []
  const cache = valueCache(options.cache)
  let attempt = 0
  let version = 0
  let entries = 0
  let deletes = 0
  let sinceMerge = 0
  let merging: Promise<void> | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let failure: StorageError | undefined

  const add = (name: Name, list: LogEntry[]): void => {
    const segment = segmentOf(name)
    for (const entry of list) {
      enlist(segment, entry)
      cache.add(entry)
      entries++
      if (isDelete(entry)) deletes++
    }
    segment.size = segment.weight
    segments.push(segment)
  }

  const readItem = async (name: Name): Promise<Content | undefined> => {
    const text = await items.get(nameOf(name))
    return text === null ? undefined : unseal<Content>(nameOf(name), text)
  }

  /** Writes an item and makes sure that the store was still ours when it was there. */
  const put = async (from: number, to: number, list: LogEntry[]): Promise<Name> => {
    const name = { from, to, epoch: owner.epoch, attempt: ++attempt }
    await items.set(nameOf(name), await seal(nameOf(name), { v: version, e: list } satisfies Content))
    await owner.verify()
    return name
  }

  /** Removes items one by one: a commit is not to wait behind hundreds of them. */
  const remove = async (keys: string[]): Promise<void> => {
    // What stays is covered by what took its place, and goes when the store is opened next.
    for (const key of keys) await items.remove(key).catch(() => undefined)
  }

  const next = (): number => (segments.at(-1)?.to ?? 0) + 1

  const inTurn = <T>(write: () => Promise<T>): Promise<T> => {
    const written = writing.then(write)
    writing = written.catch(() => undefined)
    return written
  }

  /** Puts an empty item in the next place: should an earlier write to that place come through after all, the later attempt counts. */
  const annul = async (): Promise<void> => {
    add(await put(next(), next(), []), [])
    failure = undefined
  }

  const append = async (list: LogEntry[]): Promise<void> => {
    if (owner.lost) throw owner.lost
    // Begun here, where it is known of every group so far what it made obsolete.
    if (++sinceMerge > mergeAfter && !merging)
      merging = merge()
        .catch(() => undefined) // Nothing is lost; the next round tries again.
        .finally(() => (merging = undefined))
    try {
      for (const { v } of list) version = Math.max(version, v)
      add(await put(next(), next(), list.map(kept)), list)
      failure = undefined
    } catch (cause) {
      if (owner.lost) throw owner.lost
      const message = `The storage failed: ${(cause as Error).message}`
      failure = new StorageError(message, 'unknown', { cause })
      await annul().catch(() => {
        throw owner.lost ?? failure
      })
      throw new StorageError(message, 'none', { cause })
    }
  }

  const reading = new Map<Segment, Promise<string | undefined>>()
  /** What an item holds, as JSON; those who ask at the same time share one read. */
  const jsonIn = (segment: Segment): Promise<string | undefined> => {
    let json = reading.get(segment)
    if (!json) {
      json = items
        .get(nameOf(segment))
        .then((text) => (text === null ? undefined : jsonOf(nameOf(segment), text)))
        .finally(() => reading.delete(segment))
      reading.set(segment, json)
    }
    return json
  }

  const read = async (entry: LogEntry): Promise<string | undefined> => {
    for (;;) {
      if (typeof entry.j === 'string') return entry.j
      const segment = entry.at as Segment
      const json = await jsonIn(segment)
      if (!segment.live.has(entry)) {
        // It was forgotten, or it has moved while it was looked for.
        if (entry.at === segment) return undefined
        continue
      }
      const value = json === undefined ? undefined : valueIn(json, entry)
      if (value === undefined)
        throw new StorageError(`${entry.k} cannot be read: item ${nameOf(segment)} is missing or corrupt`, 'none')
      if (entry.j === null) {
        entry.j = value
        cache.add(entry)
      }
      return value
    }
  }

  /** Replaces a run of items by one without what does not count. */
  const replace = async (at: number, run: Segment[], withoutDeletes: boolean): Promise<void> => {
    const list: LogEntry[] = []
    const later = new Set<string>()
    for (const segment of run.toReversed())
      for (const entry of [...segment.live.keys()].toReversed()) {
        const spare = isDelete(entry) && (withoutDeletes || later.has(entry.k))
        later.add(entry.k)
        if (!spare) list.push(entry)
      }
    list.reverse()
    const whole: LogEntry[] = []
    for (const entry of list) {
      // A copy, because its value may leave the memory while others are read.
      const copy = kept(entry)
      if (copy.j === null) copy.j = (await read(entry))!
      if (copy.j !== undefined || copy.c || isDelete(entry)) whole.push(copy)
    }
    const segment = segmentOf(await put(run[0]!.from, run.at(-1)!.to, whole))
    // Also of what has been forgotten since: it is in the item.
    segment.size = whole.reduce((size, entry) => size + sizeOf(entry), 0)
    for (const old of run) {
      for (const entry of old.live.keys()) if (isDelete(entry)) deletes--
      entries -= old.live.size
    }
    // What was forgotten while it was being written counts no more.
    for (const entry of list) {
      const size = (entry.at as Segment).live.get(entry)
      if (size === undefined) continue
      discharge(entry)
      enlist(segment, entry, size)
      if (isDelete(entry)) deletes++
    }
    entries += segment.live.size
    segments.splice(at, run.length, segment)
    await remove(run.map(nameOf))
  }

  /**
   * Goes through the items of now, oldest first, and merges neighbours that fit into one and items of which less than half counts.
   * A delete can go once no item before it has an older entry of its key: in the oldest item, and wherever all before was made clean.
   */
  const merge = async (): Promise<void> => {
    sinceMerge = 0
    const end = segments.at(-1)!.to
    const thorough = deletes > entries / 4 + mergeAfter
    for (let at = 0; at < segments.length && segments[at]!.to <= end; at++) {
      const first = segments[at]!
      let weight = first.weight
      let until = at + 1
      for (; until < segments.length && segments[until]!.to <= end; until++) {
        weight += segments[until]!.weight
        if (weight > itemSize) break
      }
      const isStale = thorough
        ? first.weight < first.size || [...first.live.keys()].some(isDelete)
        : first.weight < first.size / 2
      if (until > at + 1 || isStale) await replace(at, segments.slice(at, until), thorough || at === 0)
    }
  }

  return {
    get stopped() {
      return owner.lost
    },
    async *load() {
      // Listed only now: an owner before us acknowledges nothing more.
      const keys = await items.keys()
      for await (const { name, content } of chain(await countingNames(items, keys), readItem, torn)) {
        add(name, content.e)
        yield* content.e
        version = Math.max(version, content.v)
      }
      yield { k: '', v: version }
      await owner.verify()
      const fence = await owner.fence(segments)
      // Now a write that began before us counts no more, should it come through only later; and that we are the owner is made sure of.
      await annul()
      const used = new Set([...segments.map(nameOf), fence])
      const isOurs = (key: string): boolean => parseName(key) !== undefined || parseFence(key) !== undefined
      await remove(keys.filter((key) => isOurs(key) && !used.has(key)))
    },
    append: (list) => inTurn(() => append(list)),
    read,
    forget(entry, over) {
      cache.delete(entry)
      if (!over) {
        discharge(entry)
        entries--
        return
      }
      // From here on it is a delete: one before it must not come back.
      delete entry.j
      delete entry.c
      delete entry.x
      deletes++
    },
    async health() {
      try {
        await owner.verify()
        if (failure) await inTurn(async () => failure && annul())
        return { ok: true }
      } catch (error) {
        return { ok: false, reason: (error as Error).message }
      }
    },
    async close() {
      await writing
      await merging
    },
  }
}
