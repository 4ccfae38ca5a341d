import type { ChatCompletionRequest, Note, Provider, UpstreamCall } from '@turnpike/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Asked, Given } from '../../../test/support/upstream.js'
import { failure, scriptedUpstream } from '../../../test/support/upstream.js'
import { anthropic } from './anthropic/index.js'
import { google } from './google/index.js'
import { openai } from './openai/index.js'
import { Refusals } from './refusals.js'

const messages: ChatCompletionRequest['messages'] = [{ role: 'user', content: 'Hi' }]
const events = (...data: string[]): string => data.map((one) => `data: ${one}\n\n`).join('')

const refusedBy = {
  openai: (field: string): Given => ({
    status: 400,
    body: {
      error: {
        message: `Unsupported parameter: '${field}' is not supported with this model.`,
        param: field,
        code: 'unsupported_parameter',
      },
    },
  }),
  google: (field: string): Given => ({
    status: 400,
    body: {
      error: {
        code: 400,
        message: `Invalid JSON payload received. Unknown name "${field}" at 'generation_config': Cannot find field.`,
        status: 'INVALID_ARGUMENT',
      },
    },
  }),
  anthropic: (field: string): Given => ({
    status: 400,
    body: {
      type: 'error',
      error: { type: 'invalid_request_error', message: `${field}: Extra inputs are not permitted` },
    },
  }),
}

const good = {
  openai: (stream: boolean): Given =>
    stream
      ? {
          type: 'text/event-stream',
          body: events('{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":"stop"}]}', '[DONE]'),
        }
      : { body: { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }] } },
  google: (stream: boolean): Given => {
    const body = { candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' }] }
    return stream ? { type: 'text/event-stream', body: events(JSON.stringify(body)) } : { body }
  },
  anthropic: (stream: boolean): Given =>
    stream
      ? {
          type: 'text/event-stream',
          body: events(
            '{"type":"message_start","message":{"id":"m","usage":{"input_tokens":1}}}',
            '{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"a"}}',
            '{"type":"content_block_stop","index":0}',
            '{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}',
            '{"type":"message_stop"}',
          ),
        }
      : {
          body: { type: 'message', role: 'assistant', content: [{ type: 'text', text: 'a' }], stop_reason: 'end_turn' },
        },
}

const make = { openai, google, anthropic }
type Family = keyof typeof make
const models: Record<Family, string> = { openai: 'my-model', google: 'gemini-9-flash', anthropic: 'claude-haiku-4-5' }

/** An upstream that refuses what `refuse` finds in a request, and answers all others. */
function upstream(family: Family, refuse: (body: Record<string, any>, asked: Asked) => Given | undefined) {
  const at = scriptedUpstream((asked) => {
    const body = asked.body as Record<string, any>
    const stream = body['stream'] === true || asked.url.includes('streamGenerateContent')
    // An endless repetition would hang the test.
    return (at.asked.length < 20 ? refuse(body, asked) : undefined) ?? good[family](stream)
  })
  const provider: Provider = make[family]({
    apiKey: 'sk-test',
    transport: at.transport,
    baseURL: 'https://upstream.example/v1',
  })
  const repeats = { count: 0 }
  /** Asks once. @returns what was noted last, and how many requests it took */
  const ask = async (fields: object = {}): Promise<{ calls: number; notes: string[]; sent: Record<string, any> }> => {
    const before = at.asked.length
    let noted: Note[] = []
    const call: UpstreamCall = {
      ...at.call,
      onNotes: (notes) => void (noted = notes),
      onRepeat: () => void repeats.count++,
    }
    const request = { model: models[family], messages, ...fields } as ChatCompletionRequest
    if (request.stream) for await (const _ of (await provider.chat!.stream(request, call)).batches);
    else await provider.chat!.complete(request, call)
    return {
      calls: at.asked.length - before,
      notes: noted.map(({ field, action }) => `${action}=${field}`),
      sent: at.asked.at(-1)!.body as Record<string, any>,
    }
  }
  const learnt = () => provider.learnt!().map(({ model, field }) => `${model}: ${field}`)
  return { ...at, provider, ask, learnt, repeats }
}

