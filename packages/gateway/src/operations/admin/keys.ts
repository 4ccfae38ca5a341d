import type { GatewayKeys, KV, UsageLedger } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import { Budget, budgetUsed, keyBudget, userEntries } from '@turnpike/core/internal'
import { Paging } from '@turnpike/http'
import * as v from 'valibot'
import { actorOf } from '../../caller.js'
import { notFound } from '../../errors.js'
import { operation } from '../../operation.js'

/** A page of the gateway keys of all users, without their values. */
export const KeyList = v.object({
  /** Newest first, including revoked ones. */
  data: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      /** The owner. */
      user_id: v.string(),
      /** The owner's name or e-mail; null where there is none. */
      user: v.nullable(v.string()),
      /** Requests per minute. */
      rate_limit: v.number(),
      /** Tokens per minute; absent = any number. */
      token_limit: v.optional(v.number()),
      revoked: v.boolean(),
      /** Whether the key is refused because its owner is no developer any more; absent = it is not. */
      suspended: v.optional(v.literal(true)),
      /** When the key expires; absent = never. */
      expires_at: v.optional(v.string()),
      /** When the key was rotated; it then expires after the overlap. Absent = not rotated. */
      rotated_at: v.optional(v.string()),
      /** The allowed models, each as an id, as `provider/id` or as the name of a group; absent = all. */
      models: v.optional(v.array(v.string())),
      /** Limit on the cost of its requests; absent = none. */
      budget: v.optional(Budget),
      /** What was spent of it, in its day or month; absent where there is none. */
      budget_used_usd: v.optional(v.number()),
      /** What its end users may have; absent = they are not told apart. */
      end_users: v.optional(
        v.object({
          required: v.optional(v.literal(true)),
          budget: v.optional(Budget),
          rate_limit: v.optional(v.number()),
        }),
      ),
      /** The last four characters of its value; absent where it was made before they were kept. */
      key_end: v.optional(v.string()),
      created_at: v.string(),
      /** Null = never. */
      last_used_at: v.nullable(v.string()),
    }),
  ),
  /** The `after` of the next page; absent on the last one. */
  next: v.optional(v.string()),
})
export type KeyList = v.InferOutput<typeof KeyList>

/** GET /admin/keys */
export const adminKeys = (kv: KV, keys: GatewayKeys, ledger: UsageLedger) =>
  operation({
    id: 'admin.keys',
    summary: 'Lists the gateway keys of all users, newest first, without their values.',
    access: 'admin',
    query: Paging,
    output: KeyList,
    async run(_, { query }) {
      const { items, next } = await keys.list(null, query)
      const [owners, used] = await Promise.all([
        userEntries(
          kv,
          items.map(({ user_id }) => user_id),
        ),
        budgetUsed(ledger, items.map(keyBudget)),
      ])
      const data = items.map((item, i) => {
        const { first_id: _, ...key } = item
        const { name, email, keys_suspended } = owners[i]?.value ?? {}
        return { ...key, ...used[i], user: name || email || null, ...(keys_suspended && { suspended: true }) }
      })
      return { data, next }
    },
  })

/** DELETE /admin/keys/{id} */
export const adminKeysRevoke = (keys: GatewayKeys, now: () => number) =>
  operation({
    id: 'admin.keys.revoke',
    summary: 'Revokes a gateway key of any user; it stays in the list.',
    access: 'admin',
    params: v.object({ id: v.string() }),
    errors: [404],
    async run(caller, { params: { id } }) {
      if (!isUuid(id) || !(await keys.revoke(id, { by: actorOf(caller), now: now() }))) throw notFound('key')
    },
  })
