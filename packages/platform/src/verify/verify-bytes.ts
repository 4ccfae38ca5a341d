import type { Entry, Key, KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { growth } from '@turnpike/core/internal'
import { FILE_RECORD_BYTES } from '../conventions.js'
import type { Purge } from '../projects/purges.js'
import { purgedBy } from '../projects/purges.js'
import type { StoredToken } from '../tokens/stored-tokens.js'
import { entriesOfToken } from '../tokens/stored-tokens.js'

type Owned = { user_id: string }

/** The bytes of data that are stored of each user's making, counted or not. */
export async function storedBytes(kv: KV): Promise<Map<string, number>> {
  const bytes = new Map<string, number>()
  const add = (userId: string | undefined, amount: number): void => {
    if (userId !== undefined) bytes.set(userId, (bytes.get(userId) ?? 0) + amount)
  }
  const addEntries = async <T>(prefix: Key, ownerOf: (entry: Entry<T>) => string | undefined): Promise<void> => {
    for await (const entry of entriesOf<T>(kv, prefix))
      if (!entry.counter) add(ownerOf(entry), growth([entry as Entry<string>]).bytes)
  }
  /** Whose a project is, or was. */
  const projects = new Map<string, string>()
  for await (const { value } of entriesOf<Purge['value']>(kv, ['purge'])) {
    const { user_id, prefix } = purgedBy(value)
    if (user_id !== undefined) projects.set(prefix[1]!, user_id)
  }
  const keys = new Map<string, string>()
  const ofValue = ({ value }: Entry<Owned>): string => value.user_id
  const ofKey = ({ key }: Entry<unknown>): string => key[1]!

  await addEntries<Owned>(['project'], (entry) => {
    projects.set(entry.key[1]!, entry.value.user_id)
    return ofValue(entry)
  })
  await addEntries(['in-project'], ({ key }) => projects.get(key[1]!))
  await addEntries<Owned>(['gwkey'], (entry) => {
    keys.set(entry.key[1]!, entry.value.user_id)
    return ofValue(entry)
  })
  await addEntries<string>(['gwkey-hash'], ({ value }) => keys.get(value))
  for await (const { value } of entriesOf<StoredToken>(kv, ['token']))
    add(value.user_id, growth(entriesOfToken(value)).bytes)
  for (const kind of ['task', 'conversation', 'user-shared', 'shared-with', 'session', 'end-user'])
    await addEntries([kind], ofValue)
  for (const index of ['user-projects', 'user-gwkeys', 'user-sessions', 'user-tasks']) await addEntries([index], ofKey)
  for (const kind of ['file', 'file-bytes'])
    for await (const { value } of entriesOf<Owned>(kv, [kind])) add(value.user_id, FILE_RECORD_BYTES)
  return bytes
}

/** Checks that no user has more bytes of data counted than there are. There may be more, of an earlier version, which counted none. */
export async function* verifyBytes(kv: KV): AsyncGenerator<string> {
  const stored = await storedBytes(kv)
  for await (const { key, value } of entriesOf<Counts>(kv, ['owned'])) {
    const [counted, there] = [value['bytes'] ?? 0, stored.get(key[1]!) ?? 0]
    if (counted > there) yield `${counted} bytes of data of user ${key[1]} are counted, and ${there} are there`
  }
}
