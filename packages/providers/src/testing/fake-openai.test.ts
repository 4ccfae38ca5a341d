import { describe, expect, it } from 'vitest'
import { fakeOpenAI } from './fake-openai.js'
import type { FakeOptions } from './fake-upstream.js'
import { sampleJson } from './sample-json.js'

const user = { role: 'user', content: 'Hi there' }
const parameters = { type: 'object', properties: { city: { type: 'string' }, days: { type: 'integer' } } }
const weather = { type: 'function', function: { name: 'weather', parameters } }

interface Body {
  id: string
  created: number
  choices: {
    message: { content: string | null; tool_calls?: { id: string; function: object }[] }
    finish_reason: string
  }[]
  usage: { prompt_tokens: number; completion_tokens: number; total_tokens: number }
  error: object
}

function setUp(options: FakeOptions = {}) {
  const fake = fakeOpenAI(options)
  const { signal } = new AbortController()
  const send = async (fields: object, key: string | undefined = 'any', path = '/v1/chat/completions') => {
    const body = JSON.stringify({ model: 'gpt-4o', messages: [user], ...fields })
    const headers = key === '' ? {} : { authorization: `Bearer ${key}` }
    const answer = await fake.transport({ url: `https://fake${path}`, method: 'POST', headers, body, signal })
    let text = ''
    for await (const piece of answer.body) text += new TextDecoder().decode(piece)
    return { status: answer.status, type: answer.header('content-type'), text }
  }
  const ask = async (fields: object): Promise<Body> => JSON.parse((await send(fields)).text) as Body
  return { fake, send, ask }
}

describe('the fake OpenAI', () => {
  it('returns the same answer for the same question, with the text of the user', async () => {
    const { ask, fake } = setUp()
    const first = await ask({})
    const { id, created, ...again } = await ask({})
    expect(first).toEqual({
      ...again,
      id: expect.not.stringContaining(id) as string,
      created: expect.closeTo(created, -1) as number,
    })
    expect(created).toBeCloseTo(Date.now() / 1000, -1)
    expect(first.choices).toMatchObject([
      { message: { content: 'This is a simulated answer. You said: Hi there' }, finish_reason: 'stop' },
    ])
    expect(first.usage.total_tokens).toBe(first.usage.prompt_tokens + first.usage.completion_tokens)
    expect(fake.requests).toHaveLength(2)
    expect(fake.requests[0]).toMatchObject({ method: 'POST', path: '/v1/chat/completions', body: { model: 'gpt-4o' } })
    expect(fake.active).toBe(0)
  })

  it('streams the same answer in the order of the API', async () => {
    const { send, ask } = setUp()
    const { type, text } = await send({ stream: true, stream_options: { include_usage: true } })
    expect(type).toBe('text/event-stream; charset=utf-8')
    const events = text.split('\n\n').slice(0, -1)
    expect(events.at(-1)).toBe('data: [DONE]')
    const chunks = events.slice(0, -1).map(
      (event) =>
        JSON.parse(event.slice(6)) as {
          choices: { delta: { content?: string; role?: string } }[]
          usage: object | null
        },
    )
    const { choices, usage } = await ask({})
    expect(chunks.map((chunk) => chunk.choices[0]?.delta.content ?? '').join('')).toBe(choices[0]!.message.content)
    expect(chunks.filter((chunk) => chunk.choices[0]?.delta.role)).toHaveLength(1)
    expect(chunks.slice(0, -1).every((chunk) => chunk.usage === null)).toBe(true)
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage })
    expect((await send({ stream: true })).text).not.toContain('usage')
  })

  it('calls a tool that is forced, required or named, and then uses its result', async () => {
    const { ask } = setUp()
    const forced = { type: 'function', function: { name: 'weather' } }
    const named = [{ role: 'user', content: 'Use weather' }]
    for (const fields of [{ tool_choice: forced }, { tool_choice: 'required' }, { messages: named }]) {
      const [choice] = (await ask({ tools: [weather], ...fields })).choices
      expect(choice).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
      expect(choice!.message.tool_calls).toMatchObject([
        { function: { name: 'weather', arguments: '{"city":"city","days":1}' } },
      ])
    }
    for (const fields of [{}, { tool_choice: 'none', messages: named }])
      expect((await ask({ tools: [weather], ...fields })).choices[0]!.finish_reason).toBe('stop')
    const calling = (await ask({ tools: [weather], tool_choice: forced })).choices[0]!.message
    const result = { role: 'tool', tool_call_id: calling.tool_calls![0]!.id, content: 'sunny' }
    const after = await ask({ tools: [weather], messages: [user, { role: 'assistant', ...calling }, result] })
    expect(after.choices[0]!.message.content).toBe('The tools answered: sunny')
  })

  it('applies limits, formats and n', async () => {
    const { ask } = setUp()
    expect(await ask({ max_tokens: 2 })).toMatchObject({
      choices: [{ message: { content: 'This is ' }, finish_reason: 'length' }],
      usage: { completion_tokens: 2 },
    })
    expect((await ask({ n: 3 })).choices).toHaveLength(3)
    const schema = { type: 'json_schema', json_schema: { name: 'x', schema: parameters } }
    expect((await ask({ response_format: schema })).choices[0]!.message.content).toBe('{"city":"city","days":1}')
  })

  it('refuses like the API', async () => {
    const { send } = setUp({ apiKey: 'right' })
    const error = async (...given: Parameters<typeof send>) => {
      const { status, text } = await send(...given)
      return [status, (JSON.parse(text) as Body).error]
    }
    expect(await error({}, 'wrong')).toEqual([
      401,
      {
        message: 'Incorrect API key provided: wrong.',
        type: 'invalid_request_error',
        param: null,
        code: 'invalid_api_key',
      },
    ])
    expect(await error({}, '')).toMatchObject([401, { code: 'invalid_api_key' }])
    expect(await error({}, 'right', '/v1/responses')).toMatchObject([
      404,
      { message: 'Invalid URL (POST /v1/responses)' },
    ])
    expect(await error({ foo: 1 }, 'right')).toEqual([
      400,
      { message: "Unknown parameter: 'foo'.", type: 'invalid_request_error', param: 'foo', code: 'unknown_parameter' },
    ])
    expect((await send({}, 'right')).status).toBe(200)
  })

  it('can be overridden', async () => {
    const { send } = setUp({ override: ({ path }) => ({ status: 418, headers: {}, body: path }) })
    expect(await send({})).toEqual({ status: 418, type: undefined, text: '/v1/chat/completions' })
  })
})

describe('sampleJson', () => {
  it.each<[schema: unknown, value: unknown]>([
    [undefined, {}],
    [{ type: 'string' }, 'value'],
    [{ type: 'integer' }, 1],
    [{ type: 'number', minimum: 5 }, 5],
    [{ type: 'boolean' }, true],
    [{ type: ['null', 'string'] }, null],
    [{ type: 'array', items: { type: 'integer' } }, [1]],
    [{ enum: ['a', 'b'] }, 'a'],
    [{ const: 0 }, 0],
    [{ anyOf: [{ type: 'boolean' }] }, true],
    [{ properties: { a: { properties: { b: { type: 'string' } } } } }, { a: { b: 'b' } }],
  ])('fits %j', (schema, value) => expect(sampleJson(schema)).toEqual(value))
})
