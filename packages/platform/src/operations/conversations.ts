import type { User } from '@turnpike/core'
import { readerOf } from '@turnpike/core/internal'
import type { EventStream } from '@turnpike/http'
import { asksForPage, jsonList, linkNext, Paging, sse, sseEvent } from '@turnpike/http'
import * as v from 'valibot'
import { ChatChunk } from '@turnpike/core'
import { REPLY_MESSAGES } from '../conventions.js'
import type { Conversation as StoredConversation, Message as StoredMessage } from '../entities/conversations.js'
import {
  addMessages,
  clearConversation,
  getConversation,
  lastMessages,
  listMessages,
  replaceMessage,
} from '../entities/conversations.js'
import type { Paging as PagingInput } from '../entities/pages.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import type { ReplyChunk } from '../responder.js'
import { Conversation, Message, MessageRole } from '../schemas.js'
import { params } from './projects.js'

/** A message that was stored, and the reply to it as it is written. */
export interface Replying {
  message: StoredMessage
  /** The reply as it is stored until it is whole: `incomplete`, and without text. */
  reply: StoredMessage
  /** Read it to its end, or end it by `return()`: that stores the reply as far as it came. */
  chunks: AsyncIterableIterator<ReplyChunk, undefined>
}

/** An iterator whose first value was read already. */
function begunWith<T>(
  first: IteratorResult<T, undefined>,
  rest: AsyncIterator<T, undefined>,
): AsyncIterableIterator<T, undefined> {
  let waiting: typeof first | undefined = first
  return {
    async next() {
      const result = waiting ?? rest.next()
      waiting = undefined
      return result
    },
    return: async () => rest.return!(),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

/** What users can do with the conversations of their projects, without HTTP. Each project has one, made at its first use. */
export function conversationOperations({ kv, teams, responder, now }: Parts) {
  /** The model of the first agent of a project's team that has one. */
  const modelsOf = async (type: Parameters<typeof teams.team>[0]): Promise<string[]> => {
    const model = (await teams.team(type)).agents.find(({ model }) => model !== null)?.model
    return model == null ? [] : [model]
  }

  /** Relays the chunks of a reply and stores its text when they end, and also where they break off. */
  async function* storing(
    chunks: AsyncIterable<ReplyChunk>,
    conversation: StoredConversation,
    reply: StoredMessage,
  ): AsyncGenerator<ReplyChunk, undefined> {
    let text = ''
    let began = false
    let whole = false
    try {
      for await (const chunk of chunks) {
        began = true
        text += chunk.choices[0]?.delta.content ?? ''
        yield chunk
      }
      whole = true
    } finally {
      // A reply that was refused leaves nothing; one that broke off stays as far as it came.
      const { id, role, timestamp } = reply
      const stored = whole ? { id, role, text, timestamp } : began ? { ...reply, text } : null
      await replaceMessage(kv, conversation, reply.id, stored)
    }
  }

  return {
    /** Whether there is a responder, so that messages can be replied to. */
    canReply: responder !== undefined,
    /** @throws ApiError 404 */
    get: (userId: string, projectId: string) => getConversation(kv, userId, projectId, now()),
    /** The messages of a conversation, oldest first. */
    messages: (conversation: StoredConversation, page?: PagingInput) => listMessages(kv, conversation, page),
    /** The last messages of a conversation, oldest first; `next` is the `after` of those before them. */
    lastMessages: (conversation: StoredConversation, page?: PagingInput) => lastMessages(kv, conversation, page),
    /** Removes all messages. @throws ApiError 404 */
    clear: (userId: string, projectId: string) => clearConversation(kv, userId, projectId, now()),
    /** Stores a message. @throws ApiError 404 */
    async send(
      userId: string,
      projectId: string,
      { text, role = 'user' }: { text: string; role?: StoredMessage['role'] },
    ) {
      const { messages } = await addMessages(kv, userId, projectId, [{ role, text }], now())
      return messages[0]!
    },
    /**
     * Stores a message of a user and asks the responder for a reply. Resolves with the first chunk of it.
     * @throws ApiError 404, and what the responder throws; the message stays stored then
     */
    async reply(user: User, projectId: string, text: string, signal: AbortSignal): Promise<Replying> {
      if (!responder) throw new TypeError('The platform has no responder')
      const { project, conversation, messages } = await addMessages(
        kv,
        user.id,
        projectId,
        [
          { role: 'user', text },
          { role: 'assistant', text: '', incomplete: true },
        ],
        now(),
      )
      const [message, reply] = messages as [StoredMessage, StoredMessage]
      const [last, models] = await Promise.all([
        lastMessages(kv, conversation, { limit: REPLY_MESSAGES + 1 }),
        modelsOf(project.team_type),
      ])
      const chunks = storing(
        responder({
          user,
          project,
          conversation_id: conversation.id,
          models,
          // The reply itself, and others of which nothing came, have no text.
          messages: last.items.filter(({ text }) => text !== '').map(({ role, text }) => ({ role, content: text })),
          signal,
        }),
        conversation,
        reply,
      )
      return { message, reply, chunks: begunWith(await chunks.next(), chunks) }
    },
  }
}

export type ConversationOperations = ReturnType<typeof conversationOperations>

/** The body of POST /api/projects/{id}/conversation/messages. */
export const NewMessage = v.object({
  text: v.pipe(v.string(), v.regex(/\S/, 'expected a text')),
  role: v.nullish(MessageRole),
})

/** GET /api/projects/{id}/conversation */
export const conversationGet = (conversations: ConversationOperations) =>
  operation({
    id: 'conversations.get',
    summary:
      'The conversation of a project with all messages, oldest first; with `limit`, with the last ones, and a link to those before.',
    access: 'user',
    params,
    query: Paging,
    output: Conversation,
    errors: [404],
    answerHeaders: ['Link'],
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
    params,
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

/** POST /api/projects/{id}/conversation/messages */
export const conversationSend = (conversations: ConversationOperations) =>
  operation({
    id: 'conversations.send',
    summary:
      'Adds a message to the conversation of a project. With Accept: text/event-stream, the reply of the assistant is streamed and stored.',
    access: 'user',
    params,
    body: NewMessage,
    output: Message,
    events: ChatChunk,
    errors: [404, 502, 503],
    headers: ['Accept'],
    answerHeaders: ['X-Message-ID', 'X-Reply-ID'],
    async run(caller, { params: { id }, body: { text, role } }, call) {
      const { user } = caller!
      const wantsReply = (role ?? 'user') === 'user' && /\btext\/event-stream\b/i.test(call.header('accept') ?? '')
      if (!wantsReply || !conversations.canReply)
        return conversations.send(user.id, id, { text, ...(role != null && { role }) })
      const controller = new AbortController()
      call.onDisconnect(() => controller.abort())
      const { message, reply, chunks } = await conversations.reply(user, id, text, controller.signal)
      call.setHeader('x-message-id', message.id)
      call.setHeader('x-reply-id', reply.id)
      return sse(eventsOf(chunks))
    },
  })
