import type { ChatCompletionRequest } from '@turnpike/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { Body, Family } from '../../../../test/support/refusals.js'
import { good, messages, models, refusedBy, upstream } from '../../../../test/support/refusals.js'
import type { Given } from '../../../../test/support/upstream.js'
import { failure } from '../../../../test/support/upstream.js'
import { Refusals } from './refusals.js'

afterEach(() => void vi.useRealTimers())

describe.each<[Family, string, (body: Body) => boolean]>([
  ['openai', 'temperature', (body) => 'temperature' in body],
  ['google', 'temperature', (body) => JSON.stringify(body['generationConfig'] ?? '').includes('temperature')],
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
    expect(provider.chat.preview(request)).toContainEqual({ field, action: 'dropped' })
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

it('threat 49: a request is kept as the text that is sent, and not as objects', () => {
  const made: object[] = []
  const { body, again } = new Refusals().outgoing({ model: 'm' }, (losses) => {
    made.push({ losses })
    return { path: '', notes: [], body: made.at(-1)! }
  })
  expect(body).toBe('{"losses":[]}')
  expect(again('{"error":{"message":"Unsupported parameter: \'seed\'"}}')?.request.body).toBe('{"losses":["seed"]}')
})

describe('threat 203: what is refused beside other parameters', () => {
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
  const response_format = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'object' } } }
  const words = "Function calling with a response mime type: 'application/json' is unsupported"
  const setUp = () =>
    upstream('openai', (body) => {
      if (body['tools'] && body['response_format'])
        return { status: 400, body: { error: { code: 400, message: words, status: 'INVALID_ARGUMENT' } } }
      const isThinking = ![undefined, 'none'].includes(body['reasoning_effort'] as string | undefined)
      return body['temperature'] !== undefined && isThinking ? refusedBy.openai('temperature') : undefined
    })

  it('stays in requests without these', async () => {
    const { ask, learnt } = setUp()
    expect(await ask({ tools, response_format })).toMatchObject({ calls: 2, notes: ['emulated=response_format'] })
    for (const calls of [2, 1])
      expect(await ask({ tools, response_format, top_p: 1 })).toMatchObject({
        calls,
        notes: ['emulated=response_format'],
      })
    expect(await ask({ response_format, top_p: 1 })).toMatchObject({ calls: 1, notes: [], sent: { response_format } })
    expect(await ask({ temperature: 1, reasoning_effort: 'high' })).toMatchObject({ notes: ['dropped=temperature'] })
    for (const fields of [{ temperature: 0 }, { temperature: 0, reasoning_effort: 'none', tools }])
      expect(await ask(fields)).toMatchObject({ calls: 1, notes: [], sent: fields })
    expect(learnt()).toHaveLength(2)
  })

  it('is learnt of requests with less, once one of them is refused', async () => {
    const { ask, learnt } = setUp()
    const fields = { temperature: 1, reasoning_effort: 'high' }
    expect(await ask({ ...fields, top_p: 1, seed: 1 })).toMatchObject({ calls: 2 })
    expect(await ask(fields)).toMatchObject({ calls: 2 })
    for (const more of [{}, { top_p: 1 }, { user: 'ada' }, { user: 'bob', stop: 'x', max_tokens: 5 }])
      expect(await ask({ ...fields, ...more })).toMatchObject({ calls: 1 })
    // What nobody has sent beside it is tried once.
    for (const calls of [2, 1]) expect(await ask({ ...fields, tools })).toMatchObject({ calls })
    expect(learnt()).toHaveLength(1)
  })
})

it('threat 203: what is refused beside a picture, or several answers, stays in requests without them', async () => {
  const seen = [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'data:image/png;base64,AA==' } }] }]
  const { ask } = upstream('openai', (body) =>
    body['seed'] !== undefined && (JSON.stringify(body).includes('image_url') || body['n'] === 2)
      ? refusedBy.openai('seed')
      : undefined,
  )
  for (const more of [{ messages: seen }, { n: 2 }]) {
    for (const calls of [2, 1])
      expect(await ask({ seed: 1, ...more })).toMatchObject({ calls, notes: ['dropped=seed'] })
    for (const n of [undefined, 1]) expect(await ask({ seed: 1, n })).toMatchObject({ calls: 1, notes: [] })
  }
})

it('threat 203: what is refused without another parameter stays in requests with it', async () => {
  const { ask } = upstream('openai', (body) =>
    body['temperature'] !== undefined && body['reasoning_effort'] !== 'none'
      ? refusedBy.openai('temperature')
      : undefined,
  )
  for (const calls of [2, 1])
    expect(await ask({ temperature: 1 })).toMatchObject({ calls, notes: ['dropped=temperature'] })
  for (const stream of [false, true])
    expect(await ask({ temperature: 1, reasoning_effort: 'none', stream })).toMatchObject({ calls: 1, notes: [] })
  expect(await ask({ temperature: 1 })).toMatchObject({ calls: 1 })
})

it('threat 203: several parameters that a model refuses are left out together, whatever is new besides', async () => {
  const { ask, learnt } = upstream('openai', (body) => {
    const field = ['seed', 'temperature', 'top_p'].find((name) => name in body)
    return field ? refusedBy.openai(field) : undefined
  })
  const refused = { temperature: 1, top_p: 1, seed: 1 }
  for (const [field, value] of Object.entries(refused))
    expect(await ask({ [field]: value })).toMatchObject({ calls: 2 })
  expect(learnt()).toHaveLength(3)
  expect(await ask(refused)).toMatchObject({ calls: 1 })
  for (const calls of [2, 2, 2, 1]) expect(await ask({ ...refused, top_k: 3, stop: 'x' })).toMatchObject({ calls })
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
    expect(memory.of({ model: 'm100' })).toEqual(['temperature', 'top_p'])
    expect(memory.of({ model: 'm101' })).toEqual([])
    refuse(memory, 'm'.repeat(201), 'top_p')
    expect(memory.of({ model: 'm'.repeat(201) })).toEqual([])
  })

  it('threat 203: is bounded in what a request has besides, however many fields are sent', async () => {
    const { ask } = upstream('openai', (body) => (body['seed'] === undefined ? undefined : refusedBy.openai('seed')))
    const fields = (count: number, name = 'f') =>
      Object.fromEntries(Array.from({ length: count }, (_, i) => [name + i, 1]))
    for (const more of [fields(41), fields(1, 'x'.repeat(60))])
      for (const calls of [2, 2]) expect(await ask({ seed: 1, ...more })).toMatchObject({ calls })
    for (const calls of [2, 1]) expect(await ask({ seed: 1, ...fields(30) })).toMatchObject({ calls })
    for (const calls of [2, 1]) expect(await ask({ seed: 1, ...fields(30, 'g') })).toMatchObject({ calls })
    // All of them together would be too many.
    for (const more of [{}, fields(30)]) expect(await ask({ seed: 1, ...more })).toMatchObject({ calls: 2 })
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
    expect(memory.of({ model: 'm' }).length).toBeLessThanOrEqual(30)
  })
})
