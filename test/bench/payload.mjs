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

/** A request of 830 bytes; `stream` = { chunks, ms } travels to the mock upstream in the system message, which every family has. */
export const chatRequest = (stream, model = 'gpt-4o-mini') =>
  sized(REQUEST_BYTES, (content) => ({
    model,
    user: 'bench',
    temperature: 0.7,
    max_tokens: 512,
    ...(stream && { stream: true, stream_options: { include_usage: true } }),
    messages: [
      { role: 'system', content: `You are helpful${stream ? ` stream-${stream.chunks}-${stream.ms}` : ''}.` },
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

const words = (n) => Array.from({ length: n - 3 }, (_, i) => ` word${i}`)
const frame = (event) => `data: ${JSON.stringify(event)}\n\n`

/** The same stream as `streamEvents` in Claude's form. */
export function claudeEvents(n) {
  const counts = { input_tokens: usage.prompt_tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = { id: 'msg_01BenchBenchBenchBench12', type: 'message', role: 'assistant', model: 'claude-sonnet-4-5' }
  const named = (event) => `event: ${event.type}\n${frame(event)}`
  const start = { ...message, content: [], stop_reason: null, usage: { ...counts, output_tokens: 1 } }
  return [
    named({ type: 'message_start', message: start }) +
      named({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } }),
    ...words(n).map((text) => named({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
    named({ type: 'content_block_stop', index: 0 }) +
      named({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { ...counts, output_tokens: usage.completion_tokens },
      }),
    named({ type: 'message_stop' }),
  ]
}

/** The same stream as `streamEvents` in Gemini's form, whose every event has the usage so far. */
export function geminiEvents(n) {
  const event = (text, finishReason, candidatesTokenCount) =>
    frame({
      candidates: [{ content: { parts: [{ text }], role: 'model' }, ...(finishReason && { finishReason }), index: 0 }],
      usageMetadata: {
        promptTokenCount: usage.prompt_tokens,
        candidatesTokenCount,
        totalTokenCount: usage.prompt_tokens + candidatesTokenCount,
        promptTokensDetails: [{ modality: 'TEXT', tokenCount: usage.prompt_tokens }],
      },
      modelVersion: 'gemini-2.5-flash',
      responseId: 'BenchBenchBenchBench1234',
    })
  return [...words(n).map((text, i) => event(text, undefined, i + 1)), event('', 'STOP', usage.completion_tokens), '']
}

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
  const events = [
    choice({ role: 'assistant', content: '' }),
    ...words(n).map((content) => choice({ content })),
    choice({}, 'stop'),
    chunk({ choices: [], usage }),
  ]
  return [...events.map(frame), 'data: [DONE]\n\n']
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
    // Families add details to it.
    usage: chunks.flatMap(({ usage }) =>
      usage ? [[usage.prompt_tokens, usage.completion_tokens, usage.total_tokens]] : [],
    ),
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
