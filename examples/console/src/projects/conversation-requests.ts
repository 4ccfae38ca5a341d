import type { Schemas } from '@turnpike/client'
import { turnpike } from '../turnpike.js'
import type { Asked, Message } from './conversation-types.js'

/** Messages of a page. */
const PER_PAGE = 30

/** What the platform is asked of the conversation of a project. */
export function requestsOf(projectId: string) {
  const params = { id: projectId }
  return {
    /** The last messages; with `after`, those before them. */
    page: (after?: string) =>
      turnpike.list('/api/projects/{id}/conversation', {
        params,
        query: { limit: PER_PAGE, ...(after !== undefined && { after }) },
      }),
    message: (messageId: string): Promise<Message> =>
      turnpike.get('/api/projects/{id}/conversation/messages/{messageId}', { params: { ...params, messageId } }),
    /** Streams a reply. @param asked the message that it replies to; undefined = the last one of the user */
    reply(
      asked: Asked | undefined,
      given: { signal: AbortSignal; onResponse: (response: Response) => void },
    ): AsyncIterable<Schemas['ChatChunk']> {
      const options = { params, ...given }
      if (!asked) return turnpike.stream('/api/projects/{id}/conversation/reply', options)
      const { text, attachments } = asked
      const body = { text, ...(attachments && { attachments: attachments.map(({ id }) => id) }) }
      return turnpike.stream('/api/projects/{id}/conversation/messages', { ...options, body })
    },
    stop(messageId: string): Promise<Message> {
      const path = '/api/projects/{id}/conversation/messages/{messageId}/stop'
      return turnpike.post(path, { params: { ...params, messageId } })
    },
    clear: () => turnpike.delete('/api/projects/{id}/conversation', { params }),
  }
}
