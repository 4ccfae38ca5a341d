import { createHash } from 'node:crypto'
import type { Answered, Asked, Guard } from '@turnpike/gateway'

/**
 * Answers requests that a user has made before with the answer that they got, for nothing; streams too.
 * @param options.size answers that are kept @param options.ms milliseconds for which each is good
 */
export function cache({ size = 1_000, ms = 3_600_000 } = {}): Guard {
  const answers = new Map<string, { answer: Answered['answer']; until: number }>()
  const keys = new WeakMap<Asked, string>()
  return {
    name: 'cache',
    request(asked) {
      const { task, user_id, end_user } = asked
      if (task !== 'chat' && task !== 'embeddings') return undefined
      const { stream: _, stream_options: __, ...request } = asked.request
      // By user and end user, so that nobody learns what others ask.
      const key = createHash('sha256')
        .update(JSON.stringify([user_id, end_user, task, request]))
        .digest('hex')
      keys.set(asked, key)
      const found = answers.get(key)
      return found && found.until > Date.now() ? { answer: found.answer } : undefined
    },
    answer(answered) {
      const key = keys.get(answered)
      if (key === undefined) return
      const [oldest] = answers.keys()
      if (oldest !== undefined && answers.size >= size) answers.delete(oldest)
      answers.set(key, { answer: answered.answer, until: Date.now() + ms })
    },
  }
}
