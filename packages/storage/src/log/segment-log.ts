import type { KVLog, LogEntry } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { isDelete, logEntry } from '@turnpike/core/internal'
import type { Part } from './item.js'
import { checked, copyOf, decodeItem, encodeItem, jsonOf, valueIn } from './item.js'
import type { Block, Segment } from './live-entries.js'
import { attach, blockOf, detach, neededEntries, segmentOf, turnIntoDelete } from './live-entries.js'
import type { Owner } from './ownership.js'
import { parseFence, validNames } from './ownership.js'
import type { Name } from './segments.js'
import { chain, nameOf, parseName } from './segments.js'
import type { Items } from './storage-like.js'
import { valueCache } from './value-cache.js'

export interface SegmentLogOptions {
  /** Size of the value cache in characters. */
  cache: number
  /** Number of commit groups after which items are merged; sooner where these are larger than so many merged items may be. */
  mergeAfter: number
  /** Maximum size of a merged item in characters. */
  itemSize: number
  /** Whether a crash may leave a partial item. */
  torn: boolean
}

const LINE_END = 10
/** Number of characters that are rewritten for each item less. */
const WORTH = 32_768
/** Number of blocks whose text is kept after it was read. */
const RECENT = 8

/**
 * A log on a storage of items. Each group of commits is one item. Items are merged in the background, a few hundred entries at a time,
 * which never delays a commit. The ownership is verified after each write, so nothing is acknowledged that a later owner may not have
 * seen.
 */
