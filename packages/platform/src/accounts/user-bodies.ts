import { budgetOf, Email, NewBudget, UserName } from '@turnpike/core/internal'
import * as v from 'valibot'
import { present } from '../given-fields.js'
import { Role, TokenLimit } from '../schemas.js'

/** Other spellings of fields. */
export const aliases = { first_name: 'firstName', last_name: 'lastName', token_limit: 'tokenLimit' }

/** The fields of a user from a body. */
export const fieldsOf = ({
  email,
  firstName,
  lastName,
  username,
  role,
  budget,
  tokenLimit,
}: v.InferOutput<typeof NewUser | typeof UserPatch>) => ({
  ...present({ email, first_name: firstName, last_name: lastName, username, role, token_limit: tokenLimit }),
  ...(budget && { budget: budgetOf(budget) }),
})

/** The body of POST /api/users. */
export const NewUser = v.object({
  email: Email,
  password: v.nullish(v.string()),
  firstName: v.nullish(UserName),
  lastName: v.nullish(UserName),
  username: v.nullish(UserName),
  role: v.nullish(Role),
  /** Limit on the cost of the user's requests; default none. */
  budget: v.nullish(NewBudget),
  /** Tokens of prompts and completions per minute of the user's requests; default any number. */
  tokenLimit: v.nullish(TokenLimit),
})

/** The body of PATCH /api/users/{id}: only fields to change. */
export const UserPatch = v.object({
  email: v.optional(Email),
  firstName: v.optional(UserName),
  lastName: v.optional(UserName),
  username: v.optional(UserName),
  role: v.optional(Role),
  /** Limit on the cost of the user's requests; null removes it. */
  budget: v.nullish(NewBudget),
  /** Tokens of prompts and completions per minute of the user's requests; null removes it. */
  tokenLimit: v.nullish(TokenLimit),
})

const balance = 'is a part of the balance: PATCH /api/users/{id}/balance'
/** Fields that look as if they changed a user, and where that is done. */
export const elsewhere = {
  name: 'a user has firstName, lastName and username',
  creditCoins: balance,
  credit_coins: balance,
  storageGb: balance,
  storage_gb: balance,
  extraProjects: balance,
  extra_projects: balance,
  extraAgents: balance,
  extra_agents: balance,
}

/** Those of PATCH /api/users/{id}. */
export const elsewhereThanPatch = {
  ...elsewhere,
  password: 'is changed by PUT /api/users/{id}/password',
}
