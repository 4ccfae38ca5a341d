import type { ChatCompletion, ChatCompletionRequest, ChunkChoice } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { checkCompletion } from '../../../../test/support/decode.js'
import { eventOf, providerOf } from '../../../../test/support/scripted-provider.js'

const request: ChatCompletionRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const call = { signal: new AbortController().signal }
const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 }
const json = 'application/json; charset=utf-8'
const sse = 'text/event-stream'

const complete = async (family: string, text: string, type: string | undefined = sse, options = {}) => {
  const answer = await providerOf(family, [text], type, options).chat.complete(request, call)
  // The gateway estimates a usage that is not reported.
  checkCompletion({ ...answer, usage: answer.usage ?? usage })
  return answer as ChatCompletion
}

async function stream(family: string, pieces: string[], type: string | undefined = json) {
  const { batches, head, usage } = await providerOf(family, pieces, type).chat.stream(
    { ...request, stream: true },
    call,
  )
  const choices: ChunkChoice[] = []
  for await (const batch of batches) choices.push(...batch)
  return { choices, head, usage: usage() }
}

const tool = (name: string, id?: string) => ({ id, type: 'function', function: { name, arguments: `{"a":"${name}"}` } })
const wholes: Record<string, object> = {
  openai: {
    id: 'c',
    object: 'chat.completion',
    created: 5,
    model: 'm-1',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hello',
          reasoning: 'Hm.',
          tool_calls: [tool('f', 'x'), tool('g', 'y')],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  },
  anthropic: {
    id: 'm',
    type: 'message',
    role: 'assistant',
    model: 'm-1',
    content: [
      { type: 'thinking', thinking: 'Hm.', signature: 's' },
      { type: 'text', text: 'Hello' },
      { type: 'tool_use', id: 'x', name: 'f', input: { a: 'f' } },
      { type: 'tool_use', id: 'y', name: 'g', input: { a: 'g' } },
    ],
    stop_reason: 'tool_use',
    usage: { input_tokens: 7, output_tokens: 3 },
  },
  google: {
    candidates: [
      {
        content: {
          parts: [
            { text: 'Hm.', thought: true },
            { text: 'Hello' },
            { functionCall: { id: 'x', name: 'f', args: { a: 'f' } } },
            { functionCall: { id: 'y', name: 'g', args: { a: 'g' } } },
          ],
        },
        finishReason: 'STOP',
      },
    ],
    usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3, totalTokenCount: 10 },
    modelVersion: 'm-1',
    responseId: 'r',
  },
}

describe.each(Object.keys(wholes))('a stream of %s that is one whole answer', (family) => {
  const text = JSON.stringify(wholes[family])
  const pretty = JSON.stringify(wholes[family], null, 2)

  it.each<[what: string, pieces: string[], type: string | undefined]>([
    ['JSON', [text], json],
    ['JSON of several lines', [pretty], json],
    ['JSON in pieces', [...pretty], json],
    ['JSON of another type', [text], 'application/vnd.x+json'],
    ['JSON as text', [text], 'text/plain'],
    ['JSON that says to be events', [text], sse],
    ['JSON without a type', [`\uFEFF${text}\n`], undefined],
    ['a list', [`[${text}\n]`], json],
    ['an event', [eventOf(wholes[family]!)], sse],
  ])('as %s is read', async (_, pieces, type) => {
    const { choices, usage: used } = await stream(family, pieces, type)
    const said = choices.map(({ delta }) => delta)
    const textOf = (field: string) => said.map((delta) => (delta[field] as string | undefined) ?? '').join('')
    expect([textOf('content'), textOf('reasoning_content')]).toEqual(['Hello', 'Hm.'])
    expect(said[0]!.role).toBe('assistant')
    const entries = said.flatMap(({ tool_calls = [] }) => tool_calls)
    expect(entries.flatMap(({ index, id, function: { name } = {} }) => (name ? [[index, id, name]] : []))).toEqual([
      [0, 'x', 'f'],
      [1, 'y', 'g'],
    ])
    expect(entries.map(({ function: named }) => named?.arguments ?? '').join('')).toBe('{"a":"f"}{"a":"g"}')
    expect(choices.map(({ finish_reason }) => finish_reason).filter(Boolean)).toEqual(['tool_calls'])
    expect(used).toMatchObject(usage)
    expect(JSON.stringify(choices)).not.toContain('"message"')
  })
})

