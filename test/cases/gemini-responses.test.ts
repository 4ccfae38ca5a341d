import { expect, it } from 'vitest'
import { chunks, pass, stream, whole } from './pass.js'

const asked = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }

const candidate = (parts: object[], finishReason = 'STOP') => ({ content: { role: 'model', parts }, finishReason })
const answer = (
  candidates: object[],
  usageMetadata: object = { promptTokenCount: 3, candidatesTokenCount: 1, totalTokenCount: 4 },
) => ({ candidates, usageMetadata, responseId: 'r1' })

const choice = (content: string | null, finish_reason: string, more: object = {}, index = 0) => ({
  index,
  message: { role: 'assistant', content, refusal: null, ...more },
  logprobs: null,
  finish_reason,
})
const usage = (prompt: number, completion: number, cached = 0, reasoning = 0) => ({
  prompt_tokens: prompt,
  completion_tokens: completion,
  total_tokens: prompt + completion,
  prompt_tokens_details: { cached_tokens: cached, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: reasoning },
})
/** A whole answer's bytes as a client is to see them. */
const completion = (choices: object[], used: object = usage(3, 1)): string =>
  JSON.stringify({
    id: 'chatcmpl-r1',
    object: 'chat.completion',
    created: 0,
    model: 'gemini-2.5-flash',
    choices,
    usage: used,
  })

/** Expects an answer of Gemini to reach the client as these bytes. */
async function expectAnswer(given: object, text: string, status = 200) {
  const passed = await pass('google', {}, whole(given))
  expect(passed.sent.map(({ body }) => body)).toEqual([asked])
  expect(passed.status).toBe(status)
  expect(passed.text).toBe(text)
  return passed
}

const senseless =
  '{"error":{"type":"upstream_error","message":"The upstream provider sent an answer that makes no sense","code":"upstream_error"}}'

const call = (name: string, text: string) => ({
  id: 'call_new',
  type: 'function',
  function: { name, arguments: text },
})

it('converts STOP with calls to tool_calls, with ids that OpenAI accepts', async () => {
  const parts = [{ functionCall: { name: 'a', args: { x: 1 } } }, { functionCall: { name: 'a', args: { x: 2 } } }]
  const tool_calls = [call('a', '{"x":1}'), call('a', '{"x":2}')]
  const { raw } = await expectAnswer(
    answer([candidate(parts)]),
    completion([choice(null, 'tool_calls', { tool_calls })]),
  )
  const { choices } = JSON.parse(raw) as { choices: { message: { tool_calls: { id: string }[] } }[] }
  const ids = choices[0]!.message.tool_calls.map(({ id }) => id)
  for (const id of ids) expect(id).toMatch(/^call_[A-Za-z0-9]{20,35}$/)
  expect(new Set(ids).size).toBe(2)
})

it('returns an empty object for a call without arguments', async () => {
  await expectAnswer(
    answer([candidate([{ functionCall: { name: 'a' } }])]),
    completion([choice(null, 'tool_calls', { tool_calls: [call('a', '{}')] })]),
  )
})

it('keeps thoughts out of the content', async () => {
  await expectAnswer(
    answer([candidate([{ text: 'Hm.', thought: true }, { text: 'Hello' }])]),
    completion([choice('Hello', 'stop', { reasoning_content: 'Hm.' })]),
  )
})

it('is empty where thoughts used up all tokens', async () => {
  await expectAnswer(
    answer([{ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }], {
      promptTokenCount: 9,
      thoughtsTokenCount: 19,
      totalTokenCount: 28,
    }),
    completion([choice('', 'length')], usage(9, 19, 0, 19)),
  )
})

it('reports the reason of a blocked prompt', async () => {
  const blocked = {
    promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
    usageMetadata: { promptTokenCount: 5, totalTokenCount: 5 },
    responseId: 'r1',
  }
  const text = completion([choice(null, 'content_filter', { refusal: 'PROHIBITED_CONTENT' })], usage(5, 0))
  await expectAnswer(blocked, text)
  await expectAnswer({ ...blocked, candidates: [] }, text)
})

