import type { Entry, Key, KV } from '@turnpike/core'
import { getUser } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { counting, growth, namesOf, ownedKey, pageBelow, repeated, uuidv7 } from '@turnpike/core/internal'
import type * as v from 'valibot'
import { RUNNING_REPLIES } from '../conventions.js'
import { tooManyReplies } from '../errors.js'
import type { Message as MessageSchema, Project } from '../schemas.js'
import type { Page, Paging } from './pages.js'
import { newestFirst } from './pages.js'
import type { StoredProject } from './projects.js'
import { commitInProject, inProject, ofOwner, ownProject, projectView, withProject } from './projects.js'
import { finishPurge, purgeOf } from './purges.js'

/** spec.md, "Message", as stored. A reply that is `running` has its text in parts (replies.ts). */
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
}

/**
 * A reply that is being written, as stored under `reply/<id>` until it ends. Who ends it deletes this entry, so that it ends once: its process, or
 * whoever sees that the process is gone.
 */
export type RunningReply = {
  user_id: string
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

/** The projects of conversations and their names, in the order of `ids`; null of deleted ones. */
export async function conversationNames(
  kv: KV,
  ids: string[],
): Promise<{ name: string | null; project_id: string | null }[]> {
  const owners = await kv.getMany<{ project_id: string }>(ids.map((id) => ['conversation', id]))
  const names = await namesOf(
    kv,
    'project',
    owners.map((owner) => owner?.value.project_id ?? ''),
  )
  return owners.map((owner, i) => ({ name: names[i]!.name, project_id: owner?.value.project_id ?? null }))
}

/** The conversation of a project of the user, which is made at its first use. @throws ApiError 404 */
async function open(kv: KV, userId: string, projectId: string, now: number): Promise<Open> {
  for (;;) {
    const { value } = await ownProject(kv, userId, projectId)
    const [found, conversation] = await withProject<Conversation>(kv, value.id, conversationKey(value.id))
    const project = ofOwner(userId, found, 'project', 404)
    if (conversation) return { project, conversation }
    const id = uuidv7(now)
    const set = [
      { key: conversationKey(value.id), value: { id, project_id: value.id, thread: id } },
      { key: ['conversation', id], value: { user_id: userId, project_id: value.id } },
    ]
    const { check, sum } = await counting(kv, ownedKey(userId), growth(set))
    await commitInProject(kv, project, 'conversation', {
      check: [{ key: conversationKey(value.id), version: null }, ...check],
      set,
      sum,
    })
  }
}

/** The conversation of a project of the user, which is made at its first use. @throws ApiError 404 */
export const getConversation = async (kv: KV, userId: string, projectId: string, now: number): Promise<Conversation> =>
  (await open(kv, userId, projectId, now)).conversation.value

/** Whether a conversation is as it was: it was not cleared, and neither its project nor its user was deleted. */
export async function isOpen(kv: KV, userId: string, { project_id, thread }: Conversation): Promise<boolean> {
  const [user, [project, conversation]] = await Promise.all([
    getUser(kv, userId),
    withProject<Conversation>(kv, project_id, conversationKey(project_id)),
  ])
  return user !== null && project !== null && conversation?.value.thread === thread
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

/** Removes all messages: they are gone for readers with the first commit. @throws ApiError 404 */
export async function clearConversation(kv: KV, userId: string, projectId: string, now: number): Promise<void> {
  for (;;) {
    const { project, conversation } = await open(kv, userId, projectId, now)
    const { key, value, version } = conversation
    const thread = uuidv7(now)
    const purge = purgeOf(value.thread, { user_id: userId, prefix: threadKey(value) })
    const cleared = await commitInProject(kv, project, 'conversation', {
      check: [{ key, version }],
      set: [{ key, value: { ...value, thread } }, purge],
    })
    if (cleared) return finishPurge(kv, purge)
  }
}

/**
 * Adds messages to a conversation, in one commit.
 * @param options.bytes bytes of data in all that the user may have
 * @param options.until as of {@link RunningReply}, for a reply that is `running` among them
 * @returns the project, the conversation as it was then, and the messages
 * @throws ApiError 404, 403 where it would be more than `bytes`, 429 where the user has {@link RUNNING_REPLIES}
 */
export async function addMessages(
  kv: KV,
  userId: string,
  projectId: string,
  added: Pick<Message, 'role' | 'text' | 'state' | 'attachments'>[],
  { bytes, until = 0, now }: { bytes: number; until?: number; now: number },
): Promise<{ project: Project; conversation: Conversation; messages: Message[] }> {
  const timestamp = new Date(now).toISOString()
  const messages = added.map((message): Message => ({ id: uuidv7(now), timestamp, ...message }))
  const reply = messages.find(({ state }) => state === 'running')
  return repeated(`data ${userId}`, async () => {
    const [{ project, conversation }, entry] = await Promise.all([
      open(kv, userId, projectId, now),
      kv.get<Counts>(ownedKey(userId)),
    ])
    const { key, value, version } = conversation
    if (reply && (entry?.value['replies'] ?? 0) >= RUNNING_REPLIES) throw tooManyReplies()
    const running = { user_id: userId, conversation: value, until } satisfies RunningReply
    const set = messages.map((message) => ({ key: messageKey(value, message.id), value: message }))
    const amounts = { ...growth(set), ...(reply && { replies: 1 }) }
    const limits = { bytes, replies: RUNNING_REPLIES }
    const { check, sum } = await counting(kv, ownedKey(userId), amounts, { limits, entry })
    const written = await commitInProject(kv, project, 'conversation', {
      check: [{ key, version }, ...check],
      set: [...set, ...(reply ? [{ key: runningKey(reply.id), value: running }] : [])],
      sum,
    })
    return written ? { project: projectView(project.value), conversation: value, messages } : undefined
  })
}
