/** A token of an authorization server, as it gives it. */
export interface Token {
  token: string
  /** Seconds for which it is good. */
  seconds: number
}

/** Milliseconds before its end after which a token is not used any more. */
const MARGIN_MS = 60_000
/** Milliseconds for which requests wait for one call together. */
export const TOKEN_TIMEOUT_MS = 10_000

/**
 * Keeps a token until a minute before it expires. Requests that need a new one at the same time wait for one call; after 10 seconds the next one makes
 * another, since on Workers a call ends with the request that began it.
 */
export function keptToken(ask: () => Promise<Token>, now: () => number = Date.now): () => string | Promise<string> {
  let kept: { token: string; until: number } | undefined
  let asked: { answer: Promise<string>; until: number } | undefined
  return () => {
    const time = now()
    if (kept && time < kept.until) return kept.token
    if (asked && time < asked.until) return asked.answer
    const answer = ask()
      .then(({ token, seconds }) => {
        kept = { token, until: now() + seconds * 1000 - MARGIN_MS }
        return token
      })
      .finally(() => (asked = undefined))
    asked = { answer, until: time + TOKEN_TIMEOUT_MS }
    return answer
  }
}