describe('a stream that is no answer', () => {
  it.each([
    ['a page', '<html>{</html>', 'text/html'],
    ['a picture', '\u0001', 'image/png'],
    ['JSON of something else', '{"hello":1}', json],
    ['JSON that is cut', '{"choices":[{"message":{"content":"a"},"finish_reason":"stop"', json],
    ['text', 'Hello', 'text/plain'],
  ])('is refused: %s', async (_, text, type) => {
    await expect(stream('openai', [text], type)).rejects.toMatchObject({ failure: { accepted: true } })
  })

  it('has the status of an error', async () => {
    const error = { error: { message: 'Overloaded', code: 503 } }
    await expect(stream('openai', [JSON.stringify(error)])).rejects.toMatchObject({
      message: 'Overloaded',
      failure: { kind: 'status', status: 503, accepted: false },
    })
  })
})

/** The whole answer of a stream, as events. */
const events: Record<string, (object | string)[]> = {
  openai: [
    ': ping\n\n',
    {
      id: 'c',
      created: 5,
      model: 'm-1',
      choices: [{ index: 0, delta: { role: 'assistant', content: '' }, logprobs: null }],
    },
    { choices: [{ index: 0, delta: { reasoning: 'H' } }] },
    { choices: [{ index: 0, delta: { reasoning: 'm.' } }] },
    { choices: [{ index: 0, delta: { content: 'Hel' }, logprobs: { content: [{ token: 'Hel' }] } }] },
    { choices: [{ index: 0, delta: { content: 'lo' }, logprobs: { content: [{ token: 'lo' }] } }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ ...tool('f', 'x'), index: 0 }] } }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 1, id: 'y', function: { name: 'g', arguments: '' } }] } }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: '{"a":' } }] } }] },
    { choices: [{ index: 0, delta: { tool_calls: [{ index: 1, function: { arguments: '"g"}' } }] } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
    { choices: [], usage },
    'data: [DONE]\n\n',
  ],
  anthropic: [
    { type: 'message_start', message: { id: 'm', model: 'm-1', usage: { input_tokens: 7, output_tokens: 1 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'thinking', thinking: 'Hm.' } },
    { type: 'content_block_start', index: 1, content_block: { type: 'text', text: 'Hel' } },
    { type: 'content_block_delta', index: 1, delta: { type: 'text_delta', text: 'lo' } },
    {
      type: 'content_block_start',
      index: 2,
      content_block: { type: 'tool_use', id: 'x', name: 'f', input: { a: 'f' } },
    },
    { type: 'content_block_start', index: 3, content_block: { type: 'tool_use', id: 'y', name: 'g', input: {} } },
    { type: 'content_block_delta', index: 3, delta: { type: 'input_json_delta', partial_json: '{"a":"g"}' } },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ],
  google: [wholes['google']!],
}

describe.each(Object.keys(events))('a whole answer of %s that is a stream', (family) => {
  const expected = {
    object: 'chat.completion',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: 'Hello',
          reasoning_content: 'Hm.',
          tool_calls: [tool('f', 'x'), tool('g', 'y')],
        },
        finish_reason: 'tool_calls',
      },
    ],
    usage,
  }

  it.each([sse, json, 'text/plain', undefined])('of type %j is read', async (type) => {
    expect(await complete(family, events[family]!.map(eventOf).join(''), type)).toMatchObject(expected)
  })

  it('that is cut is refused, and billed as far as is known', async () => {
    const cut = events[family]!.slice(0, -3).map(eventOf).join('') || ': ping\n\n'
    await expect(complete(family, cut)).rejects.toMatchObject({
      failure: family === 'google' ? { unreported: true } : { kind: 'truncated', accepted: true },
    })
  })

  it('that is too large is refused', async () => {
    const text = events[family]!.map(eventOf).join('')
    await expect(complete(family, text, sse, { limits: { answer: 100 } })).rejects.toThrow('larger than 100 bytes')
    await expect(complete(family, text, sse, { limits: { event: 20 } })).rejects.toThrow('larger than 20 characters')
  })
})

// NousResearch/hermes-agent#112183
describe.each(Object.keys(events))('a stream of %s', (family) => {
  it.each(['data:\n\n', 'data\n\n', 'data: \r\n\r\n', ': ping\n\n', 'event: ping\ndata:\n\n', 'id: 1\n\n', '\n\n'])(
    'is the same with %j before, between and after its events',
    async (empty) => {
      const pieces = events[family]!.map(eventOf)
      const { head: _, ...expected } = await stream(family, pieces, sse)
      const padded = [empty, ...pieces.flatMap((piece) => [piece, empty])]
      const { head: __, ...given } = await stream(family, padded, sse)
      const text = ({ choices }: typeof given) => JSON.stringify(choices)
      expect([text(given), given.usage]).toEqual([text(expected), expected.usage])
    },
  )

  it.each(['data: [DONE]\n\n', 'data:  [DONE] \n\n', 'data:[DONE]\t\r\n\r\n'])('may end with %j', async (done) => {
    const pieces = events[family]!.filter((event) => !String(event).includes('DONE')).map(eventOf)
    const { choices } = await stream(family, [...pieces, done], sse)
    expect(choices.at(-1)).toMatchObject({ finish_reason: 'tool_calls' })
  })
})

