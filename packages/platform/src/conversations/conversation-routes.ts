import type { PageOptions } from '@turnpike/core'
import { ChatChunk } from '@turnpike/core'
import { readerOf } from '@turnpike/core/helpers'
import type { Answer, Call, EventStream } from '@turnpike/http'
import { asksFor, asksForPage, hasScope, jsonList, linkNext, Paging, requireScope, sse, sseEvent } from '@turnpike/http'
import * as v from 'valibot'
import type { Caller } from '../caller.js'
import { ATTACHED } from '../conventions.js'
import { present } from '../given-fields.js'
import { operation } from '../operation.js'
import type { ProjectOperations } from '../projects/projects.js'
import { Conversation, IdParams, Message, MessageRole, wellFormed } from '../schemas.js'
import type { ConversationOperations, NewReply, Replying } from './conversations.js'
import type { ReplyChunk } from './responder.js'

/** The body of POST /api/projects/{id}/conversation/messages. */
export const NewMessage = v.object({
  text: v.pipe(v.string(), v.regex(/\S/, 'must not be blank'), wellFormed),
  role: v.nullish(MessageRole),
  attachments: v.nullish(v.pipe(v.array(v.string()), v.maxLength(ATTACHED.files))),
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
      const get = () => conversations.get(caller!.user.id, projectId)
      const conversation = await get()
      const head = { id: conversation.id, project_id: conversation.project_id }
      const read = async (page: PageOptions) => {
        // The client takes its time, and may have been removed meanwhile.
        if (page.after !== undefined) await get()
        return conversations.messages(conversation, page)
      }
      if (!asksForPage(query)) return jsonList(head, 'messages', read)
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
    errors: [403, 404],
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
    errors: [403, 404],
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

/** Answers with a reply as it is written, for whoever may ask models. */
async function streamed(
  conversations: ConversationOperations,
  { user, who }: NonNullable<Caller>,
  projectId: string,
  asked: NewReply['message'],
  call: Call,
): Promise<Answer> {
  requireScope(who, 'gateway', 'write')
  // The reply is about the files of earlier messages, too.
  if (!hasScope(who, 'files', 'read') && (await conversations.hasFiles(user.id, projectId)))
    requireScope(who, 'files', 'read')
  const { memory } = call
  const { message, reply, chunks } = await conversations.reply(user, projectId, { message: asked, memory })
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
    async run(caller, { params: { id }, body: { text, role, attachments } }, call) {
      const { user, who } = caller!
      if (attachments) requireScope(who, 'files', 'read')
      const wantsReply =
        (role ?? 'user') === 'user' && asksFor(call.header('accept'), 'text/event-stream', 'application/json')
      const message = { text, ...present({ attachments }) }
      if (!wantsReply || !conversations.canReply)
        return conversations.send(user.id, id, { ...message, ...present({ role }) })
      return streamed(conversations, caller!, id, message, call)
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
    run: (caller, { params: { id } }, call) => streamed(conversations, caller!, id, undefined, call),
  })
