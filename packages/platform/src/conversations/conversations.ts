import type { KV, Memory, User } from '@turnpike/core'
import { begunWith, callHook } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'
import { REPLY_MESSAGES, REPLY_OTHERS_LENGTH } from '../conventions.js'
import { found, noModel, notFound } from '../errors.js'
import type { FileOperations } from '../files/files.js'
import type { Page, Paging as PagingInput } from '../pages.js'
import type { Parts } from '../parts.js'
import { idOf } from '../projects/project-access.js'
import { attachments } from './attachments.js'
import { channel } from './channel.js'
import type { ReplyWriter } from './reply-writer.js'
import { withoutMoreOfOthers } from './others-messages.js'
import { replyWriter } from './reply-writer.js'
import type { ReplyChunk, ReplyRequest } from './responder.js'
import type { Added, Conversation as StoredConversation, Message as StoredMessage } from './stored-conversations.js'
import {
  addMessages,
  clearConversation,
  getConversation,
  lastMessages,
  listMessages,
  messageKey,
} from './stored-conversations.js'
import type { Writing } from './stored-replies.js'
import { endAbandonedReplies, leaseFrom, messageNow, stopReply } from './stored-replies.js'

/** The message that was stored, if one was given, and the reply as it is written. */
export interface Replying {
  message: StoredMessage | undefined
  /** The reply as it is stored when it begins: `running`, and without text. */
  reply: StoredMessage
  /** The reply goes on where this is not read to its end: leave it by `return()`, so that it is not waited for. */
  chunks: AsyncIterableIterator<ReplyChunk, undefined>
}

/** A message that is to be stored. */
export interface NewText {
  text: string
  /** Default `user`. */
  role?: StoredMessage['role']
  /** The ids of files of the user; default none. */
  attachments?: string[]
}

/** What a reply is asked for by. */
export interface NewReply {
  /** The message of the user to store and to reply to; default the last one. */
  message?: Omit<NewText, 'role'> | undefined
  /** What the bytes of files are taken from; default they are not counted. */
  memory?: Memory | undefined
}

