/** What bodies say of gateway keys. @module */
import type { EndUserRules, KeyChange } from '@turnpike/core'
import { budgetOf, NewBudget } from '@turnpike/core/internal'
import * as v from 'valibot'
import { defined } from '../given-fields.js'
import { TokenLimit, wellFormed } from '../schemas.js'
import { dateOf, Time } from '../time.js'

/** What a key or a token is called. */
export const name = v.pipe(v.string(), v.regex(/\S/, 'must not be blank'), v.maxLength(200), wellFormed)
/** Requests per minute of a key or an end user in a body. */
export const RateLimit = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000))

/** Limits that a key may have or not. */
const limits = {
  /** Tokens of prompts and completions per minute; default any number. */
  tokenLimit: v.nullish(TokenLimit),
  /** The allowed models, each as an id, as `provider/id` or as the name of a group; default all. */
  models: v.nullish(
    v.pipe(v.array(v.pipe(v.string(), v.nonEmpty(), v.maxLength(200))), v.nonEmpty(), v.maxLength(100)),
  ),
  /** Limit on the cost of its requests; default none. */
  budget: v.nullish(NewBudget),
  /** What its end users may have each, whom requests name by `user`; default they are not told apart. */
  endUsers: v.nullish(
    v.strictObject({
      required: v.nullish(v.boolean()),
      budget: v.nullish(NewBudget),
      rate_limit: v.nullish(RateLimit),
    }),
  ),
  /** Default never. */
  expiresAt: v.nullish(Time),
}

/** The body of POST /api/keys. */
export const NewKey = v.object({
  name,
  /** Requests per minute; default 60. */
  rateLimit: v.nullish(RateLimit),
  ...limits,
})

/** The body of PATCH /api/keys/{id}: only fields to change; null takes a limit away. */
export const KeyPatch = v.object({ name: v.optional(name), rateLimit: v.optional(RateLimit), ...limits })

/** Other spellings of fields. */
export const aliases = {
  rate_limit: 'rateLimit',
  token_limit: 'tokenLimit',
  end_users: 'endUsers',
  expires_at: 'expiresAt',
}

/** The rules of a body as they are stored. */
const rulesOf = ({
  required,
  budget,
  rate_limit,
}: NonNullable<v.InferOutput<typeof KeyPatch>['endUsers']>): EndUserRules => ({
  ...(required && { required }),
  ...(budget && { budget: budgetOf(budget) }),
  ...(rate_limit != null && { rate_limit }),
})

/** What a key is given by a body; null takes a limit away. */
export const changeOf = ({
  name,
  rateLimit,
  tokenLimit,
  models,
  budget,
  endUsers,
  expiresAt,
}: v.InferOutput<typeof NewKey | typeof KeyPatch>): KeyChange =>
  defined({
    name,
    rateLimit: rateLimit ?? undefined,
    tokenLimit,
    models,
    budget: budget && budgetOf(budget),
    endUsers: endUsers && rulesOf(endUsers),
    expiresAt: expiresAt == null ? expiresAt : dateOf(expiresAt),
  })
