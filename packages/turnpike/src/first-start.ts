/** What the first start makes: the administrator, and a gateway key of theirs. @module */
import { randomBytes } from 'node:crypto'
import type { GatewayKey, KV } from '@turnpike/core'
import { ApiError, getUser, StorageError } from '@turnpike/core'
import { isErased } from '@turnpike/core/internal'
import type { Gateway } from '@turnpike/gateway'
import type { Platform } from '@turnpike/platform'
import type { Config } from './config/schema.js'

/** Who makes them, for the audit log. */
const START = { by: 'server-start' }
/** The administrator that the first start makes. */
const ADMIN_ID = '00000000-0000-7000-8000-000000000001'
/** The name of the key that is given. */
const BOOTSTRAP = 'bootstrap'

/**
 * Makes the administrator and the first key where there are none, and prints a secret as soon as it is stored: if the start fails later, for
 * instance because the port is in use, it cannot be shown again.
 * @returns the key, if it was made without being given
 */
export async function firstStart(
  { kv, gateway, platform }: { kv: KV; gateway: Gateway; platform: Platform },
  { admin, platform: { passwords = true } }: Pick<Config, 'admin' | 'platform'>,
): Promise<string | undefined> {
  const { keys } = gateway
  const { key: ownKey, keyRateLimit: rateLimit } = admin
  let isFirst = false
  const found = await getUser(kv, ADMIN_ID, { deleted: true })
  if (found ? found.deleted_at !== null : await isErased(kv, ADMIN_ID)) {
    if (ownKey !== undefined)
      console.error('BOOTSTRAP_GATEWAY_KEY makes no key: its owner, the first administrator, was deleted')
    return undefined
  }
  if (!found) {
    const { password: ownPassword, email = passwords ? 'admin@localhost' : undefined } = admin
    const password = ownPassword ?? randomBytes(12).toString('base64url')
    const fields = { id: ADMIN_ID, role: 'admin', name: 'Administrator' } as const
    const given = { ...fields, ...(email !== undefined && { email }), ...(passwords && { password }) }
    try {
      await platform.operations.users.create(given, START)
      isFirst = true
      if (!passwords)
        console.log(
          email === undefined
            ? 'No administrator can sign in yet: a role claim makes one, or npm run -s users -- add EMAIL --role admin\n'
            : `The administrator signs in at an identity provider that has verified the e-mail\n  ${email}\n`,
        )
      else if (ownPassword === undefined)
        console.log(`The administrator, whose password is shown this once:\n  ${email}  ${password}\n`)
    } catch (error) {
      // Another process that shares the store may have been faster.
      if (!(await getUser(kv, ADMIN_ID)))
        throw new Error(`The first administrator, ${email}, cannot be made: ${(error as Error).message}`, {
          cause: error,
        })
      if (StorageError.is(error) && ownPassword === undefined)
        console.error(
          `The administrator, ${email}, was stored, but not in time to be sure of the password: npm run -s users -- password ${email} sets another`,
        )
    }
  }
  if (ownKey === undefined) {
    if (!isFirst) return undefined
    const first = await keys.create(ADMIN_ID, { name: 'first start', rateLimit }, START)
    console.log(`Your gateway key, shown this once:\n  ${first.key}\n`)
    return first.key
  }
  // An earlier start may have made it, or another process beside this one. Where it was revoked, it stays so.
  await keys.create(ADMIN_ID, { name: BOOTSTRAP, rateLimit, key: ownKey }, START).catch((error: unknown) => {
    if (!ApiError.is(error) || error.status !== 400) throw error
  })
  const holder = await keys.verify(ownKey)
  if (!holder) return undefined
  if (holder.key.rate_limit !== rateLimit) await keys.update(holder.key.id, { rateLimit }, START)
  await revokeBefore(gateway, holder.key)
  return undefined
}

/** Revokes what `BOOTSTRAP_GATEWAY_KEY` was before, which may have leaked. */
async function revokeBefore({ keys }: Gateway, current: GatewayKey): Promise<void> {
  for (let after: string | undefined; ;) {
    const { items, next } = await keys.list(ADMIN_ID, { ...(after !== undefined && { after }) })
    for (const { id, name, revoked, created_at } of items)
      if (name === BOOTSTRAP && !revoked && created_at < current.created_at) await keys.revoke(id, START)
    if (next === undefined) return
    after = next
  }
}
