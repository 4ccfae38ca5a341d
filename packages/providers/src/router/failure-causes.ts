/** What a failure of an upstream says of its provider, its model, or the request alone. @module */
import type { UpstreamError, UpstreamFailure } from '@turnpike/core'

/**
 * Whether the model itself ended its answer early or unusably: `code` is then its finish reason or what is wrong, or the answer reports its
 * usage.
 */
export const ended = ({ kind, code, usage }: UpstreamFailure): boolean =>
  kind === 'malformed' ? (code ?? usage) !== undefined : kind === 'truncated' && code !== undefined

/** Whether the provider or a proxy of its own (504, 524) did not answer in time. */
const isTimeout = ({ kind, status }: UpstreamFailure): boolean => kind === 'timeout' || status === 504 || status === 524

/** Whether the provider is only asked too often, and not an account that cannot pay, which some report with the same status. */
export const isRateLimit = ({ status, credential }: UpstreamFailure): boolean => status === 429 && !credential

/** The words of a message, such as ids of models. */
const words = (message: string): string[] => message.split(/[^\w./:@-]+|[.:](?=\s|$)/)

/** Statuses of what a server does not do, such as embeddings of llama.cpp's (501). */
const UNSUPPORTED = new Set([405, 415, 501])

/**
 * Whether a model is refused, and not the credential: some vendors answer 403 for models that an account may not use, which callers choose, and LiteLLM
 * 401. A 403 that names no model is about the account, such as its country.
 */
export function refusesModel({ message, failure: { status = 0, code } }: UpstreamError, model: string): boolean {
  if (UNSUPPORTED.has(status)) return true
  if (status !== 401 && status !== 403 && status !== 404) return false
  // As a word of its own: an id may be as short as a letter.
  const isNamed = code === 'model_not_found' || code === 'key_model_access_denied' || words(message).includes(model)
  return isNamed || (status !== 401 && /\b(models?|resource)\b/i.test(message))
}

/**
 * Whether another request would pass: OpenAI and Groq answer 429 to a prompt that is larger than the account's limit of a minute, Claude to one for which
 * the account has no long context; OpenRouter 402 to a `max_tokens` that is dearer than what the account has left; where there is no room in the service
 * tier `flex`, OpenAI 429, Groq 498.
 */
export const isOfRequest = ({ message, failure: { status } }: UpstreamError): boolean =>
  (status === 429 && /request too large|long context|resource unavailable/i.test(message)) ||
  (status === 402 && /fewer max_tokens/i.test(message)) ||
  status === 498

/** How OpenAI and Groq, Claude, Azure, Gemini and Bedrock say that a limit of tokens is reached. */
const ofTokens = /tokens per min|token rate limit|token_count|too many tokens/i

/** Whether a smaller request may pass: a limit of tokens refuses large ones while small ones are answered. */
export const isLarge = ({ message, failure: { status } }: UpstreamError): boolean =>
  status === 429 && ofTokens.test(message)

/**
 * Milliseconds after which a burst of one caller's is over: after an answer, no 500 is counted for so long, as an outage is to be noticed soon; and so long
 * a model rests at most for what may be the fault of one large request.
 */
export const BURST_MS = 5_000

/**
 * For how many milliseconds after an answer a failure says nothing about the provider, because callers can bring it about: by answers that take
 * too long, or are cut short by a proxy before them, models whose names lead to no answer of the vendor's, what is not for the account (all statuses below 500), and a 500 for input that a server cannot
 * read, as of llama.cpp and Ollama, or a connection that breaks instead once it was sent, as where it is too large.
 */
export function doubtfulMs(failure: UpstreamFailure, restMs: number): number {
  const { kind, status = 500 } = failure
  if (isTimeout(failure) || kind === 'truncated' || kind === 'malformed' || status < 500) return restMs
  const isOfInput = failure.status === 500 || (failure.kind === 'unavailable' && failure.accepted)
  return isOfInput ? Math.min(BURST_MS, restMs) : 0
}