export function segmentLog(items: Items, owner: Owner, options: SegmentLogOptions): KVLog {
  const { mergeAfter, itemSize, torn } = options
  /** Number of bytes that are read of an item at first when the store is opened: more than the first line of most. */
  const beginning = torn || !items.readsParts ? Infinity : Math.ceil(itemSize / 4)
  const blockSize = items.readsParts ? itemSize / 32 : Infinity
  const segments: Segment[] = []
  const cache = valueCache(options.cache)
  let attempt = 0
  let version = 0
  let entries = 0
  let deletes = 0
  let sinceMerge = 0
  /** Characters that were written since the last merge began: what they replaced takes space until a merge. */
  let written = 0
  let merging: Promise<void> | undefined
  let writing: Promise<unknown> = Promise.resolve()
  let failure: StorageError | undefined

  const add = (segment: Segment, parts: Part[]): void => {
    attach(segment, parts, () => true)
    for (const part of parts)
      for (const entry of part.entries) {
        cache.add(entry)
        entries++
        if (isDelete(entry)) deletes++
      }
    segments.push(segment)
  }

  /** Reads the first line of an item, and the rest if it is short or may be partial. */
  const readItem = async (name: Name): Promise<{ version: number; parts: Part[] } | undefined> => {
    for (let size = beginning; ; size *= 4) {
      const bytes = await items.part(nameOf(name), 0, size)
      if (!bytes) return undefined
      const whole = bytes.length < size
      if (whole || bytes.includes(LINE_END)) return decodeItem(nameOf(name), bytes, whole)
    }
  }

  /** Writes an item, and verifies afterwards that the store is still ours. */
  const put = async (
    from: number,
    to: number,
    list: LogEntry[],
    valueOf: (entry: LogEntry) => string | null | undefined,
  ): Promise<[Segment, Part[]]> => {
    const name = { from, to, epoch: owner.epoch, attempt: ++attempt }
    const { bytes, parts } = await encodeItem(nameOf(name), version, list, valueOf, blockSize)
    await items.setBytes(nameOf(name), bytes)
    await owner.verify()
    return [segmentOf(name), parts]
  }

  /** Removes superseded items one by one, so that a commit need not wait for hundreds of removals. One that stays or comes back is removed when the store is opened next. */
  const remove = async (keys: string[]): Promise<void> => {
    for (const key of keys) await items.remove(key, { flush: false }).catch(() => undefined)
  }

  const next = (): number => (segments.at(-1)?.to ?? 0) + 1

  const serialize = <T>(write: () => Promise<T>): Promise<T> => {
    const written = writing.then(write)
    writing = written.catch(() => undefined)
    return written
  }

  /** Writes an empty item for the next group. If an earlier write of that group takes effect later, this later attempt supersedes it. */
  const annul = async (): Promise<void> => {
    add(...(await put(next(), next(), [], () => undefined)))
    failure = undefined
  }

  const append = async (list: LogEntry[]): Promise<void> => {
    if (owner.lost) throw owner.lost
    // Started here, because every earlier group has marked the entries that it made obsolete.
    if ((++sinceMerge > mergeAfter || written > mergeAfter * itemSize) && !merging)
      merging = merge()
        .catch(() => undefined) // Nothing is lost; the next merge tries again.
        .finally(() => (merging = undefined))
    try {
      for (const { v } of list) version = Math.max(version, v)
      add(...(await put(next(), next(), list, ({ j }) => j)))
      written += segments.at(-1)!.size
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

  const readBlock = async (block: Block): Promise<string | undefined> => {
    const name = nameOf(block.of)
    if (block.sum === undefined) {
      const text = await items.get(name)
      return text === null ? undefined : jsonOf(name, text)
    }
    const bytes = await items.part(name, block.at, block.at + block.bytes)
    const text = bytes ? await checked(bytes, block.sum) : undefined
    if (text !== undefined && cache.fits(text.length))
      for (const entry of block.of.live)
        if (entry.at === block && entry.j === null) {
          entry.j = text.slice(entry.p, entry.p! + entry.n!)
          cache.add(entry)
        }
    return text
  }

  const recent = new Map<Block, Promise<string | undefined>>()
  /** The text of a block. Those that were read last are kept, because their entries are often read together or one after the other. */
  const textOf = (block: Block): Promise<string | undefined> => {
    let text = recent.get(block)
    if (!text) {
      text = readBlock(block)
      recent.set(block, text)
      const drop = (): void => void recent.delete(block)
      text.then((found) => found ?? drop(), drop)
      if (recent.size > RECENT) recent.delete(recent.keys().next().value!)
    }
    return text
  }

  /** The value of an entry; undefined if it was forgotten, or moved to another item, in the meantime. @param keep whether to keep it in memory */
  const valueOf = async (entry: LogEntry, keep: boolean): Promise<string | undefined> => {
    const block = blockOf(entry)
    const text = await textOf(block)
    if (entry.j !== null) return entry.j
    if (!block.of.live.has(entry)) return undefined
    const begin = entry.p!
    const value = block.sum === undefined ? text && valueIn(text, entry) : text?.slice(begin, begin + entry.n!)
    if (value === undefined) {
      block.of.damaged = true
      throw new StorageError(`${entry.k} cannot be read: item ${nameOf(block.of)} is missing or corrupt`, 'none')
    }
    if (keep) {
      entry.j = copyOf(value)
      cache.add(entry)
    }
    return value
  }

  /** Replaces consecutive items by one without their obsolete entries. */
  const replace = async (at: number, run: Segment[], withoutDeletes: boolean): Promise<void> => {
    const values = new Map<LogEntry, string>()
    const list: LogEntry[] = []
    for (const entry of neededEntries(run, withoutDeletes)) {
      // Kept here, because the cache may drop it while others are read.
      const value = entry.j === null ? await valueOf(entry, false) : entry.j
      if (value !== undefined) values.set(entry, value)
      if (value !== undefined || entry.c || isDelete(entry)) list.push(entry)
    }
    // In the order of keys, of which there is one of each, because entries with neighbouring keys are read together.
    list.sort((a, b) => (a.k < b.k ? -1 : 1))
    const [segment, parts] = await put(run[0]!.from, run.at(-1)!.to, list, (entry) => values.get(entry))
    for (const old of run) {
      for (const entry of old.live) if (isDelete(entry)) deletes--
      entries -= old.live.size
    }
    // Entries that were forgotten during the write are not live.
    attach(segment, parts, detach)
    for (const entry of segment.live) if (isDelete(entry)) deletes++
    entries += segment.live.size
    segments.splice(at, run.length, segment)
    await remove(run.map(nameOf))
  }

  /**
   * Goes through the current items, oldest first. Merges neighbours that fit into one item where they are small, where less than half of the first is live, or
   * where it has an earlier form. A delete can be dropped once no earlier item has an entry of its key: in the oldest item, and after all earlier items
   * were rewritten.
   */
  const merge = async (): Promise<void> => {
    sinceMerge = 0
    written = 0
    const end = segments.at(-1)!.to
    let thorough = deletes > entries / 4 + mergeAfter
    for (let at = 0; at < segments.length && segments[at]!.to <= end; at++) {
      const first = segments[at]!
      if (first.damaged) {
        thorough = false
        continue
      }
      let weight = first.weight
      let until = at + 1
      for (; until < segments.length; until++) {
        const next = segments[until]!
        if (next.to > end || next.damaged || weight + next.weight > itemSize) break
        weight += next.weight
      }
      const run = segments.slice(at, until)
      const areSmall = weight < (run.length - 1) * WORTH
      const isStale = thorough
        ? first.weight < first.size || [...first.live].some(isDelete)
        : first.weight < first.size / 2
      if (areSmall || isStale || first.isOld) await replace(at, run, thorough || at === 0)
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
        add(segmentOf(name), content.parts)
        for (const part of content.parts) yield part.entries
        version = Math.max(version, content.version)
      }
      yield [logEntry('', version, undefined, undefined, undefined)]
      sinceMerge = segments.filter(({ from, to }) => from === to).length
      await owner.verify()
      const fence = await owner.fence(segments)
      // Supersedes a write of an earlier owner that takes effect later, and verifies the ownership again.
      await annul()
      const used = new Set([...segments.map(nameOf), fence])
      const isLogItem = (key: string): boolean => parseName(key) !== undefined || parseFence(key) !== undefined
      await remove(keys.filter((key) => isLogItem(key) && !used.has(key)))
    },
    append: (list) => serialize(() => append(list)),
    read: (entry) => valueOf(entry, true),
    forget(entry, over) {
      cache.delete(entry)
      if (over) {
        turnIntoDelete(entry)
        deletes++
      } else {
        detach(entry)
        entries--
      }
    },
    async health() {
      try {
        await owner.verify()
        if (failure) await serialize(async () => failure && annul())
        const damaged = segments.find((segment) => segment.damaged)
        if (!damaged) return { ok: true }
        const warning = `Item ${nameOf(damaged)} is missing or corrupt, so some entries cannot be read. Restore it from a backup`
        return { ok: true, warnings: [warning] }
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
