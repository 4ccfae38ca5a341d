import { request } from 'node:http'
import type { UsageRecord } from '@turnpike/core'
import type { Plan } from '../../support/planned-upstream.js'

/** A key and who may show it. */
export interface Holder {
  userId: string
  keyId: string
  /** The key's value. */
  key: string
}

/** A request, and what its client saw of the answer: the oracle. Written down before it is sent and with each byte that comes. */
export interface Asked {
  holder: Holder
  /** X-Session-ID; '' = none. */
  session: string
  /** Whether that is a session of this user. */
  inSession: boolean
  stream: boolean
  plan: Plan
  status?: number
  requestId?: string
  /** The client saw a whole answer of status 200, or `[DONE]`. */
  finished: boolean
}

/** The most tokens that an answer may have; more than any plan has, so that nothing costs more than is held for it. */
export const MAX_TOKENS = 100

/** What is known of a request's tokens when nobody has counted them. */
export const estimateOf = ({ plan }: Asked): Partial<UsageRecord> => ({
  prompt_tokens: Math.ceil(JSON.stringify(plan).length / 4),
  accuracy: 'estimated',
})

/**
 * Sends a request on a connection of its own, and resolves when that has ended, however it ended.
 * @param leaveAfter milliseconds after which the client leaves, if it has no answer yet; default never
 */
export function send(url: string, asked: Asked, leaveAfter?: number): Promise<void> {
  const { holder, session, stream, plan } = asked
  return new Promise((resolve) => {
    const sent = request(`${url}/v1/chat/completions`, {
      method: 'POST',
      agent: false,
      headers: {
        authorization: `Bearer ${holder.key}`,
        'content-type': 'application/json',
        // What finds the record of a request whose client was never told its id.
        'x-conversation-id': plan.id,
        ...(session !== '' && { 'x-session-id': session }),
      },
    })
    const leaving = leaveAfter === undefined ? undefined : setTimeout(() => sent.destroy(), leaveAfter)
    // How it ends is told by what came until then.
    sent.on('error', () => undefined)
    sent.on('close', () => {
      clearTimeout(leaving)
      resolve()
    })
    sent.on('response', (response) => {
      asked.status = response.statusCode!
      asked.requestId = response.headers['x-request-id'] as string
      let text = ''
      response.setEncoding('utf8').on('error', () => undefined)
      response.on('data', (piece: string) => {
        text += piece
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
