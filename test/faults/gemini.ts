import type { Family } from './families.js'
import { chunksOf, created, done, event } from './wire.js'

const id = 'chatcmpl-fault'
const model = 'gemini-2.5-flash'

export const seen = chunksOf(id, model)

const about = { modelVersion: model, responseId: 'fault' }
const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 }

/** A candidate of one text, or of these parts. */
export const candidate = (content: string | object[], more: object = {}): object => ({
  content: { parts: typeof content === 'string' ? [{ text: content }] : content, role: 'model' },
  ...more,
  index: 0,
})

/** A whole answer, or one event of a stream without its frame. */
export const whole = (fields: object): object => ({ usageMetadata, ...about, ...fields })
export const given = (...candidates: object[]): string => event(whole({ candidates }))
export const text = (content: string): string => given(candidate(content))
export const finish = given(candidate('', { finishReason: 'STOP' }))

/** A whole answer as the client is to see it. */
export const wholeSeen = (fields: object, finish_reason: string, prompt_tokens = 9, completion_tokens = 2): string =>
  JSON.stringify({
    id,
    object: 'chat.completion',
    created,
    model,
    choices: [{ index: 0, message: { role: 'assistant', ...fields }, logprobs: null, finish_reason }],
    usage: {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0 },
    },
  })

const words: Record<number, string> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  503: 'UNAVAILABLE',
}

/** The body of an error; `more` are further fields of it or others than usual. */
export const errorBody = (code: number, message: string, more: object = {}): object => ({
  error: { code, message, status: words[code] ?? 'UNKNOWN', ...more },
})

export const gemini: Family = {
  name: 'Gemini',
  model,
  dated: false,
  answer: (content) => JSON.stringify(whole({ candidates: [candidate(content, { finishReason: 'STOP' })] })),
  answerSeen: (content) => wholeSeen({ content, refusal: null }, 'stop'),
  hello: {
    start: [text('Hello'), text(' world')],
    finish: [finish],
    // Nothing tells of the end but the end.
    done: [],
    seen: seen({ role: 'assistant', content: 'Hello' }) + seen({ content: ' world' }),
    seenEnd: seen({}, 'stop') + done,
  },
  opening: (content) => [text(content)],
  openingSeen: (content) => seen({ role: 'assistant', content }),
  text,
  textSeen: (content) => seen({ content }),
  refusal: (status, message) => JSON.stringify(errorBody(status, message)),
  error: (status, message) => event(errorBody(status, message)),
}
