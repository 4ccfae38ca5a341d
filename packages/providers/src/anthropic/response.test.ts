import type { ChatCompletionRequest, Usage } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { checkCompletion } from '../../../../test/support/decode.js'
import type { Message } from './response.js'
import { toResponse } from './response.js'

const request: ChatCompletionRequest = { model: 'claude-sonnet-4-5', messages: [{ role: 'user', content: 'Hi' }] }
const usage = { input_tokens: 3, output_tokens: 4 }

/** Converts an answer with one choice, and returns the message, the finish reason and the usage. */
function choice(message: Message, asked: Partial<ChatCompletionRequest> = {}) {
  const answer = toResponse(
    'anthropic',
    { id: 'msg_1', model: 'claude-x', usage, ...message },
    { ...request, ...asked },
  )
  if (answer.usage) checkCompletion(answer)
  expect(answer.choices).toHaveLength(1)
  const { message: said, finish_reason } = answer.choices[0]!
  return { ...said, finish: finish_reason, usage: answer.usage }
}
const text = (value: string) => ({ type: 'text', text: value })
const use = (id: string, name: string, input?: object) => ({ type: 'tool_use', id, name, ...(input && { input }) })

describe('a whole answer', () => {
  it('has the id and model of the upstream', () => {
    const { created, ...answer } = toResponse(
      'anthropic',
      { id: 'msg_1', model: 'claude-x', content: [text('Hi')], usage },
      request,
    )
    expect(Math.abs(created - Date.now() / 1000)).toBeLessThan(5)
    expect(answer).toMatchObject({ id: 'msg_1', object: 'chat.completion', model: 'claude-x' })
  })

  it('can be an error in spite of its status', () => {
    const overloaded = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } } as Message
    expect(() => choice(overloaded)).toThrow(
      expect.objectContaining({ message: 'Overloaded', failure: expect.objectContaining({ status: 529 }) as object }),
    )
  })

  it('ignores counts that are not numbers', () => {
    const counted = choice({ content: [text('Hi')], usage: { input_tokens: '5', output_tokens: 3 } })
    expect(counted.usage).toMatchObject({ prompt_tokens: 0, completion_tokens: 3, total_tokens: 3 })
  })

  it('finishes with tool_calls only if it has some', () => {
    expect(choice({ content: [text('Hi')], stop_reason: 'tool_use' }).finish).toBe('stop')
  })

  it('has text and calls', () => {
    const content = [text('Let me see.'), use('a', 'f', { x: 1 }), use('b', 'g')]
    expect(choice({ content, stop_reason: 'tool_use' })).toMatchObject({
      content: 'Let me see.',
      tool_calls: [
        { id: 'a', type: 'function', function: { name: 'f', arguments: '{"x":1}' } },
        { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
      ],
      finish: 'tool_calls',
    })
    expect(choice({ content: [use('a', 'f')], stop_reason: 'tool_use' }).content).toBeNull()
  })

  it('joins its text blocks', () => {
    expect(choice({ content: [text('a'), text('b')], stop_reason: 'end_turn' })).toMatchObject({
      content: 'ab',
      finish: 'stop',
    })
  })

  it('returns thinking as reasoning_content', () => {
    const content = [{ type: 'thinking', thinking: 'Hm.', signature: 's' }, { type: 'redacted_thinking' }, text('Yes')]
    expect(choice({ content, stop_reason: 'end_turn' })).toMatchObject({ content: 'Yes', reasoning_content: 'Hm.' })
    expect(choice({ content: [text('Yes')] })).not.toHaveProperty('reasoning_content')
  })

  it.each([
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['tool_use', 'tool_calls'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['compaction', 'stop'],
    ['something_new', 'stop'],
    [null, 'stop'],
  ])('with stop_reason %s has finish_reason %s', (stop_reason, finish) => {
    const content = stop_reason === 'tool_use' ? [use('a', 'f')] : [text('x')]
    expect(choice({ content, stop_reason }).finish).toBe(finish)
  })

  it('can be a refusal without text', () => {
    const stop_details = { explanation: 'Not this.' }
    expect(choice({ content: [], stop_reason: 'refusal', stop_details })).toMatchObject({
      content: null,
      refusal: 'Not this.',
      finish: 'content_filter',
    })
    expect(choice({ content: [], stop_reason: 'refusal' })).toMatchObject({ content: '', refusal: null })
  })

  it('that is cut in a call finishes with length', () => {
    expect(choice({ content: [text('a'), use('a', 'f', { x: 1 })], stop_reason: 'max_tokens' }).finish).toBe('length')
  })

  it('counts cached tokens', () => {
    const counts = {
      input_tokens: 12,
      cache_read_input_tokens: 10_000,
      cache_creation_input_tokens: 2_000,
      output_tokens: 30,
    }
    expect(
      choice({ content: [text('x')], usage: { ...counts, output_tokens_details: { thinking_tokens: 8 } } }).usage,
    ).toEqual({
      prompt_tokens: 12_012,
      completion_tokens: 30,
      total_tokens: 12_042,
      prompt_tokens_details: { cached_tokens: 10_000, cache_write_tokens: 2_000 },
      completion_tokens_details: { reasoning_tokens: 8 },
    })
  })

  it.each<[unknown, object]>([
    [{ ephemeral_5m_input_tokens: 1_500, ephemeral_1h_input_tokens: 500 }, { cache_write_1h_tokens: 500 }],
    [{ ephemeral_5m_input_tokens: 2_000, ephemeral_1h_input_tokens: 0 }, {}],
    [{ ephemeral_1h_input_tokens: '500' }, {}],
    [null, {}],
  ])('counts tokens of the one-hour cache separately: %j', (cache_creation, more) => {
    const counts = { input_tokens: 12, cache_creation_input_tokens: 2_000, cache_creation, output_tokens: 30 }
    const told = JSON.stringify(choice({ content: [text('x')], usage: counts }).usage)
    expect(JSON.parse(told)).toMatchObject({ prompt_tokens: 2_012 })
    expect((JSON.parse(told) as Usage)['prompt_tokens_details']).toStrictEqual({
      cached_tokens: 0,
      cache_write_tokens: 2_000,
      ...more,
    })
  })

  it('counts the cache by life time where nothing else does', () => {
    const cache_creation = { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 20 }
    for (const total of [undefined, null, 0]) {
      const usage = { input_tokens: 5, cache_creation_input_tokens: total, cache_creation, output_tokens: 1 }
      expect(choice({ content: [text('x')], usage }).usage).toMatchObject({
        prompt_tokens: 125,
        prompt_tokens_details: { cache_write_tokens: 120, cache_write_1h_tokens: 20 },
      })
    }
  })

  it('counts iterations that the totals leave out, and no others', () => {
    const iteration = (type: string) => ({
      type,
      input_tokens: 10,
      cache_read_input_tokens: 3,
      cache_creation: { ephemeral_1h_input_tokens: 2 },
      output_tokens: 4,
    })
    const iterations = ['message', 'compaction', 'advisor_message', 'fallback_message'].map(iteration)
    const usage = { input_tokens: 100, output_tokens: 50, iterations: [...iterations, null] }
    expect(choice({ content: [text('x')], usage }).usage).toMatchObject({
      prompt_tokens: 130,
      completion_tokens: 58,
      total_tokens: 188,
      prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 4, cache_write_1h_tokens: 4 },
    })
  })

  it('tells the tier, the region, the speed and the use of server tools', () => {
    const of = (usage: object) =>
      JSON.parse(JSON.stringify(choice({ content: [text('x')], usage: { input_tokens: 1, ...usage } }).usage)) as object
    const told = { service_tier: 'priority', inference_geo: 'us', speed: 'fast' }
    const server_tool_use = { web_search_requests: 2, web_fetch_requests: 0 }
    expect(of({ ...told, server_tool_use })).toMatchObject({ ...told, server_tool_use })
    const usual = { service_tier: 'standard', inference_geo: 'global', speed: 'standard' }
    const none = { web_search_requests: 0, web_fetch_requests: 0 }
    for (const name of ['service_tier', 'inference_geo', 'speed', 'server_tool_use'])
      expect(of({ ...usual, server_tool_use: none })).not.toHaveProperty(name)
  })

  it('counts null as 0', () => {
    const nulls = {
      input_tokens: 5,
      cache_read_input_tokens: null,
      cache_creation_input_tokens: null,
      output_tokens: null,
    }
    expect(choice({ content: [text('x')], usage: nulls }).usage).toMatchObject({
      prompt_tokens: 5,
      completion_tokens: 0,
      total_tokens: 5,
    })
    expect(choice({ content: [text('x')], usage: null }).usage).toBeUndefined()
  })

  it('omits blocks of server tools', () => {
    const content = ['server_tool_use', 'web_search_tool_result', 'mcp_tool_use', 'container_upload', 'new_thing'].map(
      (type) => ({ type, id: 'x', name: 'f', input: {} }),
    )
    const { content: said, finish, ...rest } = choice({ content: [...content, text('Found')], stop_reason: 'end_turn' })
    expect([said, finish]).toEqual(['Found', 'stop'])
    expect(rest).not.toHaveProperty('tool_calls')
  })

  it('is the input of the schema tool', () => {
    const asked = {
      model: 'claude-3-haiku-20240307',
      response_format: { type: 'json_schema', json_schema: { name: 'x', schema: {} } },
    }
    const answer = choice({ content: [use('a', 'json', { ok: true })], stop_reason: 'tool_use' }, asked)
    expect(answer).toMatchObject({ content: '{"ok":true}', finish: 'stop' })
    expect(answer).not.toHaveProperty('tool_calls')
  })

  it('without content is malformed', () => {
    for (const body of [{}, { content: 'text' }])
      try {
        toResponse('anthropic', body as Message, request)
        expect.unreachable()
      } catch (error) {
        expect(UpstreamError.is(error) && error.failure.kind).toBe('malformed')
      }
  })
})
