import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { messages, models, refusedBy, schema, upstream } from '../../../../test/support/refusals.js'
import { scriptedUpstream } from '../../../../test/support/upstream.js'
import { openai } from '../openai/index.js'

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
    expect(provider.chat.maxOutput!(request)).toBe(5)
  })

  it('tells a schema in words where the format is refused', async () => {
    const { ask } = upstream('openai', (body) =>
      JSON.stringify(body['response_format'] ?? '').includes('json_schema')
        ? { status: 400, body: { error: { message: 'This response_format type is unavailable now' } } }
        : undefined,
    )
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    for (const calls of [2, 1]) {
      const { sent, ...rest } = await ask({ response_format })
      expect(rest).toEqual({ calls, notes: ['emulated=response_format'] })
      expect(sent).not.toHaveProperty('response_format')
      expect(JSON.stringify(sent)).toContain(JSON.stringify(JSON.stringify(schema)).slice(1, -1))
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
      provider.chat.maxOutput!({ model: models.anthropic, messages, ...fields } as ChatCompletionRequest)
    expect(most()).toBeGreaterThan(100)
    expect(await ask(fields)).toMatchObject({
      calls: 2,
      notes: ['dropped=reasoning_effort'],
      sent: { max_tokens: 100 },
    })
    expect(most()).toBe(100)
  })

  it('sends neither effort nor format of a configuration that is refused as a whole', async () => {
    const { ask, learnt } = upstream('anthropic', (body) =>
      'output_config' in body ? refusedBy.anthropic('output_config') : undefined,
    )
    expect(await ask(format(5))).toMatchObject({ calls: 2, notes: ['emulated=response_format'] })
    expect(learnt()).toContain('claude-haiku-4-5: response_format=json_schema')
  })

  it.each(['metadata', 'metadata.user_id'])('sends no user where %s is refused', async (field) => {
    const { ask } = upstream('anthropic', (body) => ('metadata' in body ? refusedBy.anthropic(field) : undefined))
    for (const calls of [2, 1]) expect(await ask({ user: 'u' })).toMatchObject({ calls, notes: ['dropped=user'] })
  })

  it('asks once more for each of several calls, and no more for those that follow', async () => {
    const { provider, asked, call } = upstream('anthropic', (body) =>
      'temperature' in body ? refusedBy.anthropic('temperature') : undefined,
    )
    const request = { model: models.anthropic, messages, temperature: 0.2 } as ChatCompletionRequest
    const prepared = await provider.chat.prepare!(request, call)
    await provider.chat.complete(prepared, call)
    expect(asked).toHaveLength(2)
    await provider.chat.complete(prepared, call)
    expect(asked).toHaveLength(3)
  })
})

describe('google', () => {
  it('tells a schema in words where a model has it not beside tools', async () => {
    const { ask } = upstream('google', (body) =>
      JSON.stringify(body['generationConfig'] ?? '').includes('application/json')
        ? {
            status: 400,
            body: {
              error: {
                code: 400,
                message: "Function calling with a response mime type: 'application/json' is unsupported",
                status: 'INVALID_ARGUMENT',
              },
            },
          }
        : undefined,
    )
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    const { sent, ...rest } = await ask({ response_format })
    expect(rest).toEqual({ calls: 2, notes: ['emulated=response_format'] })
    expect(JSON.stringify(sent)).not.toContain('application/json')
  })
})