afterEach(() => void vi.useRealTimers())

describe.each<[Family, string, (body: Record<string, any>) => boolean]>([
  ['openai', 'temperature', (body) => 'temperature' in body],
  ['google', 'temperature', (body) => body['generationConfig']?.temperature !== undefined],
  ['anthropic', 'temperature', (body) => 'temperature' in body],
])('a provider of %s', (family, field, has) => {
  const setUp = () => upstream(family, (body) => (has(body) ? refusedBy[family](field) : undefined))

  it.each([false, true])('asks once more without what is refused, and then knows (stream: %s)', async (stream) => {
    const { ask, learnt, repeats, provider } = setUp()
    const fields = { temperature: 0.2, top_k: 3, stream }
    expect(await ask({ top_k: 3, stream })).toMatchObject({ calls: 1, notes: [] })
    expect(await ask(fields)).toMatchObject({ calls: 2, notes: [`dropped=${field}`] })
    expect(repeats.count).toBe(1)
    expect(learnt()).toEqual([`${models[family]}: ${field}`])
    for (const _ of [1, 2]) expect(await ask(fields)).toMatchObject({ calls: 1, notes: [`dropped=${field}`] })
    expect(repeats.count).toBe(1)
    const request = { model: models[family], messages, ...fields } as ChatCompletionRequest
    expect(provider.chat!.preview(request)).toContainEqual({ field, action: 'dropped' })
    expect(await ask({ model: `${models[family]}-2`, ...fields })).toMatchObject({ calls: 2 })
  })

  it('asks anew after a day', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { ask, learnt } = setUp()
    await ask({ temperature: 0.2 })
    vi.advanceTimersByTime(24 * 60 * 60 * 1000 - 1)
    expect(await ask({ temperature: 0.2 })).toMatchObject({ calls: 1 })
    vi.advanceTimersByTime(1)
    expect(learnt()).toEqual([])
    expect(await ask({ temperature: 0.2 })).toMatchObject({ calls: 2 })
  })

  it('asks once more at most, and learns only what helped', async () => {
    const { ask, asked, learnt } = upstream(family, (body) =>
      has(body) ? refusedBy[family](field) : refusedBy[family]('seed'),
    )
    await expect(ask({ temperature: 0.2, seed: 7 })).rejects.toMatchObject(
      failure({ status: 400, caller: true }, family),
    )
    expect([asked.length, learnt()]).toEqual([2, []])
  })

  it('says what became of the second request', async () => {
    const { ask, asked, learnt } = upstream(family, (body) =>
      has(body) ? refusedBy[family](field) : { status: 503, body: {} },
    )
    await expect(ask({ temperature: 0.2 })).rejects.toMatchObject(failure({ status: 503, accepted: false }, family))
    expect([asked.length, learnt()]).toEqual([2, []])
  })

  it.each<[what: string, given: Given]>([
    [
      'any other 400',
      {
        status: 400,
        body: { error: { message: 'Something is wrong with temperature', type: 'invalid_request_error' } },
      },
    ],
    ['a 400 without words', { status: 400, body: '' }],
    [
      'an invalid value',
      {
        status: 400,
        body: {
          error: {
            message: "Invalid 'temperature': expected a value between 0 and 1.",
            param: 'temperature',
            code: 'decimal_above_max_value',
          },
        },
      },
    ],
    ['messages', { ...refusedBy[family]('messages') }],
    ['tools', { ...refusedBy[family]('tools') }],
    ['the model', { ...refusedBy[family]('model') }],
    ['a parameter that was not sent', { ...refusedBy[family]('verbosity') }],
    ...[401, 403, 404, 409, 413, 429, 500, 502, 503, 529].map((status): [string, Given] => [
      `a ${status} of these words`,
      { ...refusedBy[family](field), status },
    ]),
    ['a 200 of these words', { ...refusedBy[family](field), status: 200 }],
  ])('asks once for %s', async (_, given) => {
    for (const stream of [false, true]) {
      const { ask, asked, learnt } = upstream(family, () => given)
      await expect(ask({ temperature: 0.2, stream })).rejects.toMatchObject({ name: 'UpstreamError' })
      expect([asked.length, learnt()]).toEqual([1, []])
    }
  })

  it('asks once where a stream that began says so', async () => {
    const begun = good[family](true).body as string
    const { ask, asked } = upstream(family, () => ({
      type: 'text/event-stream',
      body: [Buffer.from(`data: ${JSON.stringify(refusedBy[family](field).body)}\n\n${begun}`)],
    }))
    await expect(ask({ temperature: 0.2, stream: true })).rejects.toMatchObject({ name: 'UpstreamError' })
    expect(asked).toHaveLength(1)
  })

  it('does not ask again for somebody who has left', async () => {
    const at = upstream(family, () => {
      at.abort(new Error('left'))
      return refusedBy[family](field)
    })
    await expect(at.ask({ temperature: 0.2 })).rejects.toThrow()
    expect(at.asked).toHaveLength(1)
  })
})

