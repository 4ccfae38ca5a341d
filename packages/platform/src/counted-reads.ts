import type { Entry, KV } from '@turnpike/core'
import { charactersOf } from './characters.js'
import { ENTRY_CHARACTERS, REQUEST_BYTES } from './conventions.js'

/**
 * A store for one operation, which tells what is read from it, also where nothing comes of that.
 * @param onRead given how many further requests it counts as, each time that there are more
 */
export function countedReads(kv: KV, onRead: (requests: number) => Promise<void> | void): KV {
  let characters = 0
  const count = (entries: readonly (Entry<unknown> | null)[]): Promise<void> | void => {
    const before = Math.floor(characters / REQUEST_BYTES)
    for (const entry of entries) if (entry) characters += Math.max(charactersOf(entry.value), ENTRY_CHARACTERS)
    const more = Math.floor(characters / REQUEST_BYTES) - before
    if (more > 0) return onRead(more)
  }
  return {
    capabilities: kv.capabilities,
    async get(key) {
      const entry = await kv.get(key)
      await count([entry])
      return entry as never
    },
    async getMany(keys, options) {
      const entries = await kv.getMany(keys, options)
      await count(entries)
      return entries as never
    },
    async list(prefix, options) {
      const page = await kv.list(prefix, options)
      await count(page.items)
      return page as never
    },
    commit: (commit) => kv.commit(commit),
    health: () => kv.health(),
    close: () => kv.close(),
  }
}
