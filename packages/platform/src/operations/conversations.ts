import type { User } from '@turnpike/core'
import { ChatChunk } from '@turnpike/core'
import { begunWith, invalid, readerOf } from '@turnpike/core/internal'
import type { Answer, Call, EventStream } from '@turnpike/http'
import { asksFor, asksForPage, jsonList, linkNext, Paging, sse, sseEvent } from '@turnpike/http'
import * as v from 'valibot'
import { REPLY_LENGTH, REPLY_MESSAGES } from '../conventions.js'
import type { Conversation as StoredConversation, Message as StoredMessage } from '../entities/conversations.js'
import {
  addMessages,
  clearConversation,
  getConversation,
  isOpen,
  lastMessages,
  listMessages,
  replaceMessage,
} from '../entities/conversations.js'
import type { Paging as PagingInput } from '../entities/pages.js'
import { noModel, notFound, tooLong } from '../errors.js'
import { present } from '../given-fields.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import type { ReplyChunk, ReplyRequest } from '../responder.js'
import { Conversation, IdParams, Message, MessageRole, wellFormed } from '../schemas.js'
import type { Wanted } from '../while-wanted.js'
import { whileWanted } from '../while-wanted.js'
import type { ProjectOperations } from './projects.js'

/** The message that was stored, if one was given, and the reply as it is written. */
export interface Replying {
  message: StoredMessage | undefined
  /** The reply as it is stored until it is whole: `incomplete`, and without text. */
  reply: StoredMessage
  /** Read it to its end, or end it by `return()`: that stores the reply as far as it came. */
  chunks: AsyncIterableIterator<ReplyChunk, undefined>
}

/** What users can do with the conversations of their projects, without HTTP. Each project has one, made at its first use. */
export function conversationOperations({ kv, teams, responder, countRequest, dataBytes: bytes, now }: Parts) {
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

  /** Relays the chunks of a reply and stores its text when they end, and also where they break off. */
  async function* storing(
    begin: () => Promise<AsyncIterable<ReplyChunk>>,
    userId: string,
    conversation: StoredConversation,
    reply: StoredMessage,
    wanted: Wanted,
  ): AsyncGenerator<ReplyChunk, undefined> {
    let text = ''
    let began = false
    let whole = false
    try {
      for await (const chunk of await begin()) {
        began = true
        const content = chunk.choices[0]?.delta.content ?? ''
        if (text.length + content.length > REPLY_LENGTH) throw tooLong('The reply', REPLY_LENGTH)
        text += content
        yield chunk
      }
      wanted.check()
      whole = true
    } catch (error) {
      // What was aborted for this reason ends in whatever way.
      wanted.check()
      throw error
    } finally {
      wanted.end()
      // A reply that was refused leaves nothing; one that broke off stays as far as it came.
      const { id, role, timestamp } = reply
      const stored = whole ? { id, role, text, timestamp } : began ? { ...reply, text } : null
      await replaceMessage(kv, userId, conversation, reply.id, stored)
    }
  }

  return {
    /** Whether there is a responder. */
    canReply: responder !== undefined,
    /** @throws ApiError 404 */
    get: (userId: string, projectId: string) => getConversation(kv, userId, projectId, now()),
    /** The messages of a conversation, oldest first. */
    messages: (conversation: StoredConversation, page?: PagingInput) => listMessages(kv, conversation, page),
    /** The last messages of a conversation, oldest first; `next` is the `after` of those before them. */
    lastMessages: (conversation: StoredConversation, page?: PagingInput) => lastMessages(kv, conversation, page),
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
     * chunk of the reply.
     * @throws ApiError 429 where the user asks for too much, 403 where there is no space for data, 404 or 503 without a responder: nothing is stored then; 400 where there is nothing to
     * reply to, and what the responder throws: the message stays stored then
     */
    async reply(user: User, projectId: string, text: string | undefined, signal: AbortSignal): Promise<Replying> {
      if (!responder) throw noModel()
      await countRequest(user)
      const added = [
        ...(text === undefined ? [] : [{ role: 'user' as const, text }]),
        { role: 'assistant' as const, text: '', incomplete: true as const },
      ]
      const { project, conversation, messages } = await addMessages(kv, user.id, projectId, added, {
        bytes,
        now: now(),
      })
      const [reply, message] = [messages.at(-1)!, messages.at(-2)]
      const wanted = whileWanted('conversation', () => isOpen(kv, user.id, conversation), signal)
      const request = { user, project, conversation, message, reply, signal: wanted.signal }
      const begin = async () => responder(await requestOf(request))
      const chunks = storing(begin, user.id, conversation, reply, wanted)
      return { message, reply, chunks: begunWith(await chunks.next(), chunks) }
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
    version: (caller, { params: { id } }) => projects.version(caller!.user.id, id),
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

/** The events of a reply: its chunks as they come. */
function eventsOf(chunks: Replying['chunks']): EventStream<ReplyChunk> {
  return {
    read: readerOf(chunks),
    encode: (chunk) => sseEvent(JSON.stringify(chunk)),
    complete: async () => '',
    fail: async (error) => error,
    disconnect: async () => void (await chunks.return!()),
  }
}

/** Answers with a reply as it is written, until the caller leaves. */
async function streamed(
  conversations: ConversationOperations,
  user: User,
  projectId: string,
  text: string | undefined,
  call: Call,
): Promise<Answer> {
  const controller = new AbortController()
  call.onDisconnect(() => controller.abort())
  const { message, reply, chunks } = await conversations.reply(user, projectId, text, controller.signal)
  if (message) call.setHeader('x-message-id', message.id)
  call.setHeader('x-reply-id', reply.id)
  return sse(eventsOf(chunks))
}

/** POST /api/projects/{id}/conversation/messages */
export const conversationSend = (conversations: ConversationOperations) =>
  operation({
    id: 'conversations.send',
    summary:
      'Adds a message to the conversation of a project. With Accept: text/event-stream, the reply of the assistant is streamed and stored.',
    access: 'user',
    params: IdParams,
    body: NewMessage,
    example: { text: 'What is a good headline?' },
    output: Message,
    events: ChatChunk,
    errors: [403, 404, 429, 502, 503],
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
    errors: [400, 403, 404, 429, 502, 503],
    answerHeaders: ['X-Reply-ID'],
    run: (caller, { params: { id } }, call) => streamed(conversations, caller!.user, id, undefined, call),
  })
