import type { ChatCompletionRequest, Completion } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { usageSeen } from '../../../../test/support/google.js'
import type { Answer } from './answer.js'
import { toResponse } from './response.js'

const request: ChatCompletionRequest = { model: 'gemini-2.5-flash', messages: [{ role: 'user', content: 'Hi' }] }
const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 }

const respond = (answer: object): Completion => toResponse('google', answer as Answer, request)

const answerOf = (parts: object[] | undefined, finishReason?: string, more: object = {}) => ({
  candidates: [
    { content: { role: 'model', ...(parts && { parts }) }, ...(finishReason && { finishReason }), index: 0 },
  ],
  usageMetadata,
  responseId: 'abc',
  ...more,
})
const only = (answer: object) => respond(answer).choices[0]!

describe('a whole answer', () => {
  it('has the form of OpenAI', () => {
    expect(respond(answerOf([{ text: 'Hel' }, { text: 'lo', thoughtSignature: 's' }], 'STOP'))).toEqual({
      id: 'chatcmpl-abc',
      object: 'chat.completion',
      created: expect.any(Number) as number,
      model: 'gemini-2.5-flash',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello',
            refusal: null,
            extra_content: { google: { thought_signature: 's' } },
            reasoning_details: [{ type: 'reasoning.encrypted', data: 's', format: 'google-gemini-v1', index: 0 }],
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: usageSeen,
    })
  })

  it('creates an id where there is none', () => {
    const { id } = respond(answerOf([{ text: 'x' }], 'STOP', { responseId: undefined }))
    expect(id).toMatch(/^chatcmpl-\w{24}$/)
  })

  it('returns tool calls with ids', () => {
    const part = { functionCall: { name: 'f', args: { a: 1 } } }
    const { message, finish_reason } = only(answerOf([{ text: 'Wait' }, part, part], 'STOP'))
    expect(finish_reason).toBe('tool_calls')
    expect(message.content).toBe('Wait')
    const ids = message.tool_calls!.map(({ id }) => id)
    expect(new Set(ids).size).toBe(2)
    for (const id of ids) expect(id).toMatch(/^call_[A-Za-z0-9]{20,35}$/)
    expect(message.tool_calls![0]).toEqual({
      id: ids[0],
      type: 'function',
      function: { name: 'f', arguments: '{"a":1}' },
    })
  })

  it('gives each call an id of its own of at most 40 characters, and the same to the same answer', () => {
    const named = (id: string) => ({ functionCall: { name: 'f', id } })
    const long = `function-call-${'7'.repeat(40)}`
    const ids = () =>
      only(answerOf([named('a'), named('a'), named(long), named(long)], 'STOP')).message.tool_calls!.map(({ id }) => id)
    expect(ids()).toEqual(['a', 'a_2', long.slice(0, 40), `${long.slice(0, 34)}_2`])
    expect(ids()).toEqual(ids())
  })

  it('keeps the id and the signature of a call, and returns {} for no arguments', () => {
    const part = { functionCall: { name: 'f', id: 'function-call-1' }, thoughtSignature: 'sig' }
    expect(only(answerOf([part], 'STOP')).message).toEqual({
      role: 'assistant',
      content: null,
      refusal: null,
      tool_calls: [
        {
          id: 'function-call-1',
          type: 'function',
          function: { name: 'f', arguments: '{}' },
          extra_content: { google: { thought_signature: 'sig' } },
        },
      ],
      reasoning_details: [
        { type: 'reasoning.encrypted', data: 'sig', id: 'function-call-1', format: 'google-gemini-v1', index: 0 },
      ],
    })
  })

  it('returns thoughts as reasoning_content', () => {
    expect(only(answerOf([{ text: 'Hm', thought: true }, { text: 'Yes' }], 'STOP')).message).toMatchObject({
      content: 'Yes',
      reasoning_content: 'Hm',
    })
  })

  it('reports length if all tokens were used for thoughts', () => {
    const metadata = { promptTokenCount: 5, totalTokenCount: 24, thoughtsTokenCount: 19 }
    const { choices, usage } = respond(answerOf(undefined, 'MAX_TOKENS', { usageMetadata: metadata }))
    expect(choices[0]).toMatchObject({ message: { content: '' }, finish_reason: 'length' })
    expect(usage).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: 19,
      total_tokens: 24,
      completion_tokens_details: { reasoning_tokens: 19 },
    })
  })

  it('reports a blocked prompt', () => {
    const metadata = { promptTokenCount: 5, totalTokenCount: 5 }
    const { choices, usage } = respond({ promptFeedback: { blockReason: 'SAFETY' }, usageMetadata: metadata })
    expect(choices).toEqual([
      {
        index: 0,
        message: { role: 'assistant', content: null, refusal: 'SAFETY' },
        logprobs: null,
        finish_reason: 'content_filter',
      },
    ])
    expect(usage).toMatchObject({ prompt_tokens: 5, completion_tokens: 0, total_tokens: 5 })
  })

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['IMAGE_PROHIBITED_CONTENT', 'content_filter'],
    ['IMAGE_RECITATION', 'content_filter'],
    ['MODEL_ARMOR', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'stop'],
    ['UNEXPECTED_TOOL_CALL', 'stop'],
    ['TOO_MANY_TOOL_CALLS', 'stop'],
    ['MISSING_THOUGHT_SIGNATURE', 'stop'],
    ['MALFORMED_RESPONSE', 'stop'],
    ['OTHER', 'stop'],
    ['FINISH_REASON_UNSPECIFIED', 'stop'],
    ['NO_IMAGE', 'stop'],
    ['IMAGE_OTHER', 'stop'],
    ['OF_THE_FUTURE', 'stop'],
    [undefined, 'stop'],
  ])('with %s and text has finish_reason %s', (reason, finish) => {
    expect(only(answerOf([{ text: 'x' }], reason))).toMatchObject({ message: { content: 'x' }, finish_reason: finish })
  })

  it.each([
    'MALFORMED_FUNCTION_CALL',
    'UNEXPECTED_TOOL_CALL',
    'TOO_MANY_TOOL_CALLS',
    'MISSING_THOUGHT_SIGNATURE',
    'MALFORMED_RESPONSE',
  ])('%s without text is a failure', (reason) => {
    const expected = { failure: { kind: 'malformed', provider: 'google', accepted: true, code: reason } }
    expect(() => respond(answerOf([], reason))).toThrow(expect.objectContaining(expected) as Error)
  })

  it('can be an error in spite of its status, also in a list', () => {
    const error = { code: 429, message: 'Quota', status: 'RESOURCE_EXHAUSTED' }
    for (const body of [{ error }, [{ error }]])
      expect(() => respond(body)).toThrow(
        expect.objectContaining({ message: 'Quota', failure: expect.objectContaining({ status: 429 }) as object }),
      )
  })

  it('sorts candidates', () => {
    const candidate = (text: string, index?: number) => ({
      content: { parts: [{ text }] },
      index,
      finishReason: 'STOP',
    })
    const said = (...candidates: object[]) =>
      respond({ candidates, usageMetadata }).choices.map(({ index, message }) => [index, message.content])
    expect(said(candidate('a'), candidate('b'))).toEqual([
      [0, 'a'],
      [1, 'b'],
    ])
    expect(said(candidate('b', 1), candidate('a', 0))).toEqual([
      [0, 'a'],
      [1, 'b'],
    ])
  })

  it.each([{}, { candidates: [] }])('refuses %j', (answer) => {
    expect(() => respond(answer)).toThrow(
      expect.objectContaining({ failure: expect.objectContaining({ kind: 'malformed' }) as object }) as Error,
    )
  })

  it('returns images apart from the text, and omits drafts and other media', () => {
    const media = (mimeType: string, more: object = {}) => ({ inlineData: { mimeType, data: 'AA==' }, ...more })
    const parts = [
      { text: 'Here' },
      media('image/png'),
      media('image/png', { thought: true }),
      media('audio/wav'),
      { executableCode: { code: 'x' } },
    ]
    expect(only(answerOf(parts, 'STOP')).message).toEqual({
      role: 'assistant',
      content: 'Here',
      refusal: null,
      images: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }],
    })
  })

  it('returns log probabilities', () => {
    const logprobsResult = {
      chosenCandidates: [{ token: 'é', logProbability: -0.5 }],
      topCandidates: [{ candidates: [{ token: 'e', logProbability: -1 }] }],
    }
    const candidates = [{ content: { parts: [{ text: 'é' }] }, finishReason: 'STOP', logprobsResult }]
    expect(only({ candidates, usageMetadata })['logprobs']).toEqual({
      content: [
        { token: 'é', logprob: -0.5, bytes: [195, 169], top_logprobs: [{ token: 'e', logprob: -1, bytes: [101] }] },
      ],
      refusal: null,
    })

    // Their bytes, an array each, would take several times as much memory as the answer.
    const long = Array.from({ length: 4 }, () => ({ token: 'x'.repeat(1_000_000), logProbability: -1 }))
    const { content } = only({
      candidates: [{ ...candidates[0]!, logprobsResult: { chosenCandidates: long } }],
      usageMetadata,
    })['logprobs'] as { content: { bytes: number[] | null }[] }
    expect(content.map(({ bytes }) => bytes?.length)).toEqual([1_000_000, 1_000_000, 1_000_000, undefined])
  })
})
