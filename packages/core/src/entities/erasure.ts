import { invalid } from '../invalid.js'
import type { Key, KV } from '../kv/kv.js'
import { entriesOf, update } from '../kv/kv.js'
import type { UsageRecord } from '../ledger/usage-record.js'
import { nextTurn } from '../helpers/microtask.js'
import type { Act, AuditEntry } from './audit.js'
import { audit } from './audit.js'
import { counting, growth, ownedKey } from './counts.js'
import { endUserId, firstIdOf, removeEndUserCounts } from './end-users.js'
import type { GatewayKey, GatewayKeys } from './gateway-keys.js'
import { emailKeys, erasedKey, isErased, userEntry } from './users.js'

/** An erasure that is under way, as stored under `erasure/<user id>`. */
type Erasure = {
  /** Milliseconds since the epoch. */
  since: number
}

/** Entries that one commit deletes. */
const PART = 100

const erasureKey = (userId: string): Key => ['erasure', userId]

/**
 * Removes the entry of a user who was deleted, and frees the e-mail: nobody finds the user from then on. What the user had is removed by those
 * who stored it, until {@link endErasure}.
 * @returns false if there never was such a user; true also where it was done before
 * @throws ApiError 400 for a user who is not deleted
 */
export async function beginErasure(kv: KV, id: string, act: Act = {}): Promise<boolean> {
  const { now = Date.now() } = act
  for (;;) {
    const entry = await userEntry(kv, id)
    if (!entry) return isErased(kv, id)
    const { key, version, value: user } = entry
    if (user.deleted_at === null) throw invalid('Only users who are deleted can be erased')
    const emails = user.email ? await kv.getMany<string>(emailKeys(user.email)) : []
    const begun = await kv.commit({
      check: [{ key, version }],
      del: [key, ...emails.flatMap((email) => (email?.value === id ? [email.key] : []))],
      set: [
        { key: erasedKey(id), value: true },
        { key: erasureKey(id), value: { since: now } satisfies Erasure },
        ...audit('user.erase', id, { ...act, now }),
      ],
    })
    if (begun) return true
  }
}

/** The users whose erasure is under way, and since when, in milliseconds since the epoch. */
export async function* erasures(kv: KV): AsyncGenerator<{ userId: string; since: number }> {
  for await (const { key, value } of entriesOf<Erasure>(kv, ['erasure'])) yield { userId: key[1]!, since: value.since }
}

export const endErasure = async (kv: KV, userId: string): Promise<void> =>
  void (await kv.commit({ del: [erasureKey(userId)] }))

/** Removes entries that are counted as a user's. @param others further keys to delete @param counts what is removed besides bytes, as negative numbers */
async function removeOwned(
  kv: KV,
  userId: string,
  gone: { key: Key; value: unknown }[],
  { others = [], counts = {} }: { others?: Key[]; counts?: Record<string, number> } = {},
): Promise<void> {
  for (;;) {
    const { check, sum } = await counting(kv, ownedKey(userId), { ...counts, ...growth([], gone) })
    if (await kv.commit({ check, del: [...gone.map(({ key }) => key), ...others], sum })) return
  }
}

/** Removes the gateway keys of a user, and their end users. */
export async function eraseKeys(kv: KV, keys: GatewayKeys, userId: string): Promise<void> {
  await keys.revokeAll(userId)
  const indexes = new Map<string, { key: Key; value: unknown }>()
  for await (const entry of entriesOf(kv, ['user-gwkeys', userId])) indexes.set(entry.key[2]!, entry)
  if (indexes.size === 0) return
  const hashes = new Map<string, { key: Key; value: string }>()
  for await (const entry of entriesOf<string>(kv, ['gwkey-hash']))
    if (indexes.has(entry.value)) hashes.set(entry.value, entry)
  for (const [id, index] of indexes) {
    const [stored, hash] = [await kv.get<GatewayKey>(['gwkey', id]), hashes.get(id)]
    const firstId = stored ? firstIdOf(stored.value) : id
    if (stored)
      for await (const { key } of entriesOf(kv, ['end-user', firstId]))
        await keys.endUsers.remove(stored.value, key[2]!)
    await removeOwned(kv, userId, [index, ...(hash ? [hash] : []), ...(stored ? [stored] : [])], {
      others: [
        ['end-users', firstId],
        ['last-used', 'key', id],
      ],
    })
  }
}

/** Removes the sessions of a user. */
export async function eraseSessions(kv: KV, userId: string): Promise<void> {
  for (;;) {
    const { items } = await kv.list(['user-sessions', userId], { limit: PART })
    if (items.length === 0) return
    const ids = items.map(({ key }) => key[2]!)
    const stored = (await kv.getMany(ids.map((id) => ['session', id]))).filter((entry) => entry !== null)
    await removeOwned(kv, userId, [...items, ...stored], {
      others: ids.map((id) => ['last-used', 'session', id]),
      counts: { sessions: -stored.length },
    })
    await nextTurn()
  }
}

/** A usage record without what its caller has written: the end user, and tags that name nothing which there was. */
function bare(whole: UsageRecord): UsageRecord {
  const { end_user: _, ...record } = whole
  const { session_id, conversation_id, task_id, project_id } = record
  return {
    ...record,
    session_id: record.in_session ? session_id : '',
    conversation_id: record.in_conversation ? conversation_id : '',
    task_id: record.in_task ? task_id : '',
    project_id: record.in_project ? project_id : '',
  }
}

/**
 * Removes from the usage records of a user what is not a figure, an id or a model, and what was counted for end users by requests that were running
 * when their key was removed. Other sums stay as they are.
 */
export async function eraseUsageTexts(kv: KV, userId: string): Promise<void> {
  for await (const { key, value } of entriesOf<UsageRecord[]>(kv, ['usage', userId])) {
    for (const { end_user: endUser } of value)
      if (endUser) await removeEndUserCounts(kv, endUserId({ key_id: endUser.key, id: endUser.id }))
    await update<UsageRecord[]>(kv, key, (records) => {
      const changed = records?.map(bare)
      return JSON.stringify(changed) === JSON.stringify(records) ? undefined : changed
    })
  }
}

/** Removes from the audit log the details of what was done to a user, and where the user signed in. The ids stay. */
export async function eraseAuditDetails(kv: KV, userId: string): Promise<void> {
  for await (const { key, version, value, expiresAt } of entriesOf<AuditEntry>(kv, ['audit'])) {
    const { detail, ...entry } = value
    const { actor, action, target } = entry
    if (detail === undefined || !(target === userId || (actor === userId && action.startsWith('sign-')))) continue
    const set = [{ key, value: entry, ...(expiresAt !== undefined && { expiresAt }) }]
    // Nobody else changes an entry, but for another erasure, which does the same.
    await kv.commit({ check: [{ key, version }], set })
  }
}

/** Deletes entries that nothing counts: those with these keys, and all that are below them. */
export async function eraseBelow(kv: KV, keys: Key[]): Promise<void> {
  await kv.commit({ del: keys })
  for (const prefix of keys)
    for (;;) {
      const { items } = await kv.list(prefix, { limit: PART })
      if (items.length === 0) break
      await kv.commit({ del: items.map(({ key }) => key) })
      await nextTurn()
    }
}