describe('openai', () => {
  it('D4: streams without stream_options where they are refused, and says so', async () => {
    const { ask, learnt, asked } = upstream('openai', (body) =>
      'stream_options' in body
        ? {
            status: 422,
            body: {
              detail: [
                { type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' },
              ],
            },
          }
        : undefined,
    )
    expect(await ask({ stream: true })).toMatchObject({ calls: 2, notes: ['dropped=stream_options'] })
    expect(await ask({ stream: true, stream_options: { include_usage: true } })).toMatchObject({
      calls: 1,
      notes: ['dropped=stream_options'],
    })
    expect(await ask()).toMatchObject({ calls: 1, notes: [] })
    expect(learnt()).toEqual(['my-model: stream_options'])
    expect(asked[0]!.body).toMatchObject({ stream_options: { include_usage: true } })
  })

  it('leaves out several at once', async () => {
    const { ask } = upstream('openai', (body) =>
      'temperature' in body || 'top_p' in body
        ? {
            status: 400,
            body: { error: { message: 'Model incompatible request arguments supplied: temperature, top_p' } },
          }
        : undefined,
    )
    const fields = { temperature: 0.2, top_p: 0.5, seed: 7 }
    expect(await ask(fields)).toMatchObject({
      calls: 2,
      notes: ['dropped=temperature', 'dropped=top_p'],
      sent: { seed: 7 },
    })
    expect(await ask(fields)).toMatchObject({ calls: 1 })
  })

  it('leaves out one value and keeps others', async () => {
    const { ask, learnt } = upstream('openai', (body) =>
      body['reasoning_effort'] === 'minimal'
        ? {
            status: 400,
            body: {
              error: {
                message:
                  "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'low'.",
                param: 'reasoning_effort',
                code: 'unsupported_value',
              },
            },
          }
        : undefined,
    )
    expect(await ask({ reasoning_effort: 'minimal' })).toMatchObject({ calls: 2, notes: ['dropped=reasoning_effort'] })
    expect(await ask({ reasoning_effort: 'high' })).toMatchObject({
      calls: 1,
      notes: [],
      sent: { reasoning_effort: 'high' },
    })
    expect(learnt()).toEqual(['my-model: reasoning_effort=minimal'])
  })

  it('sets the effort none beside tools of a deployment whose model it does not know', async () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const { ask } = upstream('openai', (body) =>
      body['tools'] && body['reasoning_effort'] !== 'none'
        ? {
            status: 400,
            body: {
              error: {
                message: 'Function tools with reasoning_effort are not supported for luna-dev in /v1/chat/completions.',
                param: 'reasoning_effort',
              },
            },
          }
        : undefined,
    )
    expect(await ask({ tools })).toMatchObject({
      calls: 2,
      notes: ['clamped=reasoning_effort'],
      sent: { reasoning_effort: 'none', tools },
    })
    expect(await ask({ tools, reasoning_effort: 'high' })).toMatchObject({
      calls: 1,
      notes: ['clamped=reasoning_effort'],
    })
    expect(await ask({ reasoning_effort: 'high' })).toMatchObject({
      calls: 1,
      notes: [],
      sent: { reasoning_effort: 'high' },
    })
  })

  it.each([
    ['max_tokens', 'max_completion_tokens'],
    ['max_completion_tokens', 'max_tokens'],
  ])('sends %s as %s where only that is known, and the limit stays known', async (field, other) => {
    const { ask, provider } = upstream('openai', (body) =>
      field in body
        ? {
            status: 400,
            body: {
              error: {
                message: `Unsupported parameter: '${field}' is not supported with this model. Use '${other}' instead.`,
                param: field,
                code: 'unsupported_parameter',
              },
            },
          }
        : undefined,
    )
    const request = { model: 'my-model', messages, [field]: 5 } as ChatCompletionRequest
    expect(await ask({ [field]: 5 })).toMatchObject({ calls: 2, notes: [], sent: { [other]: 5 } })
    expect(await ask({ [field]: 5 })).toMatchObject({ calls: 1 })
    expect(provider.chat!.maxOutput!(request)).toBe(5)
  })

  const schema = { type: 'object', properties: { a: { type: 'string' } } }
  it('tells a schema in words where the format is refused', async () => {
    const { ask } = upstream('openai', (body) =>
      body['response_format']?.type === 'json_schema'
        ? { status: 400, body: { error: { message: 'This response_format type is unavailable now' } } }
        : undefined,
    )
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    for (const calls of [2, 1]) {
      const { sent, ...rest } = await ask({ response_format })
      expect(rest).toEqual({ calls, notes: ['emulated=response_format'] })
      expect(sent).not.toHaveProperty('response_format')
      expect(sent['messages'][0].content).toContain(JSON.stringify(schema))
    }
    expect(await ask({ response_format: { type: 'json_object' } })).toMatchObject({ calls: 1, notes: [] })
  })

  it('D2: asks for vectors without base64 where that is refused', async () => {
    const at = scriptedUpstream(({ body }) =>
      (body as object) && 'encoding_format' in (body as object)
        ? {
            status: 400,
            body: {
              object: 'error',
              message: 'base64 encoding is not currently supported',
              type: 'BadRequestError',
              code: 400,
            },
          }
        : {
            body: { object: 'list', data: [{ index: 0, embedding: [1, 2] }], model: 'e', usage: { prompt_tokens: 1 } },
          },
    )
    const provider = openai({ apiKey: 'k', transport: at.transport })
    const ask = async (encoding_format?: 'float' | 'base64') =>
      (await provider.embeddings!({ model: 'e', input: 'a', ...(encoding_format && { encoding_format }) }, at.call))
        .data[0]!.embedding
    expect([await ask('float'), at.asked.length]).toEqual([[1, 2], 2])
    expect([await ask('base64'), at.asked.length]).toEqual(['AACAPwAAAEA=', 3])
    expect([await ask(), at.asked.length]).toEqual([[1, 2], 4])
    expect(at.notes).toContainEqual({ field: 'encoding_format', action: 'dropped' })
    expect(provider.learnt!()).toMatchObject([{ model: 'e', field: 'encoding_format' }])
  })
})