describe('the choices of a stream as a whole answer', () => {
  const answer = (...chunks: object[]) => complete('openai', chunks.map(eventOf).join(''))
  const chunk = (index: number, delta: object, finish_reason: string | null = null) => ({
    choices: [{ index, delta, finish_reason }],
  })

  it('are in order, each with its own', async () => {
    const made = await answer(
      chunk(1, { content: 'b' }),
      chunk(0, { content: 'a' }),
      chunk(1, {}, 'length'),
      chunk(0, {}, 'stop'),
    )
    expect(made.choices.map(({ index, message, finish_reason }) => [index, message.content, finish_reason])).toEqual([
      [0, 'a', 'stop'],
      [1, 'b', 'length'],
    ])
  })

  it('have lists and texts joined, and no prototype from the upstream', async () => {
    const made = await complete(
      'openai',
      [
        '{"a":[1],"b":"x","__proto__":{"polluted":1}}',
        '{"a":[2],"b":"y","__proto__":{"polluted":1}}',
        '{"content":"c"}',
      ]
        .map((delta) => `data: {"choices":[{"index":0,"delta":${delta}}]}\n\n`)
        .join('') + eventOf(chunk(0, {}, 'stop')),
    )
    expect(made.choices[0]!.message).toMatchObject({ a: [1, 2], b: 'xy', content: 'c' })
    expect('polluted' in {}).toBe(false)
  })

  it('keep calls of custom tools, whatever their index', async () => {
    const custom = (more: object) => ({ tool_calls: [{ index: 1e9, custom: more }] })
    const first = { tool_calls: [{ index: 1e9, id: 'x', type: 'custom', custom: { name: 'f', input: '' } }] }
    const made = await answer(
      chunk(0, first),
      chunk(0, custom({ input: 'a' })),
      chunk(0, custom({ input: 'b' }), 'tool_calls'),
    )
    expect(made.choices[0]!.message.tool_calls).toEqual([
      { id: 'x', type: 'custom', custom: { name: 'f', input: 'ab' } },
    ])
  })
})

/** Other members of the same kind, of OpenAI's form. */
describe('a choice in the other form', () => {
  const contents = ({ choices }: { choices: ChunkChoice[] }) => choices.map(({ delta }) => delta.content ?? '').join('')
  const of = (choice: object) => eventOf({ choices: [{ index: 0, finish_reason: null, ...choice }] })
  const end = of({ delta: {}, finish_reason: 'stop' })

  it('is read in a stream', async () => {
    const messages = [of({ message: { role: 'assistant', content: 'Hel' } }), of({ message: { content: 'lo' } })]
    expect(contents(await stream('openai', [...messages, of({ message: {}, finish_reason: 'stop' })], sse))).toBe(
      'Hello',
    )
    expect(contents(await stream('openai', [...messages, of({ finish_reason: 'stop' })], sse))).toBe('Hello')
    expect(contents(await stream('openai', [of({ delta: null, message: { content: 'Hello' } }), end], sse))).toBe(
      'Hello',
    )
    expect(contents(await stream('openai', [of({ text: 'Hel' }), of({ text: 'lo' }), end], sse))).toBe('Hello')
  })

  it('is not read where it repeats what was said', async () => {
    const deltas = [of({ delta: { content: 'Hel' }, message: { content: 'Hel' } }), of({ delta: { content: 'lo' } })]
    const whole = of({ message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' })
    expect(contents(await stream('openai', [...deltas, whole], sse))).toBe('Hello')
  })

  it.each<[form: string, choice: object]>([
    ['delta', { delta: { role: 'assistant', content: 'Hello' } }],
    ['text', { text: 'Hello' }],
    ['delta beside message null', { message: null, delta: { content: 'Hello' } }],
  ])('is read in a whole answer: %s', async (_, choice) => {
    const { choices } = await complete(
      'openai',
      JSON.stringify({ choices: [{ ...choice, finish_reason: 'length' }] }),
      json,
    )
    expect(choices).toEqual([{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'length' }])
  })
})
