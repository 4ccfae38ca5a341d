import type {
  GatewayKey,
  GatewayKeys,
  KV,
  PageOptions,
  UsageEntry,
  UsageLedger,
  UsageRecord,
  User,
} from '@turnpike/core'
import { deleteUser, getUser, listUsers, ROLES, toUsd, UserUsage } from '@turnpike/core'
import { Budget, budgetOf, Email, invalid, MAX_PAGE_SIZE, NewBudget, newUser, UserName } from '@turnpike/core/internal'
import { asksForPage, jsonList, Paging } from '@turnpike/http'
import * as v from 'valibot'
import type { callCounter, Caller } from '../caller.js'
import { actorOf, hasUser, isAdmin, isOfGateway } from '../caller.js'
import { notFound } from '../errors.js'
import { operation } from '../operation.js'

const role = v.picklist(ROLES)

/** The gateway's own user record. */
export const GatewayUser = v.object({
  id: v.string(),
  name: v.string(),
  email: v.nullable(v.string()),
  role,
  /** Maximum cost of the user's requests; absent = no limit. */
  budget: v.optional(Budget),
  created_at: v.string(),
})

export const GatewayUserList = v.object({
  object: v.literal('list'),
  data: v.array(GatewayUser),
  /** The `after` of the next page; only in a page that is not the last. */
  next: v.optional(v.string()),
})

/** The body of POST /v1/users. All fields are optional. */
export const NewUser = v.strictObject({
  // Not "." or "..", which clients remove from a path. Without lookahead, which not every engine has that reads the OpenAPI document.
  id: v.nullish(
    v.pipe(
      v.string(),
      v.maxLength(128),
      v.regex(
        /^(?:\.{0,2}[\w:@-][\w.:@-]*|\.{3}[\w.:@-]*)$/,
        'Expected 1 to 128 letters, digits, or one of _.:@-, other than "." and ".."',
      ),
    ),
  ),
  name: v.nullish(UserName),
  email: v.nullish(Email),
  role: v.nullish(role),
  budget: v.nullish(NewBudget),
})

const params = v.object({ id: v.string() })

const view = ({ id, name, email, role, budget, created_at }: User): v.InferOutput<typeof GatewayUser> => ({
  id,
  name,
  email,
  role,
  ...(budget && { budget }),
  created_at,
})

/** Reads a user: the caller's own, or any for administrators. @throws ApiError 404, also for users that the caller may not see */
async function visible(kv: KV, caller: Caller, id: string): Promise<User> {
  const own = hasUser(caller) && caller.user.id === id
  const user = own || isAdmin(caller) ? await getUser(kv, id) : null
  if (!user) throw notFound('user')
  return user
}

/** The key of a caller that is for the end users of an application, which may be in many hands: it reads its own records, and no user. */
const applicationKeyOf = (caller: Caller): GatewayKey | undefined =>
  hasUser(caller) && caller.key?.end_users ? caller.key : undefined

/** GET /v1/users */
export const usersList = (kv: KV) =>
  operation({
    id: 'users.list',
    summary: 'Lists the users, newest first.',
    access: 'admin',
    query: Paging,
    output: GatewayUserList,
    async run(_, { query }) {
      const read = async (page: PageOptions) => {
        const { items, next } = await listUsers(kv, page)
        return { items: items.map(view), next }
      }
      if (!asksForPage(query)) return jsonList({ object: 'list' }, 'data', read)
      const { items, next } = await read(query)
      return { object: 'list', data: items, next }
    },
  })

/** POST /v1/users */
export const usersCreate = (kv: KV, now: () => number) =>
  operation({
    id: 'users.create',
    summary: 'Makes a user.',
    access: 'admin',
    body: NewUser,
    example: { name: 'Ada' },
    output: GatewayUser,
    async run(caller, { body }) {
      const { id, name, email, role, budget } = body
      const user = await newUser(
        kv,
        {
          ...(id != null && { id }),
          ...(name != null && { name }),
          email: email ?? null,
          ...(role && { role }),
          ...(budget && { budget: budgetOf(budget) }),
        },
        { by: actorOf(caller), now: now(), ofGateway: isOfGateway(caller) },
      )
      if (!user) throw invalid('The id or the e-mail is taken')
      return view(user)
    },
  })