describe('anthropic', () => {
  const schema = (size: number) => ({
    type: 'object',
    properties: { a: { enum: Array.from({ length: size }, (_, index) => `v${index}`) } },
    additionalProperties: false,
    required: ['a'],
  })
  const format = (size: number) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'x', schema: schema(size) } },
  })

  it('tells a schema in words whose grammar is too large, and enforces others', async () => {
    const { ask } = upstream('anthropic', (body) =>
      JSON.stringify(body['output_config'] ?? '').length > 1_000
        ? {
            status: 400,
            body: {
              type: 'error',
              error: {
                type: 'invalid_request_error',
                message: 'The compiled grammar is too large, which would cause performance issues.',
              },
            },
          }
        : undefined,
    )
    expect(await ask(format(5))).toMatchObject({ calls: 1, notes: [] })
    expect(await ask(format(500))).toMatchObject({ calls: 2, notes: ['emulated=response_format'] })
    expect(await ask(format(500))).toMatchObject({ calls: 1, notes: ['emulated=response_format'] })
    expect(await ask(format(5))).toMatchObject({ calls: 1, notes: [] })
  })

  it('sends no budget for thoughts that are refused, and the limit is that of the answer alone', async () => {
    const { ask, provider } = upstream('anthropic', (body) =>
      body['thinking'] ? refusedBy.anthropic('thinking') : undefined,
    )
    const fields = { reasoning_effort: 'high', max_tokens: 100 }
    const most = () =>
      provider.chat!.maxOutput!({ model: models.anthropic, messages, ...fields } as ChatCompletionRequest)
    expect(most()).toBeGreaterThan(100)
    expect(await ask(fields)).toMatchObject({
      calls: 2,
      notes: ['dropped=reasoning_effort'],
      sent: { max_tokens: 100 },
    })
    expect(most()).toBe(100)
  })

  it('asks once more for each of several calls, and no more for those that follow', async () => {
    const { provider, asked, call } = upstream('anthropic', (body) =>
      'temperature' in body ? refusedBy.anthropic('temperature') : undefined,
    )
    const request = { model: models.anthropic, messages, temperature: 0.2 } as ChatCompletionRequest
    const prepared = await provider.chat!.prepare!(request, call)
    await provider.chat!.complete(prepared, call)
    expect(asked).toHaveLength(2)
    await provider.chat!.complete(prepared, call)
    expect(asked).toHaveLength(3)
  })
})

