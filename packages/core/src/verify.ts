import type { GatewayKey } from './entities/gateway-keys.js'
import type { User } from './entities/users.js'
import type { KV } from './kv/kv.js'
import { entriesOf } from './kv/kv.js'
import type { UsageRecord } from './usage-ledger.js'
import { sumOf, usageLedger } from './usage-ledger.js'

/** Whether each e-mail leads to its user, and each user's e-mail to that user. */
async function* verifyUsers(kv: KV): AsyncGenerator<string> {
  for await (const { key, value: id } of entriesOf<string>(kv, ['email'])) {
    const user = (await kv.get<User>(['user', id]))?.value
    if (user?.email?.toLowerCase() !== key[1]) yield `The e-mail of user ${id} is not that of its entry`
  }
  for await (const { key, value } of entriesOf<User>(kv, ['user'])) {
    const { id, email, deleted_at } = value
    if (id !== key[1]) yield `User ${key[1]} has the id ${id}`
    if (email === null || deleted_at !== null) continue
    if ((await kv.get<string>(['email', email.toLowerCase()]))?.value !== id) yield `User ${id} is not found by e-mail`
  }
}

/** Whether each key is found by its hash and by its owner, and nothing else is. */
async function* verifyKeys(kv: KV): AsyncGenerator<string> {
  const byHash = new Set<string>()
  for await (const { value: id } of entriesOf<string>(kv, ['gwkey-hash'])) {
    byHash.add(id)
    if (!(await kv.get(['gwkey', id]))) yield `A hash leads to key ${id}, which is not there`
  }
  for await (const { value } of entriesOf<GatewayKey>(kv, ['gwkey'])) {
    const { id, user_id } = value
    if (!byHash.has(id)) yield `Key ${id} is not found by its hash`
    const [user, index] = await kv.getMany([
      ['user', user_id],
      ['user-gwkeys', user_id, id],
    ])
    if (!user) yield `Key ${id} is of user ${user_id}, who is not there`
    if (!index) yield `Key ${id} is not found by its user`
  }
}

/** Whether each user's totals are the sums of their records. */
async function* verifyUsage(kv: KV): AsyncGenerator<string> {
  const ledger = usageLedger(kv)
  let sums = sumOf([])
  const names = Object.keys(sums) as (keyof typeof sums)[]
  const compare = async function* (user: string): AsyncGenerator<string> {
    const totals = await ledger.totals(user)
    for (const name of names)
      if (totals[name] !== sums[name])
        yield `The total of ${name} of user ${user} is ${totals[name]}, its records add up to ${sums[name]}`
    sums = sumOf([])
  }
  let user: string | undefined
  for await (const { key, value } of entriesOf<UsageRecord[]>(kv, ['usage'])) {
    const [, of, flush] = key
    if (flush === undefined) continue
    if (user !== undefined && of !== user) yield* compare(user)
    user = of
    const more = sumOf(value)
    for (const name of names) sums[name] += more[name]
  }
  if (user !== undefined) yield* compare(user)
  for await (const { key } of entriesOf(kv, ['usage-total'])) {
    const { items } = await kv.list(['usage', key[1]!], { limit: 1 })
    if (items.length === 0) yield `User ${key[1]} has totals and no records`
  }
}

/**
 * Reads a store and compares what is kept twice: indexes with what they lead to, totals with the records that they sum.
 * No commit may happen meanwhile. @returns a sentence for each thing that is wrong; reading rejects where a value is corrupt
 */
export async function* verifyStore(kv: KV): AsyncGenerator<string> {
  yield* verifyUsers(kv)
  yield* verifyKeys(kv)
  yield* verifyUsage(kv)
}
