import { createHash } from 'node:crypto'
import type { Answered, Asked, Guard } from '@turnpike/gateway'

/** An answer that is kept. */
interface Kept {
  answer: Answered['answer']
  characters: number
  until: number
}

/**
 * Answers requests that a user has made before with the answer that they got, for nothing; streams too.
 * @param options.size answers that are kept @param options.characters of all of them, as JSON; one has a hundredth at most
 * @param options.ms milliseconds for which each is good
 */
export function cache({ size = 1_000, characters: room = 64_000_000, ms = 3_600_000 } = {}): Guard {
  const answers = new Map<string, Kept>()
  const keys = new WeakMap<Asked, string>()
  let used = 0
  const remove = (key: string): void => {
    used -= answers.get(key)?.characters ?? 0
    answers.delete(key)
  }
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
      const characters = JSON.stringify(answered.answer).length
      if (characters > room / 100) return
      remove(key)
      for (const [oldest] of answers) {
        if (answers.size < size && used + characters <= room) break
        remove(oldest)
      }
      used += characters
      answers.set(key, { answer: answered.answer, characters, until: Date.now() + ms })
    },
  }
}
