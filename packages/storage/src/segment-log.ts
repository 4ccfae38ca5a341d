import type { KVLog, LogEntry } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { isDelete } from '@turnpike/core/internal'
import type { Segment } from './live-entries.js'
import { attach, detach, neededEntries, segmentOf } from './live-entries.js'
import type { Owner } from './ownership.js'
import { parseFence, validNames } from './ownership.js'
import type { Content, Name } from './segments.js'
import { chain, jsonOf, nameOf, parseName, seal, sizeOf, storedForm, unseal, valueIn } from './segments.js'
import type { Items } from './storage-like.js'
import { valueCache } from './value-cache.js'

export interface SegmentLogOptions {
  /** Size of the value cache in characters. */
  cache: number
  /** Number of commit groups after which items are merged. */
  mergeAfter: number
  /** Maximum size of a merged item in characters. */
  itemSize: number
  /** Whether a crash may leave a partial item. */
  torn: boolean
}

/**
 * A log on a storage of items. Each group of commits is one item. Items are merged in the background, a few hundred entries at a time,
 * which never delays a commit. The ownership is verified after each write, so nothing is acknowledged that a later owner may not have
 * seen.
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
      attach(segment, entry)
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

  /** Writes an item, and verifies afterwards that the store is still ours. */
  const put = async (from: number, to: number, list: LogEntry[]): Promise<Name> => {
    const name = { from, to, epoch: owner.epoch, attempt: ++attempt }
    await items.set(nameOf(name), await seal(nameOf(name), { v: version, e: list } satisfies Content))
    await owner.verify()
    return name
  }

  /** Removes items one by one, so that a commit need not wait for hundreds of removals. */
  const remove = async (keys: string[]): Promise<void> => {
    // Errors are ignored: the item is superseded, and is removed when the store is opened next.
    for (const key of keys) await items.remove(key).catch(() => undefined)
  }

  const next = (): number => (segments.at(-1)?.to ?? 0) + 1

  const serialize = <T>(write: () => Promise<T>): Promise<T> => {
    const written = writing.then(write)
    writing = written.catch(() => undefined)
    return written
  }

  /** Writes an empty item for the next group. If an earlier write of that group takes effect later, this later attempt supersedes it. */
  const annul = async (): Promise<void> => {
    add(await put(next(), next(), []), [])
    failure = undefined
  }

  const append = async (list: LogEntry[]): Promise<void> => {
    if (owner.lost) throw owner.lost
    // Started here, because every earlier group has marked the entries that it made obsolete.
    if (++sinceMerge > mergeAfter && !merging)
      merging = merge()
        .catch(() => undefined) // Nothing is lost; the next merge tries again.
        .finally(() => (merging = undefined))
    try {
      for (const { v } of list) version = Math.max(version, v)
      add(await put(next(), next(), list.map(storedForm)), list)
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
  /** The JSON of an item; concurrent callers share one read. */
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
        // The entry was forgotten, or a merge has moved it to another item.
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

  /** Replaces consecutive items by one without their obsolete entries. */
  const replace = async (at: number, run: Segment[], withoutDeletes: boolean): Promise<void> => {
    const list = neededEntries(run, withoutDeletes)
    const copies: LogEntry[] = []
    for (const entry of list) {
      // A copy, because the cache may drop the value while others are read.
      const copy = storedForm(entry)
      if (copy.j === null) copy.j = (await read(entry))!
      if (copy.j !== undefined || copy.c || isDelete(entry)) copies.push(copy)
    }
    const segment = segmentOf(await put(run[0]!.from, run.at(-1)!.to, copies))
    // Includes entries that were forgotten meanwhile, because they are in the item.
    segment.size = copies.reduce((size, entry) => size + sizeOf(entry), 0)
    for (const old of run) {
      for (const entry of old.live.keys()) if (isDelete(entry)) deletes--
      entries -= old.live.size
    }
    // Entries that were forgotten during the write are not live.
    for (const entry of list) {
      const size = (entry.at as Segment).live.get(entry)
      if (size === undefined) continue
      detach(entry)
      attach(segment, entry, size)
      if (isDelete(entry)) deletes++
    }
    entries += segment.live.size
    segments.splice(at, run.length, segment)
    await remove(run.map(nameOf))
  }

  /**
   * Goes through the current items, oldest first. Merges neighbours that fit into one item, and rewrites items of which less than half is live.
   * A delete can be dropped once no earlier item has an entry of its key: in the oldest item, and after all earlier items were rewritten.
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
      // Listed after claim(), when an earlier owner can no longer acknowledge a write.
      const keys = await items.keys()
      for await (const { name, content } of chain(await validNames(items, keys), readItem, torn)) {
        add(name, content.e)
        yield* content.e
        version = Math.max(version, content.v)
      }
      yield { k: '', v: version }
      await owner.verify()
      const fence = await owner.fence(segments)
      // Supersedes a write of an earlier owner that takes effect later, and verifies the ownership again.
      await annul()
      const used = new Set([...segments.map(nameOf), fence])
      const isLogItem = (key: string): boolean => parseName(key) !== undefined || parseFence(key) !== undefined
      await remove(keys.filter((key) => isLogItem(key) && !used.has(key)))
    },
    append: (list) => serialize(() => append(list)),
    read,
    sizeOf: (entry) => (entry.at as Segment).live.get(entry) ?? 0,
    forget(entry, over) {
      cache.delete(entry)
      if (!over) {
        detach(entry)
        entries--
        return
      }
      // Turned into a delete, so that no earlier entry of its key reappears.
      delete entry.j
      delete entry.c
      delete entry.x
      deletes++
    },
    async health() {
      try {
        await owner.verify()
        if (failure) await serialize(async () => failure && annul())
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
