import * as v from 'valibot'
import { ID_LENGTH, MAX_PAGE_SIZE, PAGE_SIZE } from '../conventions.js'
import { uuidv7 } from '../helpers/ids.js'
import { parseUrl } from '../helpers/parse-url.js'
import { invalid, noSuchPage } from '../invalid.js'
import type { Commit, Entry, Key, KV } from '../kv/kv.js'
import type { ListPage, PageOptions } from '../kv/pages.js'
import { pageBelow } from '../kv/pages.js'
import type { Budget } from '../ledger/holds.js'
import { GivenBudget } from '../schemas/budget.js'
import { perMinute } from '../schemas/integers.js'
import type { FieldSchemas } from '../helpers/options.js'
import { checkFields } from '../helpers/options.js'
import type { Act } from './audit.js'
import { ACTORS, audit } from './audit.js'
import type { Role } from './roles.js'
import { ROLES } from './roles.js'

/** The one user entity of gateway and platform, as stored under `user/<id>`. */
export type User = {
  id: string
  /** As given, with composed characters (NFC); unique without regard to case. Null for a user who has none. */
  email: string | null
  role: Role
  /** The highest role that an administrator granted; absent = `role`. */
  granted_role?: Role
  /** True while the gateway keys are refused, because the user is no developer any more; absent = they are not. */
  keys_suspended?: true
  /** How the gateway's administrators call the user. */
  name: string
  first_name: string
  last_name: string
  username: string
  /** What the user signs in with, such as `password`; '' for a user who cannot sign in. */
  provider: string
  /** Limit on the cost of the user's requests; absent = none. */
  budget?: Budget
  /** Tokens of prompts and completions per minute of the user's requests; absent = any number. */
  token_limit?: number
  created_at: string
  /** When the user was deleted; null = not deleted. */
  deleted_at: string | null
  /** Sign-ins until then do not count: a restored user has to sign in again. Absent = all count. */
  signed_out_at?: string
  /**
   * True for a user whom a gateway key or `ADMIN_TOKEN` has made, which open no platform: their e-mail alone signs nobody in until an administrator
   * has changed them. Absent = not.
   */
  of_gateway?: true
}

/** The fields of a user that can be given and changed. */
export type UserFields = Pick<
  User,
  'email' | 'role' | 'name' | 'first_name' | 'last_name' | 'username' | 'provider' | 'budget' | 'token_limit'
>

/** The fields of a user to change; a limit of null removes it. */
export type UserChange = Partial<Omit<UserFields, 'budget' | 'token_limit'>> & {
  budget?: Budget | null
  token_limit?: number | null
}

const text = v.optional(v.string())

/** What {@link updateUser} takes. */
export const changeFields: FieldSchemas<UserChange> = {
  email: v.nullish(v.string()),
  role: v.optional(v.picklist(ROLES)),
  name: text,
  first_name: text,
  last_name: text,
  username: text,
  provider: text,
  budget: v.nullish(GivenBudget),
  token_limit: v.nullish(perMinute),
}

const inputFields: FieldSchemas<Partial<UserFields> & { id?: string }> = {
  ...changeFields,
  id: v.optional(v.pipe(v.string(), v.maxLength(ID_LENGTH))),
  budget: v.optional(GivenBudget),
  token_limit: v.optional(perMinute),
}

/**
 * What is in no e-mail address: spaces, control characters, lone surrogates and format characters such as U+202E; the characters by which one
 * mailbox has many spellings (RFC 5322, specials), or by which servers of mail pass a message on to another address or read a coded one (`%`, `!`,
 * `?` of RFC 2047); and those that become others by lower case or composition: U+212A a `k`, U+1FEF a backtick,
 * U+037E a semicolon.
 */
const never = String.raw`@\s\p{Cc}\p{Cs}\p{Cf}()<>[\]:;\\,"!%?${'\u212A\u1FEF\u037E'}`
/** What is in no domain besides. */
const notInDomain = never + String.raw`+*#$&'/=^{|}~` + '`'

