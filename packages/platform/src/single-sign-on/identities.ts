import type { Commit, Entry, Key, KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import type { Vouched } from './provider.js'

/** A user whom a provider knows, as stored under `identity/<SHA-256 of issuer and subject>`. */
export type StoredIdentity = {
  user_id: string
  /** The id of the provider that it was linked by. */
  provider: string
  issuer: string
  subject: string
  linked_at: string
}

type Named = Pick<Vouched, 'issuer' | 'subject'>

const identityKey = async ({ issuer, subject }: Named): Promise<Key> => [
  'identity',
  await sha256(JSON.stringify([issuer, subject])),
]
const ofUser = (userId: string): Key => ['user-identities', userId]

/** Who a provider means; null where it is nobody yet. */
export const findIdentity = async (kv: KV, named: Named): Promise<Entry<StoredIdentity> | null> =>
  kv.get<StoredIdentity>(await identityKey(named))

/** The part of a commit that links a user: where the identity is somebody's meanwhile, there is no commit. */
export async function linking(
  value: StoredIdentity,
): Promise<{ check: NonNullable<Commit['check']>; set: NonNullable<Commit['set']> }> {
  const key = await identityKey(value)
  return {
    check: [{ key, version: null }],
    set: [
      { key, value },
      { key: [...ofUser(value.user_id), key[1]!], value: true },
    ],
  }
}

/** Whether a user has an identity of an issuer. */
export async function hasIdentityOf(kv: KV, userId: string, issuer: string): Promise<boolean> {
  for await (const { key } of entriesOf(kv, ofUser(userId)))
    if ((await kv.get<StoredIdentity>(['identity', key[2]!]))?.value.issuer === issuer) return true
  return false
}

/** Removes the identities of a user. */
export async function eraseIdentities(kv: KV, userId: string): Promise<void> {
  for await (const { key } of entriesOf(kv, ofUser(userId))) await kv.commit({ del: [['identity', key[2]!], key] })
}

/** Checks that identities are found by their users, and the other way round. */
export async function* verifyIdentities(kv: KV): AsyncGenerator<string> {
  for await (const { key, value } of entriesOf<StoredIdentity>(kv, ['identity'])) {
    const [user, index] = await kv.getMany([
      ['user', value.user_id],
      [...ofUser(value.user_id), key[1]!],
    ])
    if (!user) yield `An identity leads to user ${value.user_id}, who is not there`
    if (!index) yield `An identity of user ${value.user_id} is not found by the user`
  }
  for await (const { key } of entriesOf(kv, ['user-identities']))
    if ((await kv.get<StoredIdentity>(['identity', key[2]!]))?.value.user_id !== key[1])
      yield `User ${key[1]} is said to have an identity that is not there`
}
