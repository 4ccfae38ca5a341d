import type { ChatCompletionRequest, ChatStream, ChunkChoice, FinishReason, ChatProvider } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { scripted } from '../../../../test/support/scripted-provider.js'

const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const counted = { input_tokens: 7, output_tokens: 3 }
const usageMetadata = { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 }

/** What each family answers whose model says `said` and ends with `reason`, whole and as events. */
const families: Record<string, (reason: unknown, said: string) => { whole: object; events: object[] }> = {
  openai: (finish_reason, content) => ({
    whole: { choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason }], usage },
    events: [
      ...(content ? [{ choices: [{ index: 0, delta: { role: 'assistant', content }, finish_reason: null }] }] : []),
      { choices: [{ index: 0, delta: {}, finish_reason }] },
      { choices: [], usage },
    ],
  }),
  anthropic: (stop_reason, text) => ({
    whole: { type: 'message', id: 'm', content: text ? [{ type: 'text', text }] : [], stop_reason, usage: counted },
    events: [
      { type: 'message_start', message: { id: 'm', usage: { ...counted, output_tokens: 1 } } },
      ...(text ? [{ type: 'content_block_start', index: 0, content_block: { type: 'text', text } }] : []),
      { type: 'message_delta', delta: { stop_reason }, usage: counted },
      { type: 'message_stop' },
    ],
  }),
  google: (finishReason, text) => {
    const answer = { candidates: [{ content: { parts: text ? [{ text }] : [] }, finishReason }], usageMetadata }
    return { whole: answer, events: [answer] }
  },
}

const request: ChatCompletionRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const call = { signal: new AbortController().signal }

/** What a stream has given until its end, and the error that ended it. */
async function streamed(provider: ChatProvider) {
  const choices: ChunkChoice[] = []
  let stream: ChatStream | undefined
  try {
    stream = await provider.chat.stream({ ...request, stream: true }, call)
    for await (const batch of stream.batches) choices.push(...batch)
    return { choices, finish: choices.at(-1)!.finish_reason, usage: stream.usage() }
  } catch (error) {
    return { choices, error, usage: stream?.usage() }
  }
}

/** How answers end whose upstream gives `reason`, whole and streamed. */
async function endings(family: string, reason: unknown, said = 'Hello') {
  const { whole, events } = families[family]!(reason, said)
  const { choices } = await scripted(family, whole).chat.complete(request, call)
  return [choices[0]!.finish_reason, (await streamed(scripted(family, ...events))).finish]
}

