import type { Usage } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { extend } from '@turnpike/core/helpers'
import type { ChatAdapter, ErrorAnswer, ErrorMeaning } from '../adapter.js'
import { contextExceeded } from './context-length.js'
import { errorObject } from './error-text.js'
import { refusalsIn } from './parameter-wordings.js'
import { refusedBy } from './refused-by.js'

/**
 * The error for an answer that is invalid or unusable, although the upstream has accepted (and bills) the request.
 * @param code the model's finish reason, or what is wrong where a caller could ask for it: the error then does not count against the provider's health
 * @example throw malformed('mine', 'The answer has no choices')
 */
export const malformed = (provider: string, message: string, cause?: unknown, code?: string): UpstreamError =>
  new UpstreamError(message, { provider, kind: 'malformed', accepted: true, cause, code })

/**
 * The error for an incomplete answer; `code` as in {@link malformed}.
 * @example throw truncated('mine', 'The stream ended early')
 */
export const truncated = (provider: string, message: string, cause?: unknown, code?: string): UpstreamError =>
  new UpstreamError(message, { provider, kind: 'truncated', accepted: true, cause, code })

/**
 * The error for an answer that the upstream itself gave up, as an error status would have told before it began.
 * @param code its word for that
 * @example throw failed('mine', 'The model is overloaded', 'overloaded')
 */
export const failed = (provider: string, message: string, code: string): UpstreamError =>
  new UpstreamError(message, { provider, kind: 'status', status: 500, accepted: true, code })

/**
 * The error for an answer or event over a limit. A caller can ask for one, such as with `n` and `top_logprobs`.
 * @example throw tooLarge('mine', 'The answer has more than 64 MiB')
 */
export const tooLarge = (provider: string, message: string, cause?: unknown): UpstreamError =>
  malformed(provider, message, cause, 'too_large')

const withFailure = (error: UpstreamError, fields: Partial<UpstreamError['failure']>): UpstreamError =>
  new UpstreamError(error.message, extend(error.failure, fields))

/**
 * An error of an answer that had begun, and is billed although it reported no usage.
 * @example throw unreported(truncated('mine', 'The stream ended early'))
 */
export const unreported = (error: UpstreamError): UpstreamError => withFailure(error, { unreported: true })

/**
 * An error of an answer, with the usage that it reported. One that the upstream told in place of an answer, without usage, is not billed.
 * @example throw billed(truncated('mine', 'The stream ended early'), usage)
 */
export function billed(error: UpstreamError, usage: Usage | undefined): UpstreamError {
  if (usage && usage.total_tokens > 0) return withFailure(error, { usage, accepted: true })
  return error.failure.accepted ? unreported(error) : error
}

/** The 404 of a path that a server does not have, such as FastAPI's. */
const noPath = /^(404:? )?(page )?not found\W?$|no route matched/i

/** Whether an error names a field that it refuses: "You are not allowed to request logprobs from this model" (OpenAI, with 403). */
const namesField = (message: string): boolean => refusalsIn(message).said.some(({ words }) => words.length > 0)

/** What a filter says of the request where its status is 403: xAI ("Content violates usage guidelines"), OpenRouter ("Your input was flagged"). */
const filteredInput = /\b(content|input|prompt)\b[^.]{0,60}\b(flagged|violates?|blocked)\b/i

/**
 * Whose fault an error status is. A 404, or a 410 as NVIDIA and Cloudflare give it for a retired model, is the caller's only with an error of the API: a wrong base URL is answered with 404 as well, by a page, or
 * with a text that names nothing.
 * @param denied whether the answer says in other words that the key is invalid or that its account cannot pay
 * @example const { caller } = faultOf({ status: 400, body: '' }, 'Invalid schema', false)
 */
export const faultOf = (
  { status, body }: Pick<ErrorAnswer, 'status' | 'body'>,
  message: string | undefined,
  denied: boolean,
): Pick<ErrorMeaning, 'caller' | 'credential'> => {
  const isOfRequest = status === 403 && (filteredInput.test(message ?? '') || namesField(message ?? ''))
  return {
    caller:
      !denied &&
      (isOfRequest ||
        [400, 409, 413, 422].includes(status) ||
        ([404, 410].includes(status) && typeof body === 'object' && message !== undefined && !noPath.test(message))),
    credential: denied || (!isOfRequest && [401, 402, 403].includes(status)),
  }
}

/** What stands between spaces, quotes and brackets of a text. */
const words = /[^\s"'`,;()<>[\]{}|=]+/g

/**
 * Errors that name models as callers do, and not by the operator's own names at an upstream, such as those of deployments.
 * @example const errors = asCallersKnow(adapter.errors, [{ id: 'small', upstream: 'gpt-4o-mini' }])
 */
export function asCallersKnow(
  errors: ChatAdapter['errors'],
  models: Iterable<{ id: string; upstream?: string }>,
): ChatAdapter['errors'] {
  const known = new Map(Array.from(models, ({ id, upstream = id }) => [upstream, id]))
  if (known.size === 0) return errors
  const told = (word: string): string => {
    const own = /[.:!?]$/.test(word) ? word.slice(0, -1) : word
    return (known.get(own) ?? own) + word.slice(own.length)
  }
  return (answer) => {
    const meaning = errors(answer)
    return { ...meaning, message: meaning.message?.replace(words, told) }
  }
}

/**
 * The error for an error status, either of the response itself or in its body. A prompt that is too long has OpenAI's code, whatever the family. What
 * cannot be read is told by its status alone.
 * @example throw statusError('mine', adapter.errors, { status: 429, body: text }, false)
 */
export function statusError(
  provider: string,
  errors: ChatAdapter['errors'],
  answer: Omit<ErrorAnswer, 'header'> & Partial<Pick<ErrorAnswer, 'header'>>,
  accepted: boolean,
): UpstreamError {
  const { status } = answer
  const failure = { provider, kind: 'status', status, accepted } as const
  const ofStatus = `The upstream answered with status ${status}`
  try {
    const { message, ...meaning } = errors({ header: () => undefined, ...answer })
    const error = errorObject(answer.body)
    const text = message ?? ''
    const exceeded = contextExceeded(status, text, [error['code'], error['type'], error['reason']])
    return new UpstreamError(message ?? ofStatus, {
      ...failure,
      ...meaning,
      ...(meaning.caller && { refused: refusedBy(status, text, answer.body) }),
      ...(exceeded && { refused: 'length', caller: true, code: 'context_length_exceeded', context: exceeded.limit }),
    })
  } catch (cause) {
    return new UpstreamError(ofStatus, { ...failure, cause })
  }
}
