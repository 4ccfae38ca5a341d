import type { User } from '@turnpike/core'
import { ChatChunk } from '@turnpike/core'
import { begunWith, invalid, readerOf } from '@turnpike/core/internal'
import type { Answer, Call, EventStream } from '@turnpike/http'
import { asksFor, asksForPage, jsonList, linkNext, Paging, sse, sseEvent } from '@turnpike/http'
import * as v from 'valibot'
import { channel } from '../channel.js'
import { REPLY_CHUNKS, REPLY_MESSAGES } from '../conventions.js'
import type { Conversation as StoredConversation, Message as StoredMessage } from '../entities/conversations.js'
import {
  addMessages,
  clearConversation,
  getConversation,
  lastMessages,
  listMessages,
  messageKey,
} from '../entities/conversations.js'
import type { Page, Paging as PagingInput } from '../entities/pages.js'
import { idOf } from '../entities/projects.js'
import type { Writing } from '../entities/replies.js'
import { endAbandonedReplies, leaseFrom, messageNow, stopReply } from '../entities/replies.js'
import { found, noModel, notFound } from '../errors.js'
import { present } from '../given-fields.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import type { ReplyChunk, ReplyRequest } from '../responder.js'
import type { ReplyWriter } from '../reply-writer.js'
import { replyWriter } from '../reply-writer.js'
import { Conversation, IdParams, Message, MessageRole, wellFormed } from '../schemas.js'
import type { ProjectOperations } from './projects.js'

/** The message that was stored, if one was given, and the reply as it is written. */
export interface Replying {
  message: StoredMessage | undefined
  /** The reply as it is stored when it begins: `running`, and without text. */
  reply: StoredMessage
  /** The reply goes on where this is not read to its end: leave it by `return()`, so that it is not waited for. */
  chunks: AsyncIterableIterator<ReplyChunk, undefined>
}

