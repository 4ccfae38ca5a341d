import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { completion } from '../support/gateway.js'

/** As OpenAI documents them ("Prompt caching"): prefixes of at least 1,024 tokens, in steps of 128, for 5 minutes after their last use. */
const LEAST = 1_024
const STEP = 128
const LASTS_MS = 5 * 60_000

const tokensOf = (messages: unknown[]): number => Math.ceil(JSON.stringify(messages).length / 4)

/** An upstream that keeps the prompts of one deployment, and reports how many of their tokens it had. */
export function promptCache(now: () => number) {
  /** When each prefix of messages was used last. */
  const used = new Map<string, number>()
  return (request: FakeRequest): FakeAnswer => {
    const { messages } = request.body as { messages: unknown[] }
    let cached = 0
    for (let length = 1; length <= messages.length; length++) {
      const prefix = JSON.stringify(messages.slice(0, length))
      if (now() - (used.get(prefix) ?? -Infinity) <= LASTS_MS) cached = tokensOf(messages.slice(0, length))
      used.set(prefix, now())
    }
    const prompt_tokens = tokensOf(messages)
    const cached_tokens = cached < LEAST ? 0 : cached - (cached % STEP)
    return completion({
      usage: {
        prompt_tokens,
        completion_tokens: 100,
        total_tokens: prompt_tokens + 100,
        prompt_tokens_details: { cached_tokens },
      },
    })
  }
}
