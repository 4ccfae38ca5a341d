import type { Act, Entry, Key, KV } from '@turnpike/core'
import { getUser } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { repeated, uuidv7 } from '@turnpike/core/helpers'
import { audit, counting, growth, ownedKey, pageBelow } from '@turnpike/core/internal'
import type * as v from 'valibot'
import { REPLY_LENGTH, RUNNING_REPLIES } from '../conventions.js'
import { forbidden, tooManyReplies } from '../errors.js'
import type { Page, Paging } from '../pages.js'
import { newestFirst } from '../pages.js'
import type { Needed, StoredProject } from '../projects/project-access.js'
import {
  hasRole,
  permitted,
  projectFor,
  projectNames,
  roleIn,
  withOwned,
  withProject,
} from '../projects/project-access.js'
import { finishPurge, purgeOf } from '../projects/purges.js'
import { limitFor, commitInProject, inProject, joined, projectView } from '../projects/stored-projects.js'
import type { Message as MessageSchema, Project } from '../schemas.js'

/** Bytes of a reply that is as long as one may be. */
const REPLY_BYTES = 3 * REPLY_LENGTH

/** A message, as stored. A reply that is `running` has its text in parts (replies.ts). */
export type Message = v.InferOutput<typeof MessageSchema> & {
  /** Of an earlier version, for a reply that is being written, or that broke off. */
  incomplete?: true
}

/** The conversation of a project, as stored with it. */
export type Conversation = {
  id: string
  project_id: string
  /** Where its messages are: another place after each time that it is cleared. */
  thread: string
  /** Whether a message has, or had, a file. */
  has_files?: true
}

/**
 * A reply that is being written, as stored under `reply/<id>` until it ends. Who ends it deletes this entry, so that it ends once: its process, or
 * whoever sees that the process is gone.
 */
export type RunningReply = {
  /** Who asked for it. */
  user_id: string
  /** The owner of the project; absent = the same. */
  owner_id?: string
  conversation: Conversation
  /** The time in milliseconds until which its process has it; the process sets it ahead while it lives. */
  until: number
  /** Whether the user has stopped it. */
  stopped?: true
}

/** What a message is about to be written into. */
interface Open {
  project: Entry<StoredProject>
  conversation: Entry<Conversation>
}

const conversationKey = (projectId: string): Key => inProject(projectId, 'conversation')
const threadKey = ({ project_id, thread }: Conversation): Key => inProject(project_id, 'message', thread)
export const messageKey = (conversation: Conversation, id: string): Key => [...threadKey(conversation), id]
export const runningKey = (replyId: string): Key => ['reply', replyId]

/** The projects of conversations and their names, in the order of `ids`; null of those that are gone, or in which the user has no role. */
export async function conversationNames(
  kv: KV,
  userId: string,
  ids: string[],
): Promise<{ name: string | null; project_id: string | null }[]> {
  const owners = await kv.getMany<{ project_id: string }>(ids.map((id) => ['conversation', id]))
  const projectIds = owners.map((owner) => owner?.value.project_id ?? null)
  const names = await projectNames(kv, userId, projectIds)
  return projectIds.map((project_id, i) => ({ name: names[i]!, project_id }))
}

/** The conversation of a project, which is made at its first use. @throws as {@link permitted} */
async function open(kv: KV, userId: string, projectId: string, now: number, needed?: Needed): Promise<Open> {
  for (;;) {
    const { value } = await projectFor(kv, userId, projectId, needed)
    const [found, conversation] = await withProject<Conversation>(kv, value.id, conversationKey(value.id))
    const project = await permitted(kv, userId, found, 'project', needed)
    if (conversation) return { project, conversation }
    const id = uuidv7(now)
    const set = [
      { key: conversationKey(value.id), value: { id, project_id: value.id, thread: id } },
      { key: ['conversation', id], value: { user_id: value.user_id, project_id: value.id } },
    ]
    const { check, sum } = await counting(kv, ownedKey(value.user_id), growth(set))
    await commitInProject(kv, project, 'conversation', {
      check: [{ key: conversationKey(value.id), version: null }, ...check],
      set,
      sum,
    })
  }
}

/** The conversation of a project, which is made at its first use. @throws as {@link permitted} */
export const getConversation = async (
  kv: KV,
  userId: string,
  projectId: string,
  now: number,
  needed?: Needed,
): Promise<Conversation> => (await open(kv, userId, projectId, now, needed)).conversation.value

/** Whether a user may still write into a conversation: it was not cleared, neither its project nor the user was deleted, and the user is an editor at least. */
export async function isOpen(kv: KV, userId: string, { project_id, thread }: Conversation): Promise<boolean> {
  const [user, [project, conversation]] = await Promise.all([
    getUser(kv, userId),
    withProject<Conversation>(kv, project_id, conversationKey(project_id)),
  ])
  const isThere = user !== null && project !== null && conversation?.value.thread === thread
  return isThere && hasRole(kv, userId, project.value, 'editor')
}

/** The messages of a conversation, oldest first. */
export async function listMessages(kv: KV, conversation: Conversation, page?: Paging): Promise<Page<Message>> {
  const { items, next } = await pageBelow<Message>(kv, threadKey(conversation), page)
  return { items: items.map(({ value }) => value), next }
}

/** The last messages of a conversation, oldest first; `next` is the `after` of those before them. */
export async function lastMessages(kv: KV, conversation: Conversation, page: Paging = {}): Promise<Page<Message>> {
  const { items, next } = await newestFirst<Message>(kv, threadKey(conversation), page)
  return { items: items.toReversed(), next }
}