/** What users can do with the conversations of their projects, without HTTP. Each project has one, made at its first use. */
export function conversationOperations({ kv, teams, responder, countRequest, dataBytes: bytes, onError, now }: Parts) {
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
    ...request
  }: Pick<ReplyRequest, 'user' | 'project' | 'signal'> &
    Pick<Replying, 'message' | 'reply'> & { conversation: StoredConversation }): Promise<ReplyRequest> {
    const [{ items }, { agents }] = await Promise.all([
      lastMessages(kv, conversation, { limit: REPLY_MESSAGES, after: reply.id }),
      teams.team(request.project.team_type),
    ])
    // Between a message and its reply, another process may have stored another message; before another try are earlier ones.
    const last = items.findLastIndex(({ id, role }) => (message ? id === message.id : role === 'user'))
    if (last === -1) throw message ? notFound('conversation') : invalid('There is no message of the user to reply to')
    const messages = items
      .slice(0, last + 1)
      .filter(({ text }) => text !== '')
      .map(({ role, text }) => ({ role, content: text }))
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
    const { push, end, reader } = channel<ReplyChunk>(REPLY_CHUNKS)
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
        onError?.(error, { reply_id: id })
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

  const messageOf = async (conversation: StoredConversation, id: string): Promise<StoredMessage> => {
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
    get: (userId: string, projectId: string) => getConversation(kv, userId, projectId, now()),
    /** The messages of a conversation, oldest first. */
    messages: async (conversation: StoredConversation, page?: PagingInput) =>
      asNow(conversation, await listMessages(kv, conversation, page)),
    /** The last messages of a conversation, oldest first; `next` is the `after` of those before them. */
    lastMessages: async (conversation: StoredConversation, page?: PagingInput) =>
      asNow(conversation, await lastMessages(kv, conversation, page)),
    /** A message of a conversation, with what has come of a reply that is being written. @throws ApiError 404 */
    message: async (userId: string, projectId: string, id: string) =>
      messageOf(await getConversation(kv, userId, projectId, now()), id),
    /** Removes all messages. @throws ApiError 404 */
    clear: (userId: string, projectId: string) => clearConversation(kv, userId, projectId, now()),
    /** Stores a message. @throws ApiError 404, 403 where the plan has no space for its data */
    async send(
      userId: string,
      projectId: string,
      { text, role = 'user' }: { text: string; role?: StoredMessage['role'] },
    ) {
      const { messages } = await addMessages(kv, userId, projectId, [{ role, text }], { bytes, now: now() })
      return messages[0]!
    },
    /**
     * Asks the responder for a reply to the last message of the user, after it has stored this message if one is given. Resolves with the first
     * chunk of the reply, which then goes on by itself: until it is whole, {@link stop} or a limit ends it, or its conversation is gone.
     * @throws ApiError 429 where the user asks for too much, 403 where there is no space for data, 404 or 503 without a responder: nothing is stored then; 400 where there is nothing to
     * reply to, 409 where it was stopped, and what the responder throws: the message stays stored then
     */
    async reply(user: User, projectId: string, text: string | undefined): Promise<Replying> {
      if (!responder) throw noModel()
      await countRequest(user)
      const added = [
        ...(text === undefined ? [] : [{ role: 'user' as const, text }]),
        { role: 'assistant' as const, text: '', state: 'running' as const },
      ]
      const { project, conversation, messages } = await addMessages(kv, user.id, projectId, added, {
        bytes,
        until: leaseFrom(now()),
        now: now(),
      })
      const [reply, message] = [messages.at(-1)!, messages.at(-2)]
      const begin = async (signal: AbortSignal) =>
        responder(await requestOf({ user, project, conversation, message, reply, signal }))
      const chunks = write(begin, { userId: user.id, conversation, reply })
      return { message, reply, chunks: begunWith(await chunks.next(), chunks) }
    },
    /**
     * Stops a reply, in whatever process it is written: there within two seconds. What came of it stays, and is paid for.
     * @returns the message, which may still be `running` where another process writes it
     * @throws ApiError 404
     */
    async stop(userId: string, projectId: string, id: string) {
      const conversation = await getConversation(kv, userId, projectId, now())
      const { state, id: known } = await messageOf(conversation, id)
      if (state === 'running') {
        await stopReply(kv, conversation, known)
        const here = running.get(known)
        here?.abort('stopped')
        await here?.ended
      }
      return messageOf(conversation, known)
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

/** The body of POST /api/projects/{id}/conversation/messages. */
export const NewMessage = v.object({
  text: v.pipe(v.string(), v.regex(/\S/, 'must not be blank'), wellFormed),
  role: v.nullish(MessageRole),
})

/** GET /api/projects/{id}/conversation */
export const conversationGet = (conversations: ConversationOperations, projects: ProjectOperations) =>
  operation({
    id: 'conversations.get',
    summary:
      'The conversation of a project with all messages, oldest first; with `limit`, with the last ones, and a link to those before.',
    access: 'user',
    params: IdParams,
    query: Paging,
    output: Conversation,
    errors: [404],
    answerHeaders: ['Link'],
    version: (caller, { params: { id } }) => projects.version(caller!.user.id, id, 'conversation'),
    async run(caller, { params: { id: projectId }, query }, call) {
      const conversation = await conversations.get(caller!.user.id, projectId)
      const head = { id: conversation.id, project_id: conversation.project_id }
      if (!asksForPage(query)) return jsonList(head, 'messages', (page) => conversations.messages(conversation, page))
      const { items, next } = await conversations.lastMessages(conversation, query)
      linkNext(query, call, next)
      return { ...head, messages: items }
    },
  })

/** DELETE /api/projects/{id}/conversation */
export const conversationClear = (conversations: ConversationOperations) =>
  operation({
    id: 'conversations.clear',
    summary: 'Removes all messages of the conversation of a project.',
    access: 'user',
    params: IdParams,
    errors: [404],
    run: (caller, { params: { id } }) => conversations.clear(caller!.user.id, id),
  })

/** The parameters of a path of a message. */
const MessageParams = v.object({ id: v.string(), messageId: v.string() })

/** GET /api/projects/{id}/conversation/messages/{messageId} */
export const conversationMessage = (conversations: ConversationOperations) =>
  operation({
    id: 'conversations.message',
    summary:
      'One message, with what has come of a reply that is being written: read it again while its state is `running`.',
    access: 'user',
    params: MessageParams,
    output: Message,
    errors: [404],
    run: (caller, { params: { id, messageId } }) => conversations.message(caller!.user.id, id, messageId),
  })

/** POST /api/projects/{id}/conversation/messages/{messageId}/stop */
export const conversationStop = (conversations: ConversationOperations) =>
  operation({
    id: 'conversations.stop',
    summary: 'Stops a reply that is being written, within two seconds. What came of it is kept, and charged.',
    access: 'user',
    params: MessageParams,
    output: Message,
    errors: [404],
    run: (caller, { params: { id, messageId } }) => conversations.stop(caller!.user.id, id, messageId),
  })

/** The events of a reply: its chunks as they come. */
function eventsOf(chunks: Replying['chunks']): EventStream<ReplyChunk> {
  return {
    read: readerOf(chunks),
    encode: (chunk) => sseEvent(JSON.stringify(chunk)),
    complete: async () => '',
    fail: async (error) => error,
    // The reply goes on.
    disconnect: async () => void (await chunks.return!()),
  }
}

/** Answers with a reply as it is written. */
async function streamed(
  conversations: ConversationOperations,
  user: User,
  projectId: string,
  text: string | undefined,
  call: Call,
): Promise<Answer> {
  const { message, reply, chunks } = await conversations.reply(user, projectId, text)
  if (message) call.setHeader('x-message-id', message.id)
  call.setHeader('x-reply-id', reply.id)
  return sse(eventsOf(chunks))
}

/** POST /api/projects/{id}/conversation/messages */
export const conversationSend = (conversations: ConversationOperations) =>
  operation({
    id: 'conversations.send',
    summary:
      'Adds a message to the conversation of a project. With Accept: text/event-stream, the reply of the assistant is streamed and stored; it goes on where the caller leaves.',
    access: 'user',
    params: IdParams,
    body: NewMessage,
    example: { text: 'What is a good headline?' },
    output: Message,
    events: ChatChunk,
    errors: [403, 404, 409, 429, 502, 503],
    headers: ['Accept'],
    answerHeaders: ['X-Message-ID', 'X-Reply-ID'],
    async run(caller, { params: { id }, body: { text, role } }, call) {
      const { user } = caller!
      const wantsReply =
        (role ?? 'user') === 'user' && asksFor(call.header('accept'), 'text/event-stream', 'application/json')
      if (!wantsReply || !conversations.canReply) return conversations.send(user.id, id, { text, ...present({ role }) })
      return streamed(conversations, user, id, text, call)
    },
  })

/** POST /api/projects/{id}/conversation/reply */
export const conversationReply = (conversations: ConversationOperations) =>
  operation({
    id: 'conversations.reply',
    summary:
      'Streams and stores a reply to the last message of the user: another try, which costs as much as the first.',
    access: 'user',
    params: IdParams,
    events: ChatChunk,
    errors: [400, 403, 404, 409, 429, 502, 503],
    answerHeaders: ['X-Reply-ID'],
    run: (caller, { params: { id } }, call) => streamed(conversations, caller!.user, id, undefined, call),
  })