/** GET /v1/users/{id} */
export const usersGet = (kv: KV) =>
  operation({
    id: 'users.get',
    summary: 'Tells of one user.',
    access: 'self',
    errors: [404],
    params,
    output: GatewayUser,
    async run(caller, { params: { id } }) {
      if (applicationKeyOf(caller)) throw notFound('user')
      return view(await visible(kv, caller, id))
    },
  })

/** DELETE /v1/users/{id}: soft: the keys are revoked, reads are 404, usage records remain. */
export const usersDelete = (kv: KV, keys: GatewayKeys, now: () => number) =>
  operation({
    id: 'users.delete',
    summary: 'Deletes a user and revokes their keys; usage records are kept.',
    access: 'admin',
    errors: [400, 404],
    params,
    async run(caller, { params: { id } }) {
      const act = { by: actorOf(caller), now: now() }
      if (!(await deleteUser(kv, id, act))) throw notFound('user')
      await keys.revokeAll(id, act)
    },
  })

/** The public form of a usage record, field by field, so that a new field of the ledger is not told by itself. */
const entry = (record: UsageRecord): UsageEntry => ({
  session_id: record.session_id,
  model: record.model,
  provider: record.provider,
  tokens: record.tokens,
  prompt_tokens: record.prompt_tokens,
  completion_tokens: record.completion_tokens,
  cost_usd: toUsd(record.cost_nano_usd ?? 0),
  priced: record.cost_nano_usd !== null,
  timestamp: record.timestamp,
  request_id: record.request_id,
  key_id: record.key_id,
  ...(record.end_user && { end_user: record.end_user.id }),
  conversation_id: record.conversation_id,
  task_id: record.task_id,
  project_id: record.project_id,
  task: record.task,
  outcome: record.outcome,
  accuracy: record.accuracy,
  service_tier: record.service_tier,
  units: record.units,
  rates: record.rates,
  catalogue: record.catalogue,
  attempts: record.attempts,
  latency_ms: record.latency_ms,
  first_token_ms: record.first_token_ms,
})

/**
 * GET /v1/users/{id}/usage: all records, or with `limit` or `after` a page of them. All of them count as the requests that their largest pages would
 * be, but at most as half of what the key may make a minute, so that they can be read.
 */
export const usersUsage = (kv: KV, ledger: UsageLedger, countCalls: ReturnType<typeof callCounter>) =>
  operation({
    id: 'users.usage',
    summary: 'Sums up what a user has used, and lists it, newest first.',
    access: 'self',
    params,
    query: Paging,
    output: UserUsage,
    errors: [404],
    async run(caller, { params, query }, { setHeader }) {
      const { id } = await visible(kv, caller, params.id)
      const key = applicationKeyOf(caller)
      const recordsOf = async (page: PageOptions) => {
        const { items, next } = await ledger.records(id, page)
        return { items: key ? items.filter(({ key_id }) => key_id === key.id) : items, next }
      }
      if (asksForPage(query)) {
        const { tokens, cost_nano_usd } = await (key ? ledger.totals('key', key.id) : ledger.totals('user', id))
        const { items, next } = await recordsOf(query)
        return {
          user_id: id,
          total_tokens: tokens,
          total_cost: toUsd(cost_nano_usd),
          records: items.map(entry),
          next,
        }
      }
      if (hasUser(caller) && caller.key) {
        const { requests } = await ledger.totals('user', id)
        const calls = Math.min(Math.ceil(requests / MAX_PAGE_SIZE), Math.ceil(caller.key.rate_limit / 2))
        if (calls > 1) await countCalls(caller, calls, setHeader, `one for each ${MAX_PAGE_SIZE} records`)
      }
      // Summed from the list: the ledger's totals could include requests that end meanwhile, which the list lacks.
      let total_tokens = 0
      let nano = 0
      const read = async (page: PageOptions) => {
        const { items, next } = await recordsOf(page)
        for (const { tokens, cost_nano_usd } of items) {
          total_tokens += tokens
          nano += cost_nano_usd ?? 0
        }
        return { items: items.map(entry), next }
      }
      return jsonList({ user_id: id }, 'records', read, () => ({ total_tokens, total_cost: toUsd(nano) }))
    },
  })
