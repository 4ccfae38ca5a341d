/** What is asked and answered in the bench: the mock upstream sends it, the load generator checks it. */
import { isDeepStrictEqual } from 'node:util'

const REQUEST_BYTES = 830
const RESPONSE_BYTES = 621

const prose = 'The quick brown fox jumps over the lazy dog and keeps a steady pace through the wood. '
const pad = (bytes) => prose.repeat(Math.ceil(bytes / prose.length)).slice(0, bytes)

/** `make(text)` as JSON, with as much text as brings it to `bytes`. */
function sized(bytes, make) {
  const bare = JSON.stringify(make('')).length
  return JSON.stringify(make(pad(bytes - bare)))
}

/** A request of 830 bytes; `stream` = { chunks, ms } travels to the mock upstream in the field `user`, which gateways pass on. */
export const chatRequest = (stream) =>
  sized(REQUEST_BYTES, (content) => ({
    model: 'gpt-4o-mini',
    user: stream ? `stream-${stream.chunks}-${stream.ms}` : 'bench',
    temperature: 0.7,
    max_tokens: 512,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
    messages: [
      { role: 'system', content: 'You are a helpful assistant.' },
      { role: 'user', content },
    ],
  }))

const usage = { prompt_tokens: 163, completion_tokens: 97, total_tokens: 260 }
const head = { id: 'chatcmpl-BenchBenchBenchBenchBench1234', created: 1_760_000_000, model: 'gpt-4o-mini-2024-07-18' }

export const chatResponse = sized(RESPONSE_BYTES, (content) => ({
  ...head,
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content, refusal: null }, logprobs: null, finish_reason: 'stop' },
  ],
  usage,
  service_tier: 'default',
  system_fingerprint: 'fp_bench12345',
}))

/** The server-sent events of a stream of `n` chunks: the role, words, the finish, the usage; then `[DONE]`. */
export function streamEvents(n) {
  const chunk = (more) => ({
    ...head,
    object: 'chat.completion.chunk',
    service_tier: 'default',
    system_fingerprint: 'fp_bench12345',
    ...more,
  })
  const choice = (delta, finish_reason = null) =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }], usage: null })
  const words = Array.from({ length: n - 3 }, (_, i) => choice({ content: ` word${i}` }))
  const events = [
    choice({ role: 'assistant', content: '' }),
    ...words,
    choice({}, 'stop'),
    chunk({ choices: [], usage }),
  ]
  return [...events.map((event) => `data: ${JSON.stringify(event)}\n\n`), 'data: [DONE]\n\n']
}

/** What matters of an answer: gateways may order keys and repeat a head as they like. */
const gist = (text) => {
  const { id, model, choices, usage } = JSON.parse(text)
  return { id, model, choices, usage }
}

/** What matters of a stream: all content in order, why it ended, its usage, and that `[DONE]` stands at its end. */
function streamGist(text) {
  const data = text.split('\n').filter((line) => line.startsWith('data: '))
  const chunks = data.filter((line) => line !== 'data: [DONE]').map((line) => JSON.parse(line.slice('data: '.length)))
  const choices = chunks.flatMap(({ choices }) => choices)
  return {
    content: choices.map(({ delta }) => delta.content ?? '').join(''),
    finish: choices.map(({ finish_reason }) => finish_reason).filter(Boolean),
    usage: chunks.map(({ usage }) => usage).filter(Boolean),
    done: data.at(-1) === 'data: [DONE]',
  }
}

/**
 * A check of bodies against what the upstream sent. A body that equals one already accepted costs a comparison of strings,
 * so that every single one is checked.
 */
export function bodyCheck(stream) {
  const read = stream ? streamGist : gist
  const expected = read(stream ? streamEvents(stream.chunks).join('') : chatResponse)
  let accepted
  return (body) => {
    if (body === accepted) return true
    try {
      if (!isDeepStrictEqual(read(body), expected)) return false
    } catch {
      return false
    }
    accepted = body
    return true
  }
}