describe('what is learnt', () => {
  const refuse = (memory: Refusals, model: string, field: string) => {
    const request = { model, [field]: 1 }
    memory
      .outgoing(request, (losses) => ({ path: '', notes: [], body: losses.includes(field) ? {} : request }))
      .again(`{"error":{"message":"Unsupported parameter: '${field}' is not supported"}}`)!
      .learn()
  }

  it('is bounded, and the oldest is forgotten', () => {
    const memory = new Refusals()
    for (let model = 0; model < 600; model++) refuse(memory, `m${model}`, 'temperature')
    const listed = memory.list().map(({ model }) => model)
    expect([listed.length, listed[0], listed.at(-1)]).toEqual([500, 'm100', 'm599'])
    refuse(memory, 'm100', 'top_p')
    refuse(memory, 'm600', 'top_p')
    expect(memory.of('m100')).toEqual(['temperature', 'top_p'])
    expect(memory.of('m101')).toEqual([])
    refuse(memory, 'm'.repeat(201), 'top_p')
    expect(memory.of('m'.repeat(201))).toEqual([])
  })

  it('of a model is bounded', () => {
    const memory = new Refusals()
    for (let size = 1; size <= 40; size++) {
      const request = { model: 'm', response_format: { type: 'json_schema', size } }
      memory
        .outgoing(request, (losses) => ({
          path: '',
          notes: [],
          body: losses.length > size - 1 || losses.length === 30 ? { losses } : request,
        }))
        .again('{"error":"The compiled grammar is too large"}')
        ?.learn()
    }
    expect(memory.of('m').length).toBeLessThanOrEqual(30)
  })
})
