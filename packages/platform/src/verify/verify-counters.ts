import type { KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'

type Fields = Record<string, number>

/**
 * Compares the counters of users with what they count.
 * @param counter the first segment of their keys, such as `file-space`; the second is the user
 * @param counted what is counted: fields of a user, to be added up
 * @returns the users whose counter differs, and by how much
 */
export async function* miscounted(
  kv: KV,
  counter: string,
  counted: AsyncIterable<[userId: string, fields: Fields]> | Iterable<[userId: string, fields: Fields]>,
): AsyncGenerator<[userId: string, difference: Fields]> {
  const left = new Map<string, Fields>()
  const add = (userId: string, fields: Fields, sign: 1 | -1): void => {
    const sums = left.get(userId) ?? {}
    for (const [name, value] of Object.entries(fields)) sums[name] = (sums[name] ?? 0) + sign * value
    left.set(userId, sums)
  }
  for await (const [userId, fields] of counted) add(userId, fields, 1)
  for await (const { key, value } of entriesOf<Fields>(kv, [counter])) add(key[1]!, value, -1)
  for (const [userId, fields] of left) if (Object.values(fields).some((value) => value !== 0)) yield [userId, fields]
}
