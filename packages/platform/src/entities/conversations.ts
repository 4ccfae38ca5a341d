import type { Entry, Key, KV } from '@turnpike/core'
import { getUser } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { counting, growth, ownedKey, pageBelow, repeated, uuidv7 } from '@turnpike/core/internal'
import type { Project } from '../schemas.js'
import type { Page, Paging } from './pages.js'
import { newestFirst } from './pages.js'
import type { StoredProject } from './projects.js'
import { commitInProject, inProject, ofOwner, ownProject, projectView, withProject } from './projects.js'
import { finishPurge, purgeOf } from './purges.js'

/** spec.md, "Message". */
export type Message = {
  id: string
  role: 'user' | 'assistant' | 'system'
  text: string
  timestamp: string
  /** True for a reply that is being written, or that broke off; absent otherwise. */
  incomplete?: true
}

/** The conversation of a project, as stored with it. */
export type Conversation = {
  id: string
  project_id: string
  /** Where its messages are: another place after each time that it is cleared. */
  thread: string
}

/** What a message is about to be written into. */
interface Open {
  project: Entry<StoredProject>
  conversation: Entry<Conversation>
}

const conversationKey = (projectId: string): Key => inProject(projectId, 'conversation')
const threadKey = ({ project_id, thread }: Conversation): Key => inProject(project_id, 'message', thread)
const messageKey = (conversation: Conversation, id: string): Key => [...threadKey(conversation), id]

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
    await commitInProject(kv, project, {
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
    const cleared = await commitInProject(kv, project, {
      check: [{ key, version }],
      set: [{ key, value: { ...value, thread } }, purge],
    })
    if (cleared) return finishPurge(kv, purge)
  }
}

/**
 * Adds messages to a conversation, in one commit.
 * @param options.bytes bytes of data in all that the user may have
 * @returns the project, the conversation as it was then, and the messages
 * @throws ApiError 404, 403 where it would be more than `bytes`
 */
export async function addMessages(
  kv: KV,
  userId: string,
  projectId: string,
  added: Pick<Message, 'role' | 'text' | 'incomplete'>[],
  { bytes, now }: { bytes: number; now: number },
): Promise<{ project: Project; conversation: Conversation; messages: Message[] }> {
  const timestamp = new Date(now).toISOString()
  const messages = added.map((message): Message => ({ id: uuidv7(now), timestamp, ...message }))
  return repeated(`data ${userId}`, async () => {
    const [{ project, conversation }, entry] = await Promise.all([
      open(kv, userId, projectId, now),
      kv.get<Counts>(ownedKey(userId)),
    ])
    const { key, value, version } = conversation
    const set = messages.map((message) => ({ key: messageKey(value, message.id), value: message }))
    const { check, sum } = await counting(kv, ownedKey(userId), growth(set), { limits: { bytes }, entry })
    const written = await commitInProject(kv, project, { check: [{ key, version }, ...check], set, sum })
    return written ? { project: projectView(project.value), conversation: value, messages } : undefined
  })
}

/**
 * Replaces a message, or with null removes it, unless the conversation was cleared or deleted meanwhile. It may be longer than the user has
 * space for: it was paid for.
 */
export async function replaceMessage(
  kv: KV,
  userId: string,
  conversation: Conversation,
  id: string,
  message: Message | null,
): Promise<void> {
  const key = messageKey(conversation, id)
  await repeated(`data ${userId}`, async () => {
    const [project, entry] = await withProject(kv, conversation.project_id, key)
    if (!project || !entry) return {}
    const set = message ? [{ key, value: message }] : []
    const { check, sum } = await counting(kv, ownedKey(userId), growth(set, [entry]))
    const commit = { check: [{ key, version: entry.version }, ...check], set, sum, del: message ? [] : [key] }
    return (await commitInProject(kv, project, commit)) ? {} : undefined
  })
}