/** The words of the references, by family or server. */
const cases: [end: FinishReason, family: string, server: string, words: unknown[]][] = [
  ['length', 'openai', 'Mistral', ['model_length', 'length']],
  ['length', 'openai', 'Z.ai', ['model_context_window_exceeded']],
  ['length', 'openai', 'Cohere', ['MAX_TOKENS', 'ERROR_LIMIT']],
  ['length', 'openai', 'Reka, SenseNova', ['context']],
  ['length', 'openai', 'watsonx', ['max_tokens', 'token_limit', 'time_limit']],
  ['length', 'openai', 'vLLM', ['repetition']],
  ['length', 'openai', 'MiniMax', ['max_output']],
  ['length', 'openai', "OpenAI's Responses", ['max_output_tokens']],
  ['length', 'anthropic', 'Claude', ['max_tokens', 'model_context_window_exceeded']],
  ['length', 'anthropic', 'compatible servers', ['length', 'model_length']],
  ['length', 'google', 'Gemini', ['MAX_TOKENS']],
  ['content_filter', 'openai', 'Zhipu, Hunyuan, SenseNova', ['sensitive']],
  ['content_filter', 'openai', 'GigaChat', ['blacklist']],
  ['content_filter', 'openai', 'the AI SDK', ['content-filter']],
  ['content_filter', 'openai', 'Bedrock', ['content_filtered', 'guardrail_intervened']],
  ['content_filter', 'openai', 'Cohere', ['ERROR_TOXIC']],
  ['content_filter', 'openai', 'Claude by others', ['refusal']],
  [
    'content_filter',
    'openai',
    "Google's compatible API",
    ['SAFETY', 'PROHIBITED_CONTENT', 'content_filter: RECITATION'],
  ],
  ['content_filter', 'anthropic', 'Claude', ['refusal']],
  ['content_filter', 'anthropic', 'compatible servers', ['sensitive', 'content_filter']],
  [
    'content_filter',
    'google',
    'Gemini',
    ['SAFETY', 'RECITATION', 'LANGUAGE', 'BLOCKLIST', 'PROHIBITED_CONTENT', 'SPII'],
  ],
  ['content_filter', 'google', 'Gemini, images', ['IMAGE_SAFETY', 'IMAGE_RECITATION', 'IMAGE_PROHIBITED_CONTENT']],
  ['content_filter', 'google', 'Vertex AI', ['MODEL_ARMOR']],
  [
    'stop',
    'openai',
    'TGI, Together, Ollama, Baidu',
    ['eos_token', 'stop_sequence', 'eos', 'load', 'unload', 'normal', 'end_turn', 'COMPLETE'],
  ],
  ['stop', 'openai', 'servers of tomorrow', ['error_free', 'terror', 'toString', '__proto__', 7, {}]],
  ['stop', 'anthropic', 'Claude', ['end_turn', 'stop_sequence', 'pause_turn', 'compaction', 'later']],
  ['stop', 'google', 'Gemini', ['STOP', 'OTHER', 'FINISH_REASON_UNSPECIFIED', 'NO_IMAGE', 'IMAGE_OTHER', 'LATER']],
  ['stop', 'google', 'Gemini, with text', ['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'MALFORMED_RESPONSE']],
]

describe.each(cases)('%s', (end, family, _, words) => {
  it.each(words)(`is what ${family} means by %j`, async (word) =>
    expect(await endings(family, word)).toEqual([end, end]),
  )
})

const failures: [family: string, server: string, words: string[]][] = [
  ['openai', 'Mistral, OpenRouter, Together', ['error']],
  ['openai', 'DeepSeek', ['insufficient_system_resource', 'aborted']],
  ['openai', 'Zhipu', ['network_error']],
  ['openai', 'vLLM, SGLang', ['abort']],
  ['openai', 'TensorRT-LLM', ['timeout', 'cancelled', 'canceled']],
  ['openai', "OpenAI's Responses", ['failed']],
  ['openai', 'Cohere', ['ERROR', 'TIMEOUT', 'USER_CANCEL']],
  ['anthropic', 'compatible servers', ['error', 'insufficient_system_resource', 'network_error']],
  ['google', 'compatible servers', ['ERROR']],
]

describe.each(failures)('%s: a failure by the reference of %s', (family, _, words) => {
  it.each(words)('%s is none of the callers, is billed and counts', async (word) => {
    const { whole, events } = families[family]!(word, 'Hel')
    const failure = { kind: 'status', status: 500, accepted: true, code: word }
    await expect(scripted(family, whole).chat.complete(request, call)).rejects.toMatchObject({
      failure: { ...failure, usage: { total_tokens: 10 } },
    })
    const { choices, error } = await streamed(scripted(family, ...events))
    expect(choices.map(({ delta }) => delta.content ?? '').join('')).toBe('Hel')
    expect(choices.every(({ finish_reason }) => finish_reason === null)).toBe(true)
    expect(UpstreamError.is(error) && error.failure).toMatchObject(failure)
  })
})

it.each([
  ['openai', 'error'],
  ['openai', 'MALFORMED_FUNCTION_CALL'],
  ['google', 'MALFORMED_FUNCTION_CALL'],
])('begins no stream that is only a failure: %s, %s', async (family, word) => {
  const { events } = families[family]!(word, '')
  await expect(scripted(family, ...events).chat.stream({ ...request, stream: true }, call)).rejects.toMatchObject({
    failure: { code: word, usage: { total_tokens: 10 } },
  })
})

describe.each(Object.keys(families))('threat 221: a finish reason of %s', (family) => {
  it('is read for 200 characters', async () => {
    expect(await endings(family, `${'ab '.repeat(1_000)}length`)).toEqual(['stop', 'stop'])
  })

  it.each(['ERROR', 'MALFORMED_RESPONSE'])('is told for as many: %s', async (word) => {
    const { whole, events } = families[family]!(`${word}${' ab'.repeat(1_000)}`, '')
    const told = {
      message: expect.stringMatching(/^.{0,300}$/) as string,
      failure: { code: expect.stringMatching(/^.{200}$/) as string },
    }
    await expect(scripted(family, whole).chat.complete(request, call)).rejects.toMatchObject(told)
    expect((await streamed(scripted(family, ...events))).error).toMatchObject(told)
  })
})

it('takes no failure back', async () => {
  const end = (finish_reason: string) => ({ choices: [{ index: 0, delta: {}, finish_reason }] })
  expect((await streamed(scripted('openai', end('error'), end('stop')))).error).toMatchObject({
    failure: { code: 'error' },
  })
})

it('reads the usage that follows a failure, and bills one without', async () => {
  const { events } = families['openai']!('error', '')
  const role = { choices: [{ index: 0, delta: { role: 'assistant', content: '' } }] }
  await expect(
    scripted('openai', { choices: [{ message: {}, finish_reason: 'error' }] }).chat.complete(request, call),
  ).rejects.toMatchObject({
    failure: { unreported: true },
  })
  expect((await streamed(scripted('openai', role, ...events))).usage).toMatchObject({ total_tokens: 10 })
})

describe('a tool call that the model could not write', () => {
  it.each([
    ['openai', 'malformed_tool_use'],
    ['openai', 'function_call_filter: MALFORMED_FUNCTION_CALL'],
    ['anthropic', 'malformed_model_output'],
    ['google', 'MALFORMED_FUNCTION_CALL'],
    ['google', 'TOO_MANY_TOOL_CALLS'],
  ])('is none of the provider: %s, %s', async (family, word) => {
    const failure = { kind: 'malformed', accepted: true, code: word }
    const { whole, events } = families[family]!(word, '')
    await expect(scripted(family, whole).chat.complete(request, call)).rejects.toMatchObject({ failure })
    expect((await streamed(scripted(family, ...events))).error).toMatchObject({ failure })
  })
})

/** Errors within an answer; OpenRouter has them in the chunk and in the choice. */
describe('an error', () => {
  const told = { code: 429, message: 'ChatProvider disconnected' }
  const choice = (form: string, more: object) => ({ index: 0, [form]: { role: 'assistant', content: 'Hel' }, ...more })

  it.each<[where: string, status: number, make: (form: string) => object]>([
    ['in a choice', 500, (form) => ({ choices: [choice(form, { finish_reason: 'error', error: told })], usage })],
    [
      'in a choice that stopped',
      500,
      (form) => ({ choices: [choice(form, { finish_reason: 'stop', error: told })], usage }),
    ],
    ['in a choice without an end', 500, (form) => ({ choices: [choice(form, { error: told })], usage })],
    ['beside choices', 429, (form) => ({ choices: [choice(form, { finish_reason: 'error' })], error: told, usage })],
  ])('%s ends the answer', async (_, status, make) => {
    const failure = { kind: 'status', status, accepted: true }
    await expect(scripted('openai', make('message')).chat.complete(request, call)).rejects.toMatchObject({
      message: told.message,
      failure: { ...failure, usage: { total_tokens: 10 } },
    })
    const start = { choices: [{ index: 0, delta: { content: '' }, finish_reason: null }] }
    const { error } = await streamed(scripted('openai', start, make('delta'), 'data: [DONE]\n\n'))
    expect(error).toMatchObject({ message: told.message, failure })
  })

  // vLLM and Mistral; FastAPI; Cloudflare; Qwen; MiniMax, which has statuses of its own; Groq, which names the status so.
  it.each<[family: string, status: number, message: string, error: object]>([
    ['openai', 503, 'Died', { object: 'error', message: 'Died', type: 'InternalServerError', code: 503 }],
    ['openai', 500, 'Died', { object: 'error', message: 'Died' }],
    ['openai', 500, 'Died', { type: 'error', message: 'Died' }],
    ['openai', 500, 'Died', { detail: 'Died' }],
    ['openai', 500, 'Died', { success: false, errors: [{ code: 5007, message: 'Died' }] }],
    ['openai', 500, 'Died', { code: 'InternalError', message: 'Died', request_id: 'r' }],
    ['openai', 429, 'Slow', { choices: null, base_resp: { status_code: 1002, status_msg: 'Slow' } }],
    ['openai', 402, 'Pay', { base_resp: { status_code: 1008, status_msg: 'Pay' } }],
    ['openai', 500, 'Died', { base_resp: { status_code: 1000, status_msg: 'Died' } }],
    ['openai', 400, 'No', { error: { message: 'No', code: 'tool_use_failed', status_code: 400 } }],
    ['anthropic', 503, 'Died', { error: { message: 'Died', code: '503' } }],
    ['anthropic', 500, 'Died', { error: 'Died' }],
    ['anthropic', 529, 'Died', { error: { type: 'overloaded_error', message: 'Died' } }],
    ['google', 500, 'Died', { error: 'Died' }],
  ])('in place of an answer of %s is a %i: %s %j', async (family, status, message, error) => {
    const failure = { kind: 'status', status, accepted: false }
    await expect(scripted(family, error).chat.complete(request, call)).rejects.toMatchObject({ message, failure })
    const done = 'data: [DONE]\n\n'
    expect((await streamed(scripted(family, error, done))).error).toMatchObject({ message, failure })
    const [start] = families[family]!('stop', 'Hel').events
    const { choices, error: later } = await streamed(scripted(family, start!, error, done))
    expect(choices.map(({ finish_reason }) => finish_reason)).not.toContain('length')
    expect(later).toMatchObject({ message, failure: { kind: 'status', status, accepted: true } })
  })

  it.each([
    { message: 'You are next' },
    { code: 0, message: 'ok' },
    { choices: [], base_resp: { status_code: 0, status_msg: 'success' } },
    { base_resp: { status_code: 0, status_msg: 'success' } },
    { usage, detail: null, errors: [] },
    { type: 'ping' },
  ])('is no event that tells none: %j', async (event) => {
    const { events } = families['openai']!('stop', 'Hello')
    const { finish, error } = await streamed(scripted('openai', event, ...events.flatMap((one) => [one, event])))
    expect([finish, error]).toEqual(['stop', undefined])
  })

  it("of Gemini's form beside candidates ends the answer", async () => {
    const answer = {
      candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }],
      error: { code: 503, message: 'x' },
    }
    await expect(scripted('google', answer).chat.complete(request, call)).rejects.toMatchObject({
      failure: { kind: 'status', status: 503, accepted: true },
    })
  })

  it.each([null, '', false, 0])('is none: %j', async (error) => {
    const answer = { choices: [{ ...choice('message', { finish_reason: 'stop' }), error }], error }
    expect(await scripted('openai', answer).chat.complete(request, call)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
    })
    const event = { choices: [{ ...choice('delta', { finish_reason: 'stop' }), error }], error }
    expect(await streamed(scripted('openai', event))).toMatchObject({ finish: 'stop' })
  })
})
