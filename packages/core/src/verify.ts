import type { User } from './entities/users.js'
import { countUsers } from './entities/users.js'
import type { KV } from './kv/kv.js'
import { entriesOf } from './kv/kv.js'
import type { Hold } from './ledger/holds.js'
import { addHeld } from './ledger/holds.js'
import type { Fields } from './ledger/totals.js'
import { add, addUsage, Sums } from './ledger/totals.js'
import type { UsageRecord } from './ledger/usage-record.js'

/** Whether each e-mail leads to its user, each user's e-mail to that user, and all that live are counted. */
async function* verifyUsers(kv: KV): AsyncGenerator<string> {
  for await (const { key, value: id } of entriesOf<string>(kv, ['email'])) {
    const user = (await kv.get<User>(['user', id]))?.value
    if (user?.email?.toLowerCase() !== key[1]) yield `The e-mail of user ${id} is not that of its entry`
  }
  let live = 0
  for await (const { key, value } of entriesOf<User>(kv, ['user'])) {
    const { id, email, deleted_at } = value
    if (id !== key[1]) yield `User ${key[1]} has the id ${id}`
    if (deleted_at === null) live++
    if (email !== null && (await kv.get<string>(['email', email.toLowerCase()]))?.value !== id)
      yield `User ${id} is not found by e-mail`
  }
  const counted = await countUsers(kv)
  if (counted !== live) yield `${counted} users are counted, and ${live} live`
}

/** Whether each key is found by its hash. */
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

/** Whether each of what users own is found by its owner, and nothing else is. */
async function* verifyOwned(kv: KV, name: string, kind: string, index: string): AsyncGenerator<string> {
  for await (const { key, value } of entriesOf<{ user_id: string }>(kv, [kind])) {
    const [id, user] = [key[1]!, value.user_id]
    const [owner, entry] = await kv.getMany([
      ['user', user],
      [index, user, id],
    ])
    if (!owner) yield `${name} ${id} is of user ${user}, who is not there`
    if (!entry) yield `${name} ${id} is not found by its user`
  }
  for await (const { key } of entriesOf(kv, [index])) {
    const [, user, id] = key as [string, string, string]
    const owned = (await kv.get<{ user_id: string }>([kind, id]))?.value
    if (owned?.user_id !== user) yield `User ${user} is led to ${name.toLowerCase()} ${id}, which is not theirs`
  }
}

/** Whether the counters below `name` hold what `sums` say, in the fields that are `counted`. */
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

/** Whether all totals are the sums of the records that they are of, and budgets hold what holds hold. */
async function* verifyUsage(kv: KV): AsyncGenerator<string> {
  const usage = new Sums()
  for await (const { key, value } of entriesOf<UsageRecord[]>(kv, ['usage']))
    // A flush has a user; what is there to see whether the store can be written has none.
    if (key.length === 3) addUsage(usage, value, [])
  // Failed calls leave no record.
  for (const name of ['usage-total', 'usage-hour'])
    yield* verifySums(kv, name, usage, (field) => !field.startsWith('failed_'))
  const held = new Sums()
  for await (const { value } of entriesOf<Hold>(kv, ['hold'])) addHeld(held, [value])
  yield* verifySums(kv, 'budget', held, (field) => field.startsWith('held_'))
}

/**
 * Reads a store and compares what is kept twice: indexes with what they lead to, totals with the records that they sum.
 * No commit may happen meanwhile. @returns a sentence for each thing that is wrong; reading rejects where a value is corrupt
 */
export async function* verifyStore(kv: KV): AsyncGenerator<string> {
  yield* verifyUsers(kv)
  yield* verifyHashes(kv)
  yield* verifyOwned(kv, 'Key', 'gwkey', 'user-gwkeys')
  yield* verifyOwned(kv, 'Session', 'session', 'user-sessions')
  yield* verifyUsage(kv)
}
