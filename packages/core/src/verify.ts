import type { GatewayKey } from './entities/gateway-keys.js'
import type { User } from './entities/users.js'
import { countUsers, emailKeys, userIdOf } from './entities/users.js'
import type { KV } from './kv/kv.js'
import { entriesOf } from './kv/kv.js'
import { addHoursBefore, firstHour } from './ledger/expire-records.js'
import type { Hold } from './ledger/holds.js'
import { addHeld } from './ledger/holds.js'
import type { Fields } from './ledger/totals.js'
import { add, addUsage, hourOf, Sums } from './ledger/totals.js'
import type { UsageRecord } from './ledger/usage-record.js'

/** Checks that the e-mail index and the users agree, and that the count of users is right. */
async function* verifyUsers(kv: KV): AsyncGenerator<string> {
  for await (const { key, value: id } of entriesOf<string>(kv, ['email'])) {
    const user = (await kv.get<User>(['user', id]))?.value
    if (!emailKeys(user?.email ?? '').some(([, email]) => email === key[1]))
      yield `The e-mail of user ${id} is not that of its entry`
  }
  let live = 0
  for await (const { key, value } of entriesOf<User>(kv, ['user'])) {
    const { id, email, deleted_at } = value
    if (id !== key[1]) yield `User ${key[1]} has the id ${id}`
    if (deleted_at === null) live++
    if (email !== null && (await userIdOf(kv, email)) !== id) yield `User ${id} is not found by e-mail`
  }
  const counted = await countUsers(kv)
  if (counted !== live) yield `${counted} users are counted, and ${live} live`
}

/** Checks that the hash index and the keys agree. */
async function* verifyHashes(kv: KV): AsyncGenerator<string> {
  const byHash = new Set<string>()
  for await (const { value: id } of entriesOf<string>(kv, ['gwkey-hash'])) {
    byHash.add(id)
    if (!(await kv.get(['gwkey', id]))) yield `A hash leads to key ${id}, which is not there`
  }
  for await (const { key } of entriesOf(kv, ['gwkey'])) {
    const id = key[1]!
    if (!byHash.has(id)) yield `Key ${id} is not found by its hash`
  }
}

/** Checks that the entities which users own and the index of their owners agree. */
export async function* verifyOwned(kv: KV, name: string, kind: string, index: string): AsyncGenerator<string> {
  for await (const { key, value } of entriesOf<{ user_id: string }>(kv, [kind])) {
    const [id, user] = [key[1]!, value.user_id]
    const [owner, erasure, entry] = await kv.getMany([
      ['user', user],
      ['erasure', user],
      [index, user, id],
    ])
    if (!owner && !erasure) yield `${name} ${id} is of user ${user}, who is not there`
    if (!entry) yield `${name} ${id} is not found by its user`
  }
  for await (const { key } of entriesOf(kv, [index])) {
    const [, user, id] = key as [string, string, string]
    const owned = (await kv.get<{ user_id: string }>([kind, id]))?.value
    if (owned?.user_id !== user) yield `User ${user} is led to ${name.toLowerCase()} ${id}, which is not theirs`
  }
}

/** Checks that the keys and sessions of users are counted right, as far as they are counted. */
async function* verifyCounts(kv: KV): AsyncGenerator<string> {
  const found = { keys: new Map<string, number>(), sessions: new Map<string, number>() }
  const count = (users: Map<string, number>, id: string) => users.set(id, (users.get(id) ?? 0) + 1)
  for await (const { value } of entriesOf<GatewayKey>(kv, ['gwkey']))
    if (!value.revoked) count(found.keys, value.user_id)
  for await (const { value } of entriesOf<{ user_id: string }>(kv, ['session'])) count(found.sessions, value.user_id)
  for await (const { key, value } of entriesOf<Fields>(kv, ['owned']))
    for (const [kind, users] of Object.entries(found)) {
      const [counted, there] = [value[kind], users.get(key[1]!) ?? 0]
      if (counted !== undefined && counted !== there)
        yield `${counted} ${kind} of user ${key[1]} are counted, and ${there} are there`
    }
}

/** Checks that the counters below `name` equal `sums` in the fields that are `counted`. */
async function* verifySums(
  kv: KV,
  name: string,
  sums: Sums,
  counted: (field: string) => boolean,
): AsyncGenerator<string> {
  for await (const { key, value } of entriesOf<Fields>(kv, [name]))
    for (const [field, stored] of Object.entries(value)) if (counted(field)) add(sums.of(key), field, -stored)
  for (const { key, add: off } of sums.all())
    for (const [field, difference] of Object.entries(off))
      if (key[0] === name && difference !== 0)
        yield `${field} of ${key.join(' ')} is ${Math.abs(difference)} ${difference > 0 ? 'less' : 'more'} than what it sums`
}

/**
 * Checks that the usage totals are the sums of their records, and the held amounts of limits the sums of their holds. Where records were removed,
 * the sums of their hours stand for them.
 */
async function* verifyUsage(kv: KV): AsyncGenerator<string> {
  const usage = new Sums()
  const first = await firstHour(kv)
  const isCounted = ({ timestamp }: UsageRecord): boolean => hourOf(timestamp) >= first
  for await (const { key, value } of entriesOf<UsageRecord[]>(kv, ['usage']))
    // Records have a user in their key; the entry that tests whether the store is writable has none.
    if (key.length === 3) addUsage(usage, value.filter(isCounted), [])
  if (first !== '') await addHoursBefore(kv, usage, first)
  for await (const { value } of entriesOf<Hold>(kv, ['hold'])) addHeld(usage, value)
  // Failed calls leave no record.
  for (const name of ['usage-total', 'usage-hour', 'usage-part'])
    yield* verifySums(kv, name, usage, (field) => !field.startsWith('failed_'))
  yield* verifySums(kv, 'budget', usage, (field) => field.startsWith('held_'))
}

/**
 * Reads a whole store and checks redundant data: indexes against their entities, totals against their records.
 * No commit may happen meanwhile. @returns one sentence per inconsistency; the iteration rejects if a value is corrupt
 * @example for await (const problem of verifyStore(kv)) console.error(problem)
 */
export async function* verifyStore(kv: KV): AsyncGenerator<string> {
  yield* verifyUsers(kv)
  yield* verifyHashes(kv)
  yield* verifyOwned(kv, 'Key', 'gwkey', 'user-gwkeys')
  yield* verifyOwned(kv, 'Session', 'session', 'user-sessions')
  yield* verifyCounts(kv)
  yield* verifyUsage(kv)
}
