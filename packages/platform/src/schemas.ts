import { EMAIL } from '@turnpike/core'
import * as v from 'valibot'

/** Schemas of spec.md, "Resources and their fields", and of the bodies that it does not show. */

const id = v.pipe(v.string(), v.uuid())
const count = v.pipe(v.number(), v.integer())
const time = v.pipe(v.string(), v.isoTimestamp())
const nullableTime = v.nullable(time)

/** The three roles. */
export const Role = v.picklist(['user', 'developer', 'admin'])

export const Email = v.pipe(v.string(), v.maxLength(254), v.regex(EMAIL, 'expected an e-mail address'))

/** spec.md, "User (platform)". Ids of users that the gateway's administrators made may be no UUIDs, and their e-mail is '' where they have none. */
export const User = v.object({
  id: v.string(),
  email: v.string(),
  first_name: v.string(),
  last_name: v.string(),
  username: v.string(),
  role: Role,
  provider: v.string(),
  deleted_at: nullableTime,
  created_at: time,
})

/** spec.md, "UserBalance". */
export const UserBalance = v.object({
  id: v.nullable(id),
  user_id: v.string(),
  credit_coins: count,
  storage_gb: count,
  extra_projects: count,
  extra_agents: count,
  created_at: nullableTime,
  updated_at: nullableTime,
})

/** Not in spec.md: what a user may have, "beyond the plan default"; null = any number. */
export const AccountLimits = v.object({
  projects: v.nullable(count),
  agents: v.nullable(count),
  storage_gb: v.number(),
})

const sessionUser = v.object({
  id: v.string(),
  email: v.nullable(v.string()),
  metadata: v.record(v.string(), v.unknown()),
})

const access = {
  access_token: v.string(),
  token_type: v.literal('bearer'),
  expires_in: count,
  expires_at: v.nullable(count),
  user: sessionUser,
}

/** spec.md, "AuthSession". */
export const AuthSession = v.object({ ...access, refresh_token: v.string() })

/** What a browser gets (ruling 46): an AuthSession without the refresh token, which its cookie stands for. */
export const BrowserSession = v.object(access)

/** spec.md, "Session (gateway session tracking)". */
export const Session = v.object({
  id,
  user_id: v.string(),
  label: v.nullable(v.string()),
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  request_count: count,
  cost_usd: v.number(),
  metadata: v.nullable(v.record(v.string(), v.unknown())),
  expires_at: nullableTime,
  created_at: time,
  updated_at: time,
})

/** spec.md, "GatewayKey". `key` is shown once, when it is created; the time of the last use in lists. */
export const GatewayKey = v.object({
  id,
  name: v.string(),
  key: v.optional(v.string()),
  rate_limit: count,
  revoked: v.boolean(),
  created_at: time,
  last_used_at: v.optional(nullableTime),
})

const usage = {
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  cost_usd: v.number(),
}

/** spec.md, "Gateway usage statistics under the keys group: not shown": sums of the caller's keys, and of each. */
export const KeysUsage = v.object({
  ...usage,
  /** Newest first. */
  keys: v.array(v.object({ id, name: v.string(), ...usage })),
})
