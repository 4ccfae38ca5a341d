import type { KV, UsageLedger } from '@turnpike/core'
import { countUsers, listAudit, listUsers } from '@turnpike/core'
import { lastUsed } from '@turnpike/core/internal'
import { Paging } from '@turnpike/http'
import * as v from 'valibot'
import { GatewayUser } from '../users.js'
import { operation } from '../../operation.js'
import { totals, viewOf } from './usage.js'

/** The answer of GET /admin/users/summary. */
export const UsersSummary = v.object({
  /** Number of users. */
  users: v.number(),
  /** Totals of all usage ever, including that of deleted users. */
  ...totals,
  /** Newest first. */
  data: v.array(
    v.object({
      ...v.omit(GatewayUser, ['budget']).entries,
      ...totals,
      /** When the user's last request began; null where none is known. */
      last_used_at: v.nullable(v.string()),
    }),
  ),
  /** The `after` of the next page; absent on the last one. */
  next: v.optional(v.string()),
})
export type UsersSummary = v.InferOutput<typeof UsersSummary>

/** GET /admin/users/summary: from stored totals, so that its cost does not depend on the number of users and records. */
export const adminUsersSummary = (kv: KV, ledger: UsageLedger) =>
  operation({
    id: 'admin.users.summary',
    summary: 'Sums up what all users have used, and what each has.',
    access: 'admin',
    query: Paging,
    output: UsersSummary,
    async run(_, { query }): Promise<UsersSummary> {
      const [users, all, { items, next }] = await Promise.all([
        countUsers(kv),
        ledger.totals('all', ''),
        listUsers(kv, query),
      ])
      const ids = items.map(({ id }) => id)
      const [each, uses] = await Promise.all([ledger.totalsOfMany('user', ids), lastUsed(kv, 'user', ids)])
      return {
        users,
        ...viewOf(all),
        data: items.map(({ id, name, email, role, created_at }, i) => ({
          id,
          name,
          email,
          role,
          created_at,
          ...viewOf(each[i]!),
          last_used_at: uses[i]!,
        })),
        next,
      }
    },
  })

/** A page of the audit log: what administrators and users did, and failed sign-ins. */
export const AuditLog = v.object({
  /** Newest first. */
  data: v.array(
    v.object({
      id: v.string(),
      /** The id of a user, or the name of another credential, such as `admin-token`. */
      actor: v.string(),
      /** Such as `user.create`. */
      action: v.string(),
      /** The id of the object of the action. */
      target: v.string(),
      timestamp: v.string(),
      /** What else is known, such as the address of a sign-in or a new role. */
      detail: v.optional(v.string()),
    }),
  ),
  /** The `after` of the next page; absent on the last one. */
  next: v.optional(v.string()),
})
export type AuditLog = v.InferOutput<typeof AuditLog>

/** GET /admin/audit */
export const adminAudit = (kv: KV) =>
  operation({
    id: 'admin.audit',
    summary: 'Lists what administrators did, and sign-ins.',
    access: 'admin',
    query: Paging,
    output: AuditLog,
    async run(_, { query }): Promise<AuditLog> {
      const { items, next } = await listAudit(kv, query)
      return { data: items, next }
    },
  })
