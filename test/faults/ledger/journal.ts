import { request } from 'node:http'
import type { UsageRecord } from '@turnpike/core'
import type { Plan } from '../../support/planned-upstream.js'

/** A key and its user. */
export interface Holder {
  userId: string
  keyId: string
  /** The key's value. */
  key: string
}

/** A request and what its client received: the oracle. Made before the request is sent and updated with each chunk. */
export interface Asked {
  holder: Holder
  /** X-Session-ID; '' = none. */
  session: string
  /** Whether the session belongs to this user. */
  inSession: boolean
  /** X-Project-ID and X-Task-ID; '' = none. */
  project: string
  task: string
  /** The project and the task in whose totals it counts; '' = none. */
  counts: { project: string; task: string }
  stream: boolean
  plan: Plan
  status?: number
  requestId?: string
  /** Whether the client received a whole response of status 200, or `[DONE]`. */
  finished: boolean
}

/** `max_tokens` of every request; more than any plan has, so that no request costs more than its hold. */
export const MAX_TOKENS = 100

/** The estimated fields of a request's record. */
export const estimateOf = ({ plan }: Asked): Partial<UsageRecord> => ({
  prompt_tokens: Math.ceil(JSON.stringify(plan).length / 4),
  accuracy: 'estimated',
})

/**
 * Sends a request on a new connection and resolves when the connection has closed, for whatever reason.
 * @param disconnectAfter milliseconds after which the client disconnects, if the response is not complete; default never
 */
export function send(url: string, asked: Asked, disconnectAfter?: number): Promise<void> {
  const { holder, session, project, task, stream, plan } = asked
  return new Promise((resolve) => {
    const sent = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${holder.key}`,
        'content-type': 'application/json',
        // Identifies the record if the client does not receive the request id.
        'x-conversation-id': plan.id,
        ...(session !== '' && { 'x-session-id': session }),
        ...(project !== '' && { 'x-project-id': project }),
        ...(task !== '' && { 'x-task-id': task }),
      },
    })
    const timer = disconnectAfter === undefined ? undefined : setTimeout(() => sent.destroy(), disconnectAfter)
    // The outcome follows from the data received until then.
    sent.on('error', () => undefined)
    sent.on('close', () => {
      clearTimeout(timer)
      resolve()
    })
    sent.on('response', (response) => {
      asked.status = response.statusCode!
      asked.requestId = response.headers['x-request-id'] as string
      let text = ''
      response.setEncoding('utf8').on('error', () => undefined)
      response.on('data', (chunk: string) => {
        text += chunk
        if (stream && text.endsWith('data: [DONE]\n\n')) asked.finished = true
      })
      response.on('end', () => {
        if (!stream && asked.status === 200) asked.finished = 'choices' in (JSON.parse(text) as object)
      })
    })
    const messages = [{ role: 'user', content: JSON.stringify(plan) }]
    sent.end(JSON.stringify({ model: 'gpt-4o-mini', messages, stream, max_tokens: MAX_TOKENS }))
  })
}
