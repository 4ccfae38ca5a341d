import type { Family } from './families.js'
import { answer, chunksOf, created, done, event } from './wire.js'

const id = 'chatcmpl-fault'
const model = 'gpt-4o-mini'
const object = 'chat.completion.chunk'

export const seen = chunksOf(id, model)

/** A chunk as the upstream sends it. */
export const given = (delta: object, finish_reason: string | null = null, more: object = {}): string =>
  event({ id, object, created, model, choices: [{ index: 0, delta, finish_reason }], ...more })

export const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
export const usageGiven = event({ id, object, created, model, choices: [], usage })

/** An answer of two words, as events. */
export const hello = {
  start: [given({ role: 'assistant', content: '' }), given({ content: 'Hello' }), given({ content: ' world' })],
  finish: given({}, 'stop'),
  seen: [seen({ role: 'assistant', content: '' }), seen({ content: 'Hello' }), seen({ content: ' world' })].join(''),
  seenEnd: seen({}, 'stop') + done,
}
export const helloStream = [...hello.start, hello.finish, done]
export const helloSeen = hello.seen + hello.seenEnd

/** A whole answer, not streamed. */
export const completion = (message: object, finish_reason = 'stop'): string =>
  JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
    usage,
  })

const refusal = (message: string, code: string | number | null): object => ({
  error: { message, type: 'upstream_type', param: null, code },
})

/** A refusal. */
export const refused = (status: number, message: string, headers: string[] = [], code: string | null = null): string =>
  answer(status, JSON.stringify(refusal(message, code)), ['content-type: application/json', ...headers])

export const openai: Family = {
  name: 'OpenAI',
  model,
  dated: true,
  answer: (content) => completion({ content }),
  answerSeen: (content) => completion({ content }),
  hello: { ...hello, finish: [hello.finish], done: [done] },
  opening: (content) => [given({ role: 'assistant', content })],
  openingSeen: (content) => seen({ role: 'assistant', content }),
  text: (content) => given({ content }),
  textSeen: (content) => seen({ content }),
  refusal: (_, message) => JSON.stringify(refusal(message, null)),
  error: (status, message) => event(refusal(message, status)),
}
