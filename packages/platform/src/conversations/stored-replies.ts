import type { Entry, Key, KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { repeated } from '@turnpike/core/helpers'
import { counting, growth, ownedKey } from '@turnpike/core/internal'
import { REPLY_LEASE_S } from '../conventions.js'
import { withProject } from '../projects/project-access.js'
import { commitInProject, inProject } from '../projects/stored-projects.js'
import type { ReplyState } from '../schemas.js'
import type { Conversation, Message, RunningReply } from './stored-conversations.js'
import { countWritten, isOpen, messageKey, runningKey } from './stored-conversations.js'

/** A part of what has come of a reply, as stored in order until the reply ends. Only the last one is written again. */
export type Part = { text: string; thinking: string }

/** A reply that this process writes. */
export interface Writing {
  userId: string
  /** Of the project. */
  ownerId: string
  conversation: Conversation
  /** As it was stored when it began: `running`, and without text. */
  reply: Message
}

const partsKey = ({ project_id }: Conversation, replyId: string): Key => inProject(project_id, 'reply', replyId)
const partKey = (conversation: Conversation, replyId: string, n: number): Key => [
  ...partsKey(conversation, replyId),
  String(n).padStart(8, '0'),
]

/** Until when a process has a reply that it takes, or keeps, now. */
export const leaseFrom = (now: number): number => now + REPLY_LEASE_S * 1_000

/** Stores a part of a reply. @returns false where that has to be tried again, or the reply has ended */
export async function writePart(
  kv: KV,
  { ownerId, conversation, reply }: Writing,
  n: number,
  part: Part,
): Promise<boolean> {
  const [key, messageAt] = [partKey(conversation, reply.id, n), messageKey(conversation, reply.id)]
  const [[project, message], [before, owned]] = await Promise.all([
    withProject<Message>(kv, conversation.project_id, messageAt),
    kv.getMany<unknown>([key, ownedKey(ownerId)]),
  ])
  if (!project || message?.value.state !== 'running') return false
  const set = [{ key, value: part }]
  const entry = owned as Entry<Counts> | null
  const { check, sum } = await counting(kv, ownedKey(ownerId), growth(set, before ? [before] : []), { entry })
  return commitInProject(kv, project, 'conversation', {
    check: [{ key: messageAt, version: message.version }, { key, version: before?.version ?? null }, ...check],
    set,
    sum,
  })
}

/**
 * Says that the process that writes a reply lives.
 * @returns why it is not to be written any more: it was `stopped`, its conversation is `gone`, or others took its process to have ended (`lost`)
 */
export async function keepReply(
  kv: KV,
  { userId, conversation, reply }: Writing,
  now: number,
): Promise<'stopped' | 'gone' | 'lost' | undefined> {
  const key = runningKey(reply.id)
  const [isThere, running] = await Promise.all([isOpen(kv, userId, conversation), kv.get<RunningReply>(key)])
  if (!isThere) return 'gone'
  if (!running) return 'lost'
  const { value, version } = running
  if (value.stopped) return 'stopped'
  const until = leaseFrom(now)
  // Where others were faster, such as who stops it, the next time tells.
  if (value.until < until - (REPLY_LEASE_S / 3) * 1_000)
    await kv.commit({ check: [{ key, version }], set: [{ key, value: { ...value, until } }] })
  return undefined
}

/** The parts that are stored of a reply, in order. */
async function partsOf(kv: KV, conversation: Conversation, replyId: string): Promise<Entry<Part>[]> {
  const parts: Entry<Part>[] = []
  for await (const part of entriesOf<Part>(kv, partsKey(conversation, replyId))) parts.push(part)
  return parts
}

/** A reply with what is stored of it in parts. */
const joined = (message: Message, parts: Entry<Part>[]): Message => {
  const thinking = parts.map(({ value }) => value.thinking).join('')
  return { ...message, text: parts.map(({ value }) => value.text).join(''), ...(thinking !== '' && { thinking }) }
}

/**
 * Ends a reply, unless others did: its message gets what came of it, in place of the parts. It may be longer than the user has space for: it was
 * paid for. Where the conversation was cleared or deleted meanwhile, nothing of it stays.
 * @param end makes the message as it is to stay from that which is in the store; null = none
 */
export async function endReply(
  kv: KV,
  replyId: string,
  end: (stored: Message, parts: Entry<Part>[], running: RunningReply) => Message | null,
): Promise<void> {
  const key = runningKey(replyId)
  await repeated(`reply ${replyId}`, async () => {
    const running = await kv.get<RunningReply>(key)
    if (!running) return {}
    const { conversation } = running.value
    const [[project, before], parts] = await Promise.all([
      withProject<Message>(kv, conversation.project_id, messageKey(conversation, replyId)),
      partsOf(kv, conversation, replyId),
    ])
    const message = before && end(before.value, parts, running.value)
    const set = message ? [{ key: before.key, value: message }] : []
    const gone = [...parts, ...(before ? [before] : [])]
    const { check, sum } = await countWritten(kv, running.value, { replies: -1, ...growth(set, gone) })
    const commit = {
      check: [
        { key, version: running.version },
        ...gone.map(({ key, version }) => ({ key, version })),
        // A process that was taken to have ended may write on until this commit.
        { key: partKey(conversation, replyId, parts.length), version: null },
        ...check,
      ],
      set,
      del: [key, ...gone.map(({ key }) => key).filter((one) => !message || one !== before.key)],
      sum,
    }
    const ended = project ? commitInProject(kv, project, 'conversation', commit) : kv.commit(commit)
    return (await ended) ? {} : undefined
  })
}

/** Ends a reply whose process is gone. */
const endAbandoned = (kv: KV, replyId: string): Promise<void> =>
  endReply(kv, replyId, (stored, parts, { stopped }) => ({
    ...joined(stored, parts),
    state: stopped ? 'stopped' : 'failed',
  }))

/**
 * Ends replies whose processes are gone.
 * @param now from which on those are; Infinity where there is no other process
 * @returns how many there were
 */
export async function endAbandonedReplies(kv: KV, now: number): Promise<number> {
  let count = 0
  for await (const { key, value } of entriesOf<RunningReply>(kv, ['reply']))
    if (value.until < now) {
      await endAbandoned(kv, key.at(-1)!)
      count++
    }
  return count
}

/** Tells the process that writes a reply of a conversation to stop it, unless it has ended. */
export async function stopReply(kv: KV, { thread }: Conversation, replyId: string): Promise<void> {
  const key = runningKey(replyId)
  for (;;) {
    const running = await kv.get<RunningReply>(key)
    if (!running || running.value.stopped || running.value.conversation.thread !== thread) return
    const set = [{ key, value: { ...running.value, stopped: true } }]
    if (await kv.commit({ check: [{ key, version: running.version }], set })) return
  }
}

/** A message as an earlier version may have stored it, as one of this version. */
const current = ({ incomplete, ...message }: Message): Message =>
  incomplete ? { ...message, state: 'failed' satisfies ReplyState } : message

/** A message as it is now: with what has come of a reply that is being written, or ended where its process is gone; null where it is gone. */
export async function messageNow(
  kv: KV,
  conversation: Conversation,
  message: Message,
  now: number,
): Promise<Message | null> {
  if (message.state !== 'running') return current(message)
  const parts = await partsOf(kv, conversation, message.id)
  // Read after the parts: these are still there if it is.
  const running = await kv.get<RunningReply>(runningKey(message.id))
  if (running && running.value.until >= now) return joined(message, parts)
  if (running) await endAbandoned(kv, message.id)
  return (await kv.get<Message>(messageKey(conversation, message.id)))?.value ?? null
}