it('answers a blocked prompt where Gemini does not tell the reason', async () => {
  const usageMetadata = { promptTokenCount: 5, totalTokenCount: 5 }
  const refusal = 'BLOCK_REASON_UNSPECIFIED'
  for (const promptFeedback of [{}, { safetyRatings: [] }, { blockReason: refusal }])
    await expectAnswer(
      { promptFeedback, usageMetadata, responseId: 'r1' },
      completion([choice(null, 'content_filter', { refusal })], usage(5, 0)),
    )
})

it('knows all twenty finish reasons, and takes a new one for a stop', async () => {
  const unusable = [
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
    'MALFORMED_RESPONSE',
  ]
  const reasons = {
    stop: ['STOP', 'OTHER', 'FINISH_REASON_UNSPECIFIED', 'NO_IMAGE', 'IMAGE_OTHER', ...unusable, 'OF_THE_FUTURE'],
    length: ['MAX_TOKENS'],
    content_filter: [
      'SAFETY',
      'RECITATION',
      'LANGUAGE',
      'BLOCKLIST',
      'PROHIBITED_CONTENT',
      'SPII',
      'IMAGE_SAFETY',
      'IMAGE_PROHIBITED_CONTENT',
      'IMAGE_RECITATION',
    ],
  }
  for (const [finish, all] of Object.entries(reasons))
    for (const reason of all)
      await expectAnswer(answer([candidate([{ text: 'Hello' }], reason)]), completion([choice('Hello', finish)]))
  for (const reason of unusable) {
    const { headers } = await expectAnswer(answer([{ finishReason: reason }]), senseless, 502)
    expect(headers.get('x-should-retry')).toBe('false')
  }
})

it('returns a choice for each candidate', async () => {
  const one = candidate([{ text: 'One' }])
  const two = candidate([{ text: 'Two' }])
  const choices = [choice('One', 'stop'), choice('Two', 'stop', {}, 1)]
  await expectAnswer(
    answer([
      { ...one, index: 0 },
      { ...two, index: 1 },
    ]),
    completion(choices),
  )
  await expectAnswer(answer([one, two]), completion(choices))

  // In a stream, candidates come one by one.
  const streamed = await pass(
    'google',
    { stream: true },
    stream(answer([{ ...one, index: 0 }]), answer([{ ...two, index: 1 }])),
  )
  expect(streamed.sent.map(({ body }) => body)).toEqual([asked])
  expect(streamed.status).toBe(200)
  expect(streamed.text).toBe(
    chunks(
      { id: 'chatcmpl-r1', created: 0, model: 'gemini-2.5-flash', object: 'chat.completion.chunk' },
      { index: 0, delta: { role: 'assistant', content: 'One' }, finish_reason: null },
      { index: 1, delta: { role: 'assistant', content: 'Two' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
      { index: 1, delta: {}, finish_reason: 'stop' },
      '[DONE]',
    ),
  )

  // Many models refuse a candidateCount above 1, so n is as many calls.
  const asTwo = await pass('google', { n: 2 }, whole(answer([one])))
  expect(asTwo.sent.map(({ body }) => body)).toEqual([asked, asked])
  expect(asTwo.status).toBe(200)
  expect(asTwo.text).toBe(completion([choice('One', 'stop'), choice('One', 'stop', {}, 1)], usage(6, 2)))
})

it('counts thoughts as completion, and cached tokens within the prompt', async () => {
  await expectAnswer(
    answer([candidate([{ text: 'Hello' }])], {
      promptTokenCount: 30,
      cachedContentTokenCount: 8,
      thoughtsTokenCount: 4,
      candidatesTokenCount: 6,
      totalTokenCount: 40,
    }),
    completion([choice('Hello', 'stop')], usage(30, 10, 8, 4)),
  )
})

it('treats an empty answer as a failure', async () => {
  const { headers, records } = await expectAnswer({}, senseless, 502)
  expect(headers.get('x-should-retry')).toBe('false')
  expect(records).toMatchObject([{ outcome: 'upstream_error', accuracy: 'estimated' }])
})

it('returns an image apart from the text', async () => {
  const image = { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } }
  const images = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } }]
  await expectAnswer(answer([candidate([{ text: 'Here.' }, image])]), completion([choice('Here.', 'stop', { images })]))
  await expectAnswer(answer([candidate([image])]), completion([choice('', 'stop', { images })]))
})