/** What users can do with the conversations of their projects, without HTTP. Each project has one, made at its first use. */
export function conversationOperations(
  { kv, kvOf, teams, responder, countRequest, countRead, inTurn, dataBytes: bytes, onError, now, logged }: Parts,
  files?: FileOperations,
) {
  const attached = attachments(files)
  /** The replies that this process writes, by their ids. */
  const running = new Map<string, ReplyWriter & { ended: Promise<void> }>()

  /**
   * What is asked for a reply to a message, or without one to the last message of the user before the reply. It sees what is before that message:
   * of replies to earlier ones that are being written at the same time, nothing.
   * @throws ApiError 400 where there is no message
   */
  async function requestOf({
    conversation,
    message,
    reply,
    isMember,
    memory,
    ...request
  }: Pick<ReplyRequest, 'user' | 'project' | 'signal'> &
    Pick<Replying, 'message' | 'reply'> &
    Pick<NewReply, 'memory'> &
    Pick<Added, 'isMember'> & { conversation: StoredConversation }): Promise<ReplyRequest> {
    const [{ items }, { agents }] = await Promise.all([
      lastMessages(kv, conversation, { limit: REPLY_MESSAGES, after: reply.id }),
      teams.team(request.project.team_type),
    ])
    // Between a message and its reply, another process may have stored another message; before another try are earlier ones.
    const last = items.findLastIndex(({ id, role }) => (message ? id === message.id : role === 'user'))
    if (last === -1) throw message ? notFound('conversation') : invalid('There is no message of the user to reply to')
    const { user, project } = request
    const isOfOther = ({ user_id: sender = project.user_id }: StoredMessage): boolean => sender !== user.id
    const asked = items.slice(0, last + 1).filter(({ text }) => text !== '')
    const isFormer = ({ user_id: sender = project.user_id }: StoredMessage): boolean => !isMember(sender)
    const messages = await attached.sent(withoutMoreOfOthers(asked, isOfOther, REPLY_OTHERS_LENGTH), isFormer, memory)
    const models = agents.flatMap(({ model }) => model ?? []).slice(0, 1)
    return { ...request, conversation_id: conversation.id, models, messages }
  }

  /**
   * Writes a reply to its end, whether or not somebody reads it, and stores it as it grows.
   * @param begin asks for it
   * @returns its chunks
   */
  function write(
    begin: (signal: AbortSignal) => Promise<AsyncIterable<ReplyChunk>>,
    writing: Writing,
  ): AsyncIterableIterator<ReplyChunk, undefined> {
    const { push, end, reader } = channel<ReplyChunk>()
    const writer = replyWriter(kv, writing, now)
    const { signal } = writer
    let hasEnded!: () => void
    const ended = new Promise<void>((resolve) => (hasEnded = resolve))
    const { id } = writing.reply
    running.set(id, { ...writer, ended })
    /** Stores the reply before its reader is told how it ended. */
    const finish = async (failure?: { error: unknown }): Promise<void> => {
      try {
        await writer.end(failure === undefined)
        end(failure)
      } catch (error) {
        // What is stored of it stays, until others see that nobody writes it.
        callHook(() => onError?.(error, { reply_id: id }))
        end({ error })
      }
      running.delete(id)
      hasEnded()
    }
    signal.addEventListener('abort', () => void finish({ error: signal.reason }))
    const relay = async (): Promise<void> => {
      for await (const chunk of await begin(signal)) {
        signal.throwIfAborted()
        writer.add(chunk)
        await push(chunk)
      }
      signal.throwIfAborted()
    }
    void relay().then(
      () => finish(),
      (error: unknown) => finish({ error }),
    )
    return reader
  }

  /** Stores messages when it is the user's turn: requests that may be answered with a reply have none around them, and a project may have a long description. */
  const add = (
    userId: string,
    projectId: string,
    added: Parameters<typeof addMessages>[3],
    times: { until?: number; now: number },
  ): ReturnType<typeof addMessages> =>
    inTurn(userId, () => addMessages(kvOf(userId), userId, projectId, added, { bytes, ...times }))

  /** A message as it is stored. @throws ApiError 404, 400 for files that cannot be attached */
  const withFiles = async (userId: string, { text, attachments: ids = [] }: Omit<NewText, 'role'>) => {
    if (ids.length === 0) return { text }
    return inTurn(userId, async () => {
      const attachments = await attached.of(userId, ids)
      await countRead(
        userId,
        attachments.reduce((sum, { size_bytes }) => sum + size_bytes, 0),
      )
      return { text, attachments }
    })
  }
  const messageOf = async (kv: KV, conversation: StoredConversation, id: string): Promise<StoredMessage> => {
    const known = idOf(id)
    const entry = known === null ? null : await kv.get<StoredMessage>(messageKey(conversation, known))
    return found('message', entry && (await messageNow(kv, conversation, entry.value, now())))
  }
  /** A page of messages as they are now. */
  const asNow = async (conversation: StoredConversation, { items, next }: Page<StoredMessage>) => ({
    items: (await Promise.all(items.map((one) => messageNow(kv, conversation, one, now())))).filter(
      (one) => one !== null,
    ),
    next,
  })

  return {
    /** Whether there is a responder. */
    canReply: responder !== undefined,
    /** @throws ApiError 404 */
    get: (userId: string, projectId: string) => getConversation(kvOf(userId), userId, projectId, now()),
    /** The messages of a conversation, oldest first. */
    messages: async (conversation: StoredConversation, page?: PagingInput) =>
      asNow(conversation, await listMessages(kv, conversation, page)),
    /** The last messages of a conversation, oldest first; `next` is the `after` of those before them. */
    lastMessages: async (conversation: StoredConversation, page?: PagingInput) =>
      asNow(conversation, await lastMessages(kv, conversation, page)),
    /** Whether one of the messages that a reply is made from has a file. @throws ApiError 404 */
    hasFiles: (userId: string, projectId: string): Promise<boolean> =>
      inTurn(userId, async () => {
        const kv = kvOf(userId)
        const conversation = await getConversation(kv, userId, projectId, now())
        if (!conversation.has_files) return false
        const { items } = await lastMessages(kv, conversation, { limit: REPLY_MESSAGES })
        return items.some(({ attachments }) => attachments !== undefined)
      }),
    /** A message of a conversation, with what has come of a reply that is being written. @throws ApiError 404 */
    async message(userId: string, projectId: string, id: string) {
      const kv = kvOf(userId)
      return messageOf(kv, await getConversation(kv, userId, projectId, now()), id)
    },
    /** A file of a message, whosever it is, and what its signed URLs are bound to. @throws ApiError 404, also where the file is in the trash, or held back */
    async file(userId: string, projectId: string, messageId: string, fileId: string) {
      const kv = kvOf(userId)
      const { attachments = [] } = await messageOf(kv, await getConversation(kv, userId, projectId, now()), messageId)
      if (!files || attachments.every(({ id }) => id !== idOf(fileId))) throw notFound('file')
      const { file, urlState } = await files.served(fileId)
      return { file: found('file', file), urlState }
    },
    /** Removes all messages. @throws ApiError 404, 403 for readers */
    clear: (userId: string, projectId: string): Promise<void> =>
      logged('conversation.clear', userId, (by) =>
        clearConversation(kvOf(userId), userId, projectId, { now: now(), by }),
      ),
    /** Stores a message. @throws ApiError 404, 403 for readers, and where the plan of the owner has no space for its data, 400 for files that cannot be attached */
    async send(userId: string, projectId: string, { role = 'user', ...message }: NewText) {
      if (role !== 'user' && message.attachments) throw invalid('Only a message of the user has files')
      const added = [{ role, ...(await withFiles(userId, message)) }]
      const { messages } = await add(userId, projectId, added, { now: now() })
      return messages[0]!
    },
    /**
     * Asks the responder for a reply to the last message of the user, after it has stored this message if one is given. Resolves with the first
     * chunk of the reply, which then goes on by itself: until it is whole, {@link stop} or a limit ends it, or its conversation is gone.
     * @throws ApiError 429 where the user asks for too much, 403 for readers, and where there is no space for data, 400 for files that cannot be attached, 404 or 503 without a responder: nothing is stored
     * then; 400 where there is nothing to reply to, 409 where it was stopped, and what the responder throws: the message stays stored then
     */
    async reply(user: User, projectId: string, { message: asked, memory }: NewReply = {}): Promise<Replying> {
      if (!responder) throw noModel()
      await countRequest(user)
      const added = [
        ...(asked ? [{ role: 'user' as const, ...(await withFiles(user.id, asked)) }] : []),
        { role: 'assistant' as const, text: '', state: 'running' as const },
      ]
      const { project, conversation, isMember, messages } = await add(user.id, projectId, added, {
        until: leaseFrom(now()),
        now: now(),
      })
      const [reply, message] = [messages.at(-1)!, messages.at(-2)]
      const begin = async (signal: AbortSignal) =>
        responder(await requestOf({ user, project, conversation, message, reply, isMember, signal, memory }))
      const chunks = write(begin, { userId: user.id, ownerId: project.user_id, conversation, reply })
      return { message, reply, chunks: begunWith(await chunks.next(), chunks) }
    },
    /**
     * Stops a reply, in whatever process it is written: there within two seconds. What came of it stays, and is paid for.
     * @returns the message, which may still be `running` where another process writes it
     * @throws ApiError 404, 403 for readers
     */
    async stop(userId: string, projectId: string, id: string) {
      const kv = kvOf(userId)
      const conversation = await getConversation(kv, userId, projectId, now(), { least: 'editor' })
      const { state, id: known } = await messageOf(kv, conversation, id)
      if (state === 'running') {
        await stopReply(kv, conversation, known)
        const here = running.get(known)
        here?.abort('stopped')
        await here?.ended
      }
      return messageOf(kv, conversation, known)
    },
    /**
     * Ends the replies whose processes are gone as `failed`, with what is stored of them. Whoever reads one sees to it, too.
     * @param isAlone whether no other process uses the store, so that all that this one does not write are such; default false
     * @returns how many there were
     */
    endAbandoned: (isAlone = false) => endAbandonedReplies(kv, isAlone ? Infinity : now()),
    /** Resolves when this process writes no reply; ends those that it still writes after `ms`. */
    async drain(ms: number): Promise<void> {
      const endAll = (): void => running.forEach(({ abort }) => abort('shutdown'))
      const late = performance.now() + ms
      const timer = setTimeout(endAll, ms)
      while (running.size > 0) {
        await Promise.all([...running.values()].map(({ ended }) => ended))
        if (performance.now() > late) endAll()
      }
      clearTimeout(timer)
    },
  }
}

export type ConversationOperations = ReturnType<typeof conversationOperations>