/** A valid e-mail address, whose domain does not end with a dot, of whatever script. */
export const EMAIL = new RegExp(`^[^${never}]+@[^${notInDomain}]*[^${notInDomain}.${'\u3002\uFF0E\uFF61'}]$`, 'u')

/** A name of a user or a file, which may be empty: no control characters, and no half of a surrogate pair. */
export const ONE_LINE = /^[^\p{Cc}\p{Cs}]*$/u

/** Characters of an e-mail address at most, in its {@link emailId} too: composed, some letters become three. */
export const EMAIL_LENGTH = 254

const composed = (email: string): string => email.toLowerCase().normalize('NFC')

/**
 * The one spelling of all that are the same e-mail address: in lower case, with composed characters, and with an international domain as
 * mail servers have it (RFC 5891, A-labels).
 */
export function emailId(email: string): string {
  const text = composed(email)
  const at = text.lastIndexOf('@') + 1
  const domain = text.slice(at)
  const isInternational = /^(?:[a-z\d.-]|\P{ASCII})+$/u.test(domain) && /\P{ASCII}/u.test(domain)
  const url = isInternational && parseUrl(`http://${domain}`)
  return url ? text.slice(0, at) + url.hostname : text
}

export const hasEmailLength = (email: string): boolean => emailId(email).length <= EMAIL_LENGTH

/** Where a user is stored, the id of the user with an e-mail, and how many there are. */
export const userKey = (id: string) => ['user', id]
export const emailKey = (email: string): Key => ['email', emailId(email)]
/** The keys that may lead from an e-mail to its user: an earlier version stored international domains as they were given. */
export const emailKeys = (email: string): Key[] =>
  [...new Set([composed(email), emailId(email)])].map((id) => ['email', id])
export const countKey = ['user-count']
/** Stands for a user who was erased, for good: the usage records and the audit log still have the id, which nobody else is to get. */
export const erasedKey = (id: string): Key => ['erased', id]

/**
 * Creates a user. The id and the e-mail of a deleted user cannot be used again, of an erased one the id.
 * @param input.id default a UUIDv7
 * @throws ApiError 400 if the id or the e-mail is taken
 * @throws TypeError for a field that does not exist or has a wrong value, such as an id of more than 200 characters
 * @example const user = await createUser(kv, { email: 'ada@example.org', name: 'Ada', budget: { usd: 20, per: 'month' } })
 */
export async function createUser(kv: KV, input: Partial<UserFields> & { id?: string }, act: Act = {}): Promise<User> {
  const user = await newUser(kv, input, act)
  if (!user) throw invalid('The id or the e-mail is taken')
  return user
}

/**
 * Creates a user, as {@link createUser} does.
 * @param act what else the commit checks and deletes, such as an invitation, and whether a gateway key or `ADMIN_TOKEN` makes the user
 * @returns null if the id or the e-mail is taken, as the names of {@link ACTORS} are, or what else is checked has changed
 */
export async function newUser(
  kv: KV,
  input: Partial<UserFields> & { id?: string },
  act: Act & Pick<Commit, 'check' | 'del'> & { ofGateway?: boolean } = {},
): Promise<User | null> {
  checkFields('createUser', input, inputFields)
  const { now = Date.now(), check = [], del = [] } = act
  const { id = uuidv7(now), budget, token_limit } = input
  if (ACTORS.includes(id)) return null
  const email = input.email?.normalize('NFC') ?? null
  const user: User = {
    id,
    email,
    role: input.role ?? 'user',
    name: input.name ?? '',
    first_name: input.first_name ?? '',
    last_name: input.last_name ?? '',
    username: input.username ?? '',
    provider: input.provider ?? '',
    ...(budget && { budget }),
    ...(token_limit !== undefined && { token_limit }),
    created_at: new Date(now).toISOString(),
    deleted_at: null,
    ...(act.ofGateway && { of_gateway: true }),
  }
  const created = await kv.commit({
    check: [
      ...[userKey(id), erasedKey(id), ...(email ? emailKeys(email) : [])].map((key) => ({ key, version: null })),
      ...check,
    ],
    del,
    set: [
      { key: userKey(id), value: user },
      ...(email ? [{ key: emailKey(email), value: id }] : []),
      ...audit('user.create', id, { ...act, detail: user.role }),
    ],
    sum: [{ key: countKey, add: { users: 1 } }],
  })
  return created ? user : null
}

