import { describe, expect, it } from 'vitest'
import { call, event, run, text, usageSeen } from '../../../../test/support/google.js'

const stop = event([], 'STOP')

/** The choices of a complete stream. */
function choices(...events: (object | string)[]) {
  const { batches, error } = run(...events)
  if (error) throw error
  return batches.flat().flatMap((chunk) => chunk.choices)
}
const deltas = (...events: (object | string)[]) => choices(...events).map(({ delta }) => delta)
const finishes = (...events: (object | string)[]) =>
  choices(...events).flatMap(({ finish_reason }) => finish_reason ?? [])

/** The tool calls of a stream, with joined arguments. */
function calls(...events: (object | string)[]) {
  const joined: { id: string; name: string; arguments: string; extra?: unknown }[] = []
  for (const { tool_calls = [] } of deltas(...events))
    for (const { index, id, function: entry, extra_content } of tool_calls) {
      expect(entry).toBeDefined()
      if (id) joined[index] = { id, name: entry!.name!, arguments: '' }
      joined[index]!.arguments += entry!.arguments ?? ''
      if (extra_content) joined[index]!.extra = extra_content
    }
  return joined
}

describe('a stream', () => {
  it('gives each call an id of its own of at most 40 characters', () => {
    const long = `function-call-${'7'.repeat(40)}`
    const named = (id: string) => ({ functionCall: { name: 'f', id } })
    const ids = calls(event([named('a')]), event([named('a'), named(long)]), event([named(long)]), stop)
    expect(ids.map(({ id }) => id)).toEqual(['a', 'a_2', long.slice(0, 40), `${long.slice(0, 34)}_2`])
  })

  it('has the form of OpenAI', () => {
    const { batches, error } = run(
      event([text('Hel')]),
      event([text('lo')], 'STOP', {
        usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4, totalTokenCount: 7 },
      }),
    )
    expect(error).toBeUndefined()
    const head = {
      id: 'chatcmpl-abc',
      object: 'chat.completion.chunk',
      created: expect.any(Number) as number,
      model: 'gemini-2.5-flash',
    }
    expect(batches.flat()).toEqual([
      { ...head, choices: [{ index: 0, delta: { role: 'assistant', content: 'Hel' }, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: { content: 'lo' }, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
      {
        ...head,
        choices: [],
        usage: usageSeen,
      },
    ])
  })

  it('uses the last usage', () => {
    const usage = (promptTokenCount: number, more: object = {}) => ({ usageMetadata: { promptTokenCount, ...more } })
    const { batches } = run(
      event([text('a')], undefined, usage(16)),
      event([], 'STOP', usage(13, { candidatesTokenCount: 2 })),
    )
    expect(batches.flat().at(-1)!.usage).toMatchObject({ prompt_tokens: 13, completion_tokens: 2, total_tokens: 15 })
  })

  it('counts images and audio separately', () => {
    const [told, made] = [25, 8].map((tokenCount) => [{ modality: 'IMAGE', tokenCount }])
    const counts = { promptTokenCount: 30, candidatesTokenCount: 9, promptTokensDetails: told }
    const { batches } = run(event([text('a')], 'STOP', { usageMetadata: { ...counts, candidatesTokensDetails: made } }))
    expect(batches.flat().at(-1)!.usage).toMatchObject({
      prompt_tokens_details: { image_tokens: 25 },
      completion_tokens_details: { reasoning_tokens: 0, image_tokens: 8 },
    })
  })

  it('returns the signature of a text, and no empty text with it', () => {
    const last = event([text('', { thoughtSignature: 'sig' })], 'STOP')
    const signature = {
      extra_content: { google: { thought_signature: 'sig' } },
      reasoning_details: [{ type: 'reasoning.encrypted', data: 'sig', format: 'google-gemini-v1', index: 0 }],
    }
    expect(choices(event([text('a')]), last)).toEqual([
      { index: 0, delta: { role: 'assistant', content: 'a' }, finish_reason: null },
      { index: 0, delta: signature, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ])
    expect(finishes(event([text('a')], 'STOP'), last)).toEqual(['stop'])
  })

  it('numbers calls over the whole stream', () => {
    const joined = calls(event([call('f', { args: { a: 1 } })]), event([call('g'), call('h', { id: 'own' })]), stop)
    expect(joined.map(({ name, arguments: args }) => [name, args])).toEqual([
      ['f', '{"a":1}'],
      ['g', '{}'],
      ['h', '{}'],
    ])
    expect(new Set(joined.map(({ id }) => id)).size).toBe(3)
    expect(joined[0]!.id).toMatch(/^call_[A-Za-z0-9]{24}$/)
    expect(joined[2]!.id).toBe('own')
    expect(finishes(event([call('f')]), stop)).toEqual(['tool_calls'])
  })

  it('returns text before the call of the same event', () => {
    const [first, second, ...rest] = deltas(event([text('Wait'), call('f')], 'STOP'))
    expect(first).toEqual({ role: 'assistant', content: 'Wait' })
    expect(second!.tool_calls![0]).toMatchObject({ index: 0, type: 'function', function: { name: 'f', arguments: '' } })
    expect(rest).toHaveLength(2)
  })

  it('returns the signature with its call', () => {
    const parts = [{ ...call('f'), thoughtSignature: 'sig' }, call('g')]
    expect(calls(event(parts), stop)).toMatchObject([
      { name: 'f', arguments: '{}', extra: { google: { thought_signature: 'sig' } } },
      { name: 'g', arguments: '{}' },
    ])
    expect(calls(event(parts), stop)[1]).not.toHaveProperty('extra')
  })

  it('returns thoughts as reasoning_content', () => {
    expect(choices(event([text('Hm', { thought: true })]), stop)).toEqual([
      { index: 0, delta: { role: 'assistant', content: '', reasoning_content: 'Hm' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'stop' },
    ])
  })

  it('joins arguments that arrive in parts', () => {
    const piece = (more: object) => ({ functionCall: more })
    const value = (jsonPath: string, more: object) =>
      piece({ partialArgs: [{ jsonPath, ...more }], willContinue: true })
    const parts = [
      { ...call('f', { willContinue: true }), thoughtSignature: 'sig' },
      value('$.city', { stringValue: 'Bo', willContinue: true }),
      value('$.city', { stringValue: 'nn' }),
      value('$.days[0].n', { numberValue: 2 }),
      value("$['a.b']", { boolValue: false }),
      value('$.none', { nullValue: 'NULL_VALUE' }),
      piece({}),
    ]
    const expected = {
      name: 'f',
      arguments: '{"city":"Bonn","days":[{"n":2}],"a.b":false,"none":null}',
      extra: { google: { thought_signature: 'sig' } },
    }
    expect(calls(...parts.map((part) => event([part])), stop)).toMatchObject([expected])
    // The last piece is missing, or another call comes before it.
    expect(calls(event(parts.slice(0, -1), 'STOP'))).toMatchObject([expected])
    expect(calls(event([...parts.slice(0, -1), call('g')], 'STOP'))).toMatchObject([expected, { name: 'g' }])
    expect(calls(event([piece({}), call('g')], 'STOP'))).toMatchObject([{ name: 'g' }])
  })

  it('reports a blocked prompt', () => {
    expect(choices({ promptFeedback: { blockReason: 'JAILBREAK' }, usageMetadata: { promptTokenCount: 5 } })).toEqual([
      { index: 0, delta: { role: 'assistant', content: '', refusal: 'JAILBREAK' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'content_filter' },
    ])
  })

  it('ignores events without candidates', () => {
    const { batches } = run(
      { candidates: [] },
      { usageMetadata: { promptTokenCount: 2 } },
      'null',
      event([text('a')]),
      stop,
    )
    expect(batches.flat()).toHaveLength(3)
  })

  it('keeps candidates apart', () => {
    const both = (finishReason?: string) => ({
      candidates: ['a', 'b'].map((value) => ({
        content: { parts: [text(value)] },
        ...(finishReason && { finishReason }),
      })),
    })
    expect(choices(both(), both('STOP')).map(({ index, delta }) => [index, delta.content])).toEqual([
      [0, 'a'],
      [1, 'b'],
      [0, 'a'],
      [1, 'b'],
      [0, undefined],
      [1, undefined],
    ])
  })

  it('returns images apart from the text, with indices that clients need to join chunks', () => {
    const part = { inlineData: { mimeType: 'image/png', data: 'AA==' } }
    const image = (index: number) => ({ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' }, index })
    expect(deltas(event([part]), event([part, part], 'STOP')).slice(0, 3)).toEqual([
      { role: 'assistant', content: '', images: [image(0)] },
      { images: [image(1)] },
      { images: [image(2)] },
    ])
  })

  it('returns log probabilities once, and with the finish reason where there is no text', () => {
    const of = (token: string) => ({ chosenCandidates: [{ token, logProbability: -1 }] })
    const given = choices(
      { candidates: [{ content: { parts: [text('a'), text('b')] }, logprobsResult: of('ab') }] },
      { candidates: [{ content: { parts: [{ ...text('hm'), thought: true }] }, logprobsResult: of('hm') }] },
      { candidates: [{ finishReason: 'STOP', logprobsResult: of('.') }] },
    )
    const tokens = given.map(({ logprobs }) =>
      (logprobs as { content: { token: string }[] } | null)?.content.map(({ token }) => token),
    )
    expect(tokens).toEqual([['ab'], undefined, undefined, ['hm', '.']])
  })

  it('returns log probabilities with their text', () => {
    const logprobsResult = { chosenCandidates: [{ token: 'a', logProbability: -1 }] }
    const candidates = [{ content: { parts: [text('a')] }, finishReason: 'STOP', logprobsResult }]
    expect(choices({ candidates })[0]).toMatchObject({
      delta: { content: 'a' },
      logprobs: { content: [{ token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }] },
    })
  })

  it.each([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['SAFETY', 'content_filter'],
    ['MALFORMED_FUNCTION_CALL', 'stop'],
    ['OF_THE_FUTURE', 'stop'],
  ])('%s means %s', (reason, finish) => {
    expect(finishes(event([text('a')]), event([], reason))).toEqual([finish])
  })

  it('ends without text where the tokens are used up', () => {
    expect(choices({ candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS' }] })).toEqual([
      { index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'length' },
    ])
  })
})