/**
 * Removes all messages: they are gone for whoever reads with the first commit.
 * @param act who is the actor of the audit log's entry; without one, there is none
 * @throws ApiError 404, 403 for readers
 */
export async function clearConversation(
  kv: KV,
  userId: string,
  projectId: string,
  { now, by }: Pick<Act, 'by'> & { now: number },
): Promise<void> {
  for (;;) {
    const { project, conversation } = await open(kv, userId, projectId, now, { least: 'editor' })
    const { key, value, version } = conversation
    const { user_id } = project.value
    const { has_files: _, ...empty } = { ...value, thread: uuidv7(now) }
    const set = [{ key, value: empty }]
    const purge = purgeOf(value.thread, { user_id, prefix: threadKey(value) })
    const { check, sum } = await counting(kv, ownedKey(user_id), growth(set, [conversation]))
    const cleared = await commitInProject(kv, project, 'conversation', {
      check: [{ key, version }, ...check],
      set: [...set, purge, ...audit('conversation.clear', project.value.id, { by, now })],
      sum,
    })
    if (cleared) return finishPurge(kv, purge)
  }
}

/**
 * The check and the addition of a commit that writes into a conversation: its bytes are counted as the owner's of the project, running replies as
 * the user's.
 * @param read the counters of both, where they were read already
 * @throws ApiError 403 where a limit is exceeded
 */
export async function countWritten(
  kv: KV,
  { user_id, owner_id = user_id }: Pick<RunningReply, 'user_id' | 'owner_id'>,
  { bytes, replies }: { bytes: number; replies: number },
  { limits, own, owned }: { limits?: Counts; own?: Entry<Counts> | null; owned?: Entry<Counts> | null } = {},
) {
  if (owner_id === user_id)
    return counting(kv, ownedKey(user_id), { bytes, ...(replies !== 0 && { replies }) }, { limits, entry: own })
  const ofOwner = await counting(kv, ownedKey(owner_id), { bytes }, { limits, entry: owned })
  if (replies === 0) return ofOwner
  return joined([ofOwner, await counting(kv, ownedKey(user_id), { replies }, { limits, entry: own })])
}

/** Messages that were added, and where. */
export interface Added {
  project: Project
  conversation: Conversation
  isMember: (userId: string) => boolean
  messages: Message[]
}

/**
 * Adds messages to a conversation, in one commit.
 * @param options.bytes bytes of data in all that the owner of the project may have
 * @param options.until as of {@link RunningReply}, for a reply that is `running` among them
 * @returns the project, the conversation and who was a member as it was then, and the messages
 * @throws ApiError 404, 403 for readers, and where it would be more than `bytes`, 429 where the user has {@link RUNNING_REPLIES}
 */
export async function addMessages(
  kv: KV,
  userId: string,
  projectId: string,
  added: Pick<Message, 'role' | 'text' | 'state' | 'attachments'>[],
  { bytes, until = 0, now }: { bytes: number; until?: number; now: number },
): Promise<Added> {
  const timestamp = new Date(now).toISOString()
  const given = added.map((message): Message => ({ id: uuidv7(now), timestamp, ...message }))
  const reply = given.find(({ state }) => state === 'running')
  return repeated(`data ${userId}`, async () => {
    const reading = open(kv, userId, projectId, now, { least: 'editor' })
    const { project, conversation, own, owned } = await withOwned(kv, userId, reading)
    const { key, value, version } = conversation
    const replies = own?.value['replies'] ?? 0
    if (reply && replies >= RUNNING_REPLIES) throw tooManyReplies()
    const { user_id: owner } = project.value
    if (owner !== userId && given.some(({ role, state }) => role !== 'user' && state === undefined))
      throw forbidden('Only the owner of a project adds messages of the system or the assistant')
    const messages = given.map((one) => (owner !== userId ? { ...one, user_id: userId } : one))
    const by = { user_id: userId, ...(owner !== userId && { owner_id: owner }) }
    const running = { ...by, conversation: value, until } satisfies RunningReply
    const hasFirstFile = !value.has_files && messages.some(({ attachments }) => attachments !== undefined)
    const set = [
      ...messages.map((message) => ({ key: messageKey(value, message.id), value: message })),
      ...(hasFirstFile ? [{ key, value: { ...value, has_files: true as const } }] : []),
    ]
    const amounts = { ...growth(set, hasFirstFile ? [conversation] : []), replies: reply ? 1 : 0 }
    const most = limitFor(userId, project.value, bytes)
    // What others ask for may come to be as long as a reply may be, and so may what they have asked for already. Of a small plan, half is enough.
    const room = reply && owner !== userId ? Math.min((replies + 1) * REPLY_BYTES, most / 2) : 0
    const limits = { bytes: Math.floor(most - room), replies: RUNNING_REPLIES }
    const { check, sum } = await countWritten(kv, by, amounts, { limits, own, owned })
    const written = await commitInProject(kv, project, 'conversation', {
      check: [{ key, version }, ...check],
      set: [...set, ...(reply ? [{ key: runningKey(reply.id), value: running }] : [])],
      sum,
    })
    if (!written) return undefined
    const isMember = (id: string): boolean => roleIn(project.value, id) !== undefined
    return { project: projectView(project.value, userId), conversation: value, isMember, messages }
  })
}