/**
 * The user with this id; null if there is none or the user was deleted.
 * @param options.deleted finds deleted users as well; default false
 * @example const name = (await getUser(kv, id))?.name
 */
export async function getUser(
  kv: KV,
  id: string,
  { deleted = false }: { deleted?: boolean } = {},
): Promise<User | null> {
  const user = (await userEntry(kv, id))?.value
  return user && (deleted || user.deleted_at === null) ? user : null
}

/** The stored user and its version, for commits that depend on it; also of a deleted user. */
export const userEntry = async (kv: KV, id: string): Promise<Entry<User> | null> =>
  id.length > ID_LENGTH ? null : kv.get<User>(userKey(id))

/** Whether a user with this id was erased, also where that has not ended. */
export const isErased = async (kv: KV, id: string): Promise<boolean> =>
  id.length <= ID_LENGTH && (await kv.get(erasedKey(id))) !== null

/** The stored users in the order of `ids`, also deleted ones. */
export const userEntries = (kv: KV, ids: string[]): Promise<(Entry<User> | null)[]> =>
  kv.getMany<User>(ids.map(userKey))

/** The id of the user with this e-mail address, in whatever case, also of a deleted one; null if there is none. */
export async function userIdOf(kv: KV, email: string): Promise<string | null> {
  if (!hasEmailLength(email)) return null
  const entries = await kv.getMany<string>(emailKeys(email))
  return entries.find((entry) => entry !== null)?.value ?? null
}

/**
 * The user with this e-mail address, in whatever case; null if there is none or the user was deleted. Options as of {@link getUser}.
 * @example const user = await findUserByEmail(kv, 'ada@example.org')
 */
export async function findUserByEmail(kv: KV, email: string, options?: { deleted?: boolean }): Promise<User | null> {
  const id = await userIdOf(kv, email)
  return id === null ? null : getUser(kv, id, options)
}

/**
 * Users that are not deleted, in reverse order of their ids: newest first, if the ids are UUIDv7. `deleted: true` lists the deleted ones in
 * place of the others.
 * @throws ApiError 400 where nobody has the id `after`
 * @example const { items, next } = await listUsers(kv, { limit: 50 })
 */
export async function listUsers(
  kv: KV,
  { after, limit = PAGE_SIZE, deleted = false }: PageOptions & { deleted?: boolean | undefined } = {},
): Promise<ListPage<User>> {
  // One who ended a page is still there, or was erased since.
  if (after !== undefined && !(await userEntry(kv, after)) && !(await isErased(kv, after))) throw noSuchPage()
  const items: User[] = []
  for (let from = after; ;) {
    // Deleted users are few among many: looking for them takes large pages.
    const page = await pageBelow<User>(kv, ['user'], {
      after: from,
      limit: deleted ? MAX_PAGE_SIZE : limit,
      reverse: true,
      ids: 'any',
    })
    for (const [i, { value }] of page.items.entries()) {
      if ((value.deleted_at !== null) !== deleted) continue
      items.push(value)
      if (items.length < limit) continue
      const isLast = page.next === undefined && i === page.items.length - 1
      return isLast ? { items } : { items, next: value.id }
    }
    if (page.next === undefined) return { items }
    from = page.next
  }
}

/**
 * The number of users that are not deleted.
 * @example const users = await countUsers(kv)
 */
export async function countUsers(kv: KV): Promise<number> {
  return (await kv.get<{ users?: number }>(countKey))?.value.users ?? 0
}
