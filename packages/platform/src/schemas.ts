import { ROLES } from '@turnpike/core'
import { Budget } from '@turnpike/core/internal'
import * as v from 'valibot'
import { NAME_LENGTH, PROJECT_DESCRIPTION_LENGTH, TEXT_LENGTH } from './conventions.js'
import { SCOPES } from './tokens/scopes.js'

/** Schemas of what the platform answers. Which fields are not of the API as it was specified: docs/conventions.md. */

export const id = v.pipe(v.string(), v.uuid())
export const count = v.pipe(v.number(), v.integer())
export const time = v.pipe(v.string(), v.isoTimestamp())
const nullableTime = v.nullable(time)

/** The three roles. */
export const Role = v.picklist(ROLES)

/** What members of a project may do: read, or change what is in it. */
export const MemberRole = v.picklist(['reader', 'editor'])
export type MemberRole = v.InferOutput<typeof MemberRole>
/** Likewise, what a user is in a project. */
export const ProjectRole = v.picklist(['owner', ...MemberRole.options])
export type ProjectRole = v.InferOutput<typeof ProjectRole>

/** The parameter of a path such as `/api/tasks/{id}`. */
export const IdParams = v.object({ id: v.string() })

/** A switch in a query or a form. */
export const Flag = v.optional(v.picklist(['true', 'false']))

/** A text that every store and every client can have: no U+0000, and no half of a surrogate pair. */
export const wellFormed = v.check(
  (text: string) => /^[^\0\p{Cs}]*$/u.test(text),
  'expected a text without U+0000 and halves of surrogate pairs',
)

/** Tag characters are seen nowhere but in flags, such as Scotland's, and models read them. */
const seen = v.check(
  (text: string) => !/[\u{E0020}-\u{E007E}]/u.test(text.replace(/\u{1F3F4}[\u{E0030}-\u{E007A}]{1,6}\u{E007F}/gu, '')),
  'expected a text without tag characters (U+E0020 to U+E007E), which are not seen',
)

/** A name or a title in a body. */
export const Name = v.pipe(v.string(), v.regex(/\S/, 'must not be blank'), v.maxLength(NAME_LENGTH), wellFormed, seen)

/** Tokens per minute in a body. */
export const TokenLimit = v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1_000_000_000))

const text = (characters: number) => v.pipe(v.string(), v.maxLength(characters), wellFormed)
/** A longer text in a body: of a task, and of a project. */
export const Text = text(TEXT_LENGTH)
export const ProjectDescription = text(PROJECT_DESCRIPTION_LENGTH)

/** A user. Ids of users that the gateway's administrators made may be no UUIDs, and their e-mail is '' where they have none. */
export const User = v.object({
  id: v.string(),
  email: v.string(),
  first_name: v.string(),
  last_name: v.string(),
  username: v.string(),
  role: Role,
  /** The highest role that an administrator granted; absent = `role`. */
  granted_role: v.optional(Role),
  provider: v.string(),
  /** Limit on the cost of the user's requests; absent = none. */
  budget: v.optional(Budget),
  /** What was spent of it, in its day or month; absent in lists and after changes. */
  budget_used_usd: v.optional(v.number()),
  /** Tokens per minute of the user's requests; absent = any number. */
  token_limit: v.optional(count),
  deleted_at: nullableTime,
  created_at: time,
})

/** Credits and quotas of a user. */
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

/** What a user may have; null = any number. */
export const AccountLimits = v.object({
  projects: v.nullable(count),
  agents: v.nullable(count),
  storage_gb: v.number(),
  storage_bytes_used: count,
  /** Of all else that the user stores. */
  data_gb: v.number(),
  data_bytes_used: count,
  sessions: v.nullable(count),
  tasks: v.nullable(count),
  /** What credits are for: nothing, to be counted, or to be needed for requests. */
  balance_policy: v.picklist(['off', 'report', 'enforce']),
  /** Gateway keys that are not revoked, and the requests per minute of each. */
  keys: count,
  key_rate_limit: count,
  /** The highest role that PATCH /api/account/role takes. */
  role: Role,
})

