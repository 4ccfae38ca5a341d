/** Limits of users, keys and end users, as forms and bodies of the API have them. @module */
import { textOf } from './text-of.js'

/** The most that requests may cost, in all or in a day or month of UTC. */
export interface Budget {
  usd: number
  per?: 'day' | 'month'
}

/** What each end user of a key may have. */
export interface EndUserRules {
  required?: true
  budget?: Budget
  rate_limit?: number
}

/** A gateway key, as far as its owner sets it. Limits that it does not have are absent. */
export interface KeySettings {
  name: string
  rate_limit: number
  token_limit?: number
  models?: string[]
  budget?: Budget
  end_users?: EndUserRules
  expires_at?: string
  /** When another one took its place. */
  rotated_at?: string
}

/** The number in a field; null where it is empty. */
export const numberIn = (fields: FormData, name: string): number | null => {
  const text = textOf(fields, name)
  return text === '' ? null : Number(text)
}

/** A budget of the fields `<name>.usd` and `<name>.per`; null = none. */
export function budgetIn(fields: FormData, name = 'budget'): Budget | null {
  const usd = numberIn(fields, `${name}.usd`)
  const per = textOf(fields, `${name}.per`) as Budget['per'] | ''
  return usd === null ? null : { usd, ...(per && { per }) }
}

/** The same with possibly undefined fields. */
type Loose<T> = { [Name in keyof T]: T[Name] | undefined }

// Stores may change the order of fields, so that what is compared is made anew.
const budgetOf = ({ usd, per }: Budget): Budget => ({ usd, ...(per && { per }) })

const rulesOf = ({ required, budget, rate_limit }: Loose<EndUserRules>): EndUserRules => ({
  ...(required && { required }),
  ...(budget && { budget: budgetOf(budget) }),
  ...(rate_limit !== undefined && { rate_limit }),
})

/** Names of models and groups with commas between them. */
export const modelsIn = (text: string): string[] => text.split(',').flatMap((name) => name.trim() || [])

/** A time of ISO 8601 as a field of the type `datetime-local` has it: by the reader's clock, to the minute. */
export function localTime(iso: string): string {
  const date = new Date(iso)
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** The end in the field `expiresAt`, as a time of ISO 8601; null = none. */
export function endIn(fields: FormData): string | null {
  const end = textOf(fields, 'expiresAt')
  return end === '' ? null : new Date(end).toISOString()
}

/** The body that a form of a key says; null = no such limit. */
export function keyIn(fields: FormData) {
  // What was added, and last what is still being typed.
  const chosen = fields.getAll('models').map(String)
  const models = [...new Set([...chosen.slice(0, -1), ...modelsIn(chosen.at(-1) ?? '')])]
  const rules = {
    ...(fields.has('endUsers.required') && { required: true as const }),
    budget: budgetIn(fields, 'endUsers.budget') ?? undefined,
    rate_limit: numberIn(fields, 'endUsers.rate_limit') ?? undefined,
  }
  return {
    name: textOf(fields, 'name'),
    rateLimit: Number(textOf(fields, 'rateLimit')),
    tokenLimit: numberIn(fields, 'tokenLimit'),
    models: models.length > 0 ? models : null,
    budget: budgetIn(fields),
    endUsers: fields.has('endUsers') ? rulesOf(rules) : null,
    expiresAt: endIn(fields),
  }
}

/** What is sent of a key. */
export type KeyBody = ReturnType<typeof keyIn>

/** The body that says what a key has, as {@link keyIn} of the form that shows it. */
export const keyBodyOf = (key: KeySettings): KeyBody => ({
  name: key.name.trim(),
  rateLimit: key.rate_limit,
  tokenLimit: key.token_limit ?? null,
  models: key.models ?? null,
  budget: key.budget ? budgetOf(key.budget) : null,
  endUsers: key.end_users ? rulesOf(key.end_users) : null,
  expiresAt: key.expires_at === undefined ? null : new Date(localTime(key.expires_at)).toISOString(),
})