/** A file of a user. */
export const UserFile = v.object({
  id,
  display_name: v.string(),
  mime_type: v.string(),
  size_bytes: count,
  is_public: v.boolean(),
  url: v.pipe(v.string(), v.url()),
  storage_key: v.string(),
  deleted_at: nullableTime,
  created_at: time,
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

/** What a sign-in and a refresh answer. */
export const AuthSession = v.object({ ...access, refresh_token: v.string() })

/** What a browser gets: an AuthSession without the refresh token, which its cookie stands for. */
export const BrowserSession = v.object(access)

/** A token by which a program acts as its user. `token` is shown once, when it is made. */
export const Token = v.object({
  id,
  name: v.string(),
  token: v.optional(v.string()),
  scopes: v.array(v.picklist(SCOPES)),
  /** Absent = never. */
  expires_at: v.optional(time),
  created_at: time,
})

/** A sign-in of a user. What is not known is null. */
export const UserSignIn = v.object({
  id,
  user_agent: v.nullable(v.string()),
  /** Where it was made; of IPv6, the network of 64 bits. */
  address: v.nullable(v.string()),
  /** Where it was used last. */
  last_address: v.nullable(v.string()),
  created_at: time,
  /** When it was refreshed last, or its cookie prolonged: up to an hour before its last request. */
  last_used_at: time,
  /** Whether the request is by it. */
  is_current: v.boolean(),
})

/** A session of the gateway: requests that belong together. */
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

/** What the end users of a key may have each. */
const EndUserRules = v.object({
  /** Whether each request must name one, by `user`. */
  required: v.optional(v.literal(true)),
  budget: v.optional(Budget),
  /** Requests per minute. */
  rate_limit: v.optional(count),
})

/** An end user of a key, and what they have used. Limits of their own are in place of the key's. */
export const EndUser = v.object({
  id: v.string(),
  budget: v.optional(Budget),
  /** What was spent of the budget, this one or the key's, in its day or month; absent where there is none. */
  budget_used_usd: v.optional(v.number()),
  rate_limit: v.optional(count),
  created_at: time,
  requests: count,
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  cost_usd: v.number(),
})

/** A gateway key. `key` is shown once, when it is created; the time of the last use and what was spent of the budget in lists. Limits that a key does not have are absent. */
export const GatewayKey = v.object({
  id,
  name: v.string(),
  key: v.optional(v.string()),
  rate_limit: count,
  /** Tokens of prompts and completions per minute. */
  token_limit: v.optional(count),
  /** The allowed models, each as an id, as `provider/id` or as the name of a group. */
  models: v.optional(v.array(v.string())),
  budget: v.optional(Budget),
  /** What was spent of it, in its day or month. */
  budget_used_usd: v.optional(v.number()),
  /** What its end users may have; absent = they are not told apart. */
  end_users: v.optional(EndUserRules),
  expires_at: v.optional(time),
  /** When it was replaced; it then works until `expires_at`. */
  rotated_at: v.optional(time),
  revoked: v.boolean(),
  /** The last four characters of its value; absent where it was made before they were kept. */
  key_end: v.optional(v.string()),
  created_at: time,
  last_used_at: v.optional(nullableTime),
})

/** The kinds of teams. */
export const TeamType = v.picklist(['software-development', 'content-creation', 'research', 'custom'])
export type TeamType = v.InferOutput<typeof TeamType>

/** The status of a task. */
export const TaskStatus = v.picklist(['scheduled', 'running', 'done', 'failed', 'waiting_approval'])
export type TaskStatus = v.InferOutput<typeof TaskStatus>

export const nullableText = v.nullable(v.string())

/** A project. */
export const Project = v.object({
  id,
  name: v.string(),
  team_type: TeamType,
  /** A hex colour, such as `#64748b`. */
  color: v.string(),
  description: nullableText,
  /** The owner. */
  user_id: v.string(),
  /** What the caller is in it; absent = its owner. */
  role: v.optional(MemberRole),
  created_at: time,
  updated_at: time,
})
export type Project = v.InferOutput<typeof Project>

/** A task. */
export const Task = v.object({
  id,
  project_id: id,
  title: v.string(),
  description: nullableText,
  status: TaskStatus,
  assigned_agent_id: v.nullable(count),
  requires_user_approval: v.boolean(),
  output: nullableText,
  draft_output: nullableText,
  review_comments: nullableText,
  created_at: time,
  updated_at: time,
  /** True where somebody else than the owner of the project made the task, or has changed it since the owner scheduled it last. */
  by_others: v.optional(v.literal(true)),
})
export type Task = v.InferOutput<typeof Task>

/** What GET /api/tasks/{id}/status answers. */
export const TaskState = v.object({ id, status: TaskStatus, updated_at: time })

/** A revision of a task. */
export const TaskRevision = v.object({ id, task_id: id, output: v.string(), created_at: time })
export type TaskRevision = v.InferOutput<typeof TaskRevision>

export const MessageRole = v.picklist(['user', 'assistant', 'system'])

/** How far a reply is: it is being written, is whole, was stopped by the user, or broke off. */
export const ReplyState = v.picklist(['running', 'done', 'stopped', 'failed'])
export type ReplyState = v.InferOutput<typeof ReplyState>

/** A file of the user that a message has, as it was when it was sent. */
export const Attachment = v.object({ id, display_name: v.string(), mime_type: v.string(), size_bytes: count })
export type Attachment = v.InferOutput<typeof Attachment>

/** A message. The fields after `attachments` are those of replies, as far as they are known. */
export const Message = v.object({
  id,
  role: MessageRole,
  text: v.string(),
  timestamp: time,
  /** Who sent it, or asked for it, of a member of a shared project; absent = its owner. */
  user_id: v.optional(id),
  /** Of a message of the user. */
  attachments: v.optional(v.array(Attachment)),
  state: v.optional(ReplyState),
  /** What the model thought, where it tells that. */
  thinking: v.optional(v.string()),
  model: v.optional(v.string()),
  /** Why the model ended, such as `length`. */
  finish_reason: v.optional(v.string()),
  prompt_tokens: v.optional(count),
  completion_tokens: v.optional(count),
  /** Absent where the price is not known, and of replies that are not whole: what came of these is in the sums of the conversation. */
  cost_usd: v.optional(v.number()),
})

/** A conversation. */
export const Conversation = v.object({ id, project_id: id, messages: v.array(Message) })

/** An agent of a team; a model of null is the router's for agents. */
export const Agent = v.object({ id: count, name: v.string(), role: v.string(), model: nullableText })
export const Team = v.object({ type: TeamType, agents: v.array(Agent) })

/** The output of a task. It has the id of its task. */
export const Result = v.object({
  id,
  project_id: id,
  task_id: id,
  title: v.string(),
  output: v.string(),
  /** When the task got this output. */
  created_at: time,
})
export type Result = v.InferOutput<typeof Result>

/** Makes the public form of what is stored with more fields: those of a schema. */
export function viewOf<Entries extends v.ObjectEntries>(schema: v.ObjectSchema<Entries, undefined>) {
  type Public = v.InferOutput<typeof schema>
  const names = Object.keys(schema.entries) as (keyof Public)[]
  return (stored: Public): Public => {
    const view: Partial<Public> = {}
    for (const name of names) if (stored[name] !== undefined) view[name] = stored[name]
    return view as Public
  }
}
