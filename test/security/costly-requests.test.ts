import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { replied, requestOf } from '../endpoints/endpoints.js'
import { runtime } from '../support/runtime.js'
import { limitedKeys } from './limited-keys.js'

let stack: FamiliesStack
let callers: ReturnType<typeof limitedKeys>
beforeAll(async () => {
  stack = await startFamilies({ USER_RATE_LIMIT: '10', BALANCE_POLICY: 'enforce' })
  callers = limitedKeys(stack)
  await give(1_000_000)
})
afterAll(() => stack.stop())
beforeEach(() => {
  stack.fault = undefined
})

const models = ['gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-flash']
const translated = models.slice(1)
const api = async <T>(method: string, path: string, body?: object, token?: string): Promise<T> => {
  const response = await fetch(new URL(path, stack.url), {
    method,
    headers: { 'content-type': 'application/json', ...(token !== undefined && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return (await response.json()) as T
}
type Session = { access_token: string; user: { id: string } }
const administrator = () =>
  api<Session>('POST', '/api/auth', { email: 'admin@localhost', password: 'the password of the tests' })
/** Sets the credits of the administrator, who owns the keys of these tests. */
async function give(creditCoins: number): Promise<void> {
  const { access_token, user } = await administrator()
  await api('PATCH', `/api/users/${user.id}/balance`, { creditCoins }, access_token)
}
const credits = async (): Promise<number> => {
  const { access_token, user } = await administrator()
  return (await api<{ credit_coins: number }>('GET', `/api/users/${user.id}/balance`, undefined, access_token))
    .credit_coins
}
const calls = () => Object.values(stack.upstreams).reduce((sum, { requests }) => sum + requests.length, 0)
const shows = (url: string) => [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }]

describe(`threat 51: one request that keeps the process busy, on ${runtime}`, () => {
  /** Milliseconds for an answer, whatever it is. */
  const timed = async (fields: object): Promise<number> => {
    const before = performance.now()
    const { status } = await callers.chat(fields)
    expect([200, 400]).toContain(status)
    return performance.now() - before
  }

  it.each(models)('is none with a URL of a long host, or schemas of many names, for %s', async (model) => {
    const schema = (inner: object) => ({ tools: [{ type: 'function', function: { name: 'f', parameters: inner } }] })
    const base = await timed({ model, messages: shows(`https://a.example/${'a'.repeat(300_000)}`) })
    const nested = Array.from({ length: 90 }).reduce<object>(
      (within, _, i) => ({ $id: `u${i}`, $anchor: `v${i}`, type: 'object', properties: { a: within } }),
      { type: 'object', properties: Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`p${i}`, {}])) },
    )
    const refs = Array.from({ length: 90 }, (_, i) => [{ $ref: `u${i}` }, { $ref: `#v${i}` }]).flat()
    for (const fields of [
      { messages: shows(`https://a${'\u0301\u0323'.repeat(100_000)}`) },
      {
        messages: shows(
          `https://${String.fromCharCode(...Array.from({ length: 20_000 }, (_, i) => 0x4e00 + i)).repeat(5)}`,
        ),
      },
      {
        messages: shows('https://a.example'),
        ...schema({ type: 'object', properties: { a: { anyOf: refs } }, $defs: { nested } }),
      },
      {
        messages: shows('https://a.example'),
        ...schema({
          type: 'object',
          properties: { a: { $ref: `#/${'a'.repeat(200_000)}/b` } },
          ['a'.repeat(200_000)]: { b: {} },
        }),
      },
    ])
      expect(await timed({ model, ...fields })).toBeLessThan(20 * base + 3_000)
  })

  it.each(translated)('is none with a data URL in any form, for %s', async (model) => {
    const size = 9_000_000
    const base64 = await timed({ model, messages: shows(`data:image/png;base64,${'A'.repeat(size)}`) })
    for (const url of [
      `data:image/png,${'%41'.repeat(size / 3)}`,
      `data:image/png;base64,${'%41'.repeat(size / 3)}`,
      `data:image/png,${'é'.repeat(size / 2)}`,
      `data:${';'.repeat(size)},x`,
    ]) {
      const other = await timed({ model, messages: shows(url) })
      expect([url.slice(0, 30), other / (base64 + 1_000)]).toEqual([url.slice(0, 30), expect.toSatisfy((n) => n < 3)])
    }
  })

  /** A conversation with a tool call of these arguments, and a result. */
  const conversation = (args: string, result: string) => [
    { role: 'user', content: 'x' },
    { role: 'assistant', tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: args } }] },
    { role: 'tool', tool_call_id: 'call_1', content: result },
  ]
  const nested = (depth: number) => `{"a":${'['.repeat(depth)}${']'.repeat(depth)}}`

  it.each(translated)('is none with JSON in a string, which is limited like that of a body, for %s', async (model) => {
    for (const [args, what] of [
      [nested(20_000), 'nests deeper than 128 levels'],
      [nested(3_000_000), 'nests deeper than 128 levels'],
      [`{"a":[${'{},'.repeat(400_000)}{}]}`, 'has more than 400000 values'],
    ] as const) {
      const before = calls()
      const { status, text } = await callers.chat({ model, messages: conversation(args, 'ok') })
      expect([status, JSON.parse(text)]).toMatchObject([
        400,
        { error: { message: `The JSON of the arguments of "f" ${what}` } },
      ])
      expect(calls()).toBe(before)
    }
    // Those of all calls count together.
    const many = Array.from({ length: 5 }, () => conversation(`{"a":[${'{},'.repeat(50_000)}{}]}`, 'ok')).flat()
    const { status, text } = await callers.chat({ model, messages: many })
    expect([status, text]).toEqual([400, expect.stringContaining('has more than 400000 values') as string])
    // A result is text, whatever is in it.
    expect((await callers.chat({ model, messages: conversation('{}', nested(20_000)) })).status).toBe(200)
    expect((await callers.chat({ model, messages: conversation(nested(100), 'ok') })).status).toBe(200)
  })

  it.each(models)('nor is it a 500 with hundreds of thousands of parts, for %s', async (model) => {
    stack.fault = () => replied(400, { error: { message: 'Too many' } })
    const parts = Array.from({ length: 180_000 }, () => ({ type: 'text', text: 'a' }))
    for (const messages of [
      [{ role: 'user', content: parts }],
      [
        { role: 'system', content: parts },
        { role: 'user', content: 'x' },
      ],
      [
        { role: 'user', content: 'x' },
        { role: 'assistant', content: parts },
        { role: 'user', content: 'y' },
      ],
    ]) {
      const { status, text } = await callers.chat({ model, messages })
      expect([status, text.length < 2_000]).toEqual([400, true])
    }
  })

  it.each<[what: string, picture: string, status: number]>([
    ['a small one', 'UklGRh4AAABXRUJQVlA4TBEAAAAvAYAAAAfQ//73v/+BiOh/AAA=', 200],
    ['of 268 million pixels in 38 bytes', 'UklGRh4AAABXRUJQVlA4TBEAAAAv/r//DwfQ//73v/+BiOh/AAA=', 502],
    [
      'that is drawn',
      btoa('<svg xmlns="http://www.w3.org/2000/svg" width="5" height="5"><rect width="5" height="5"/></svg>'),
      502,
    ],
    ['of a format that no model sends', 'R0lGODlhAgADAIAAAExpcf///yH5BAUAAAAALAAAAAACAAMAAAICjF8AOw==', 502],
  ])('nor does a picture of an upstream: %s', async (_, data, status) => {
    const parts = [{ inlineData: { mimeType: 'image/png', data } }]
    stack.fault = () => replied(200, { candidates: [{ content: { parts }, finishReason: 'STOP' }] })
    const fields = { model: 'gemini-2.5-flash-image', response_format: 'b64_json' }
    expect((await callers.post('/v1/images/generations', requestOf('images', fields))).status).toBe(status)
  })

  it('gets no megabytes of its own back in an error', async () => {
    const long = 'a'.repeat(5_000_000)
    for (const model of models)
      for (const fields of [
        { messages: shows(`data:${long},x`) },
        { messages: [{ role: 'tool', tool_call_id: long, content: 'x' }] },
        { messages: [{ role: 'user', content: [{ type: long }] }] },
        { messages: conversation('[]', 'x'), tool_choice: { type: 'function', function: { name: long } } },
        { messages: [{ role: 'user', content: 'x' }], tool_choice: { type: 'function', function: { name: long } } },
        { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: long } }] }] },
      ]) {
        const { text } = await callers.chat({ model, ...fields })
        expect([model, Object.keys(fields), text.length < 2_000]).toEqual([model, Object.keys(fields), true])
      }
  })
})

describe(`threat 52: one request that becomes many calls, on ${runtime}`, () => {
  const request = { messages: [{ role: 'user', content: 'Hi' }] }

  it.each(translated)('counts as one for each of n answers, with a key: %s', async (model) => {
    const key = await callers.create({ rateLimit: 10 })
    const before = calls()
    const most = await callers.chat({ ...request, model, n: 11 }, key)
    expect([most.status, most.headers.get('x-should-retry'), calls() - before]).toEqual([429, 'false', 0])
    expect(most.text).toContain('counts as 11')
    const statuses: number[] = []
    // The one that was refused counts as one.
    for (let i = 0; i < 3; i++)
      statuses.push((await callers.chat({ ...request, model, n: 4, stream: i === 1 }, key)).status)
    expect([statuses, calls() - before]).toEqual([[200, 200, 429], 8])
  })

  it('and for whoever is signed in', async () => {
    const { access_token: admin } = await administrator()
    const person = { email: `n${Date.now()}@example.org`, password: 'correct horse' }
    const { id } = await api<{ id: string }>('POST', '/api/users', person, admin)
    await api('PATCH', `/api/users/${id}/balance`, { creditCoins: 100 }, admin)
    const { access_token } = await api<Session>('POST', '/api/auth', person)
    const ask = async (n: number) =>
      (
        await callers.post(
          '/api/gateway/v1/chat/completions',
          { ...request, model: 'claude-sonnet-4-5', n },
          access_token,
        )
      ).status
    const before = calls()
    expect([await ask(128), await ask(4), await ask(4), await ask(4), calls() - before]).toEqual([
      429, 200, 200, 429, 8,
    ])
  })

  it('counts as one for each hundred texts that Gemini embeds, or that are embedded as decimals', async () => {
    const key = await callers.create({ rateLimit: 10 })
    const embed = (texts: number, model = 'gemini-embedding-001') =>
      callers.post('/v1/embeddings', { model, input: Array.from({ length: texts }, () => 'a') }, key)
    const before = calls()
    expect([(await embed(1_001)).status, calls() - before]).toEqual([429, 0])
    expect([(await embed(800)).status, calls() - before]).toEqual([200, 8])
    expect((await embed(101)).status).toBe(429)
    const input = Array.from({ length: 500 }, () => 'a')
    const statusOf = async (fields: object): Promise<number> => {
      const another = await callers.create({ rateLimit: 1 })
      return (await callers.post('/v1/embeddings', { model: 'text-embedding-3-small', input, ...fields }, another))
        .status
    }
    expect([await statusOf({}), await statusOf({ encoding_format: 'base64' })]).toEqual([429, 200])
  })

  it('is one where one call answers n times', async () => {
    const key = await callers.create({ rateLimit: 2 })
    expect((await callers.chat({ ...request, model: 'gpt-4o-mini', n: 8 }, key)).status).toBe(200)
    expect((await callers.chat({ ...request, model: 'gpt-4o-mini', n: 8 }, key)).status).toBe(200)
  })
})

describe(`threat 53: callers who make a provider look broken for others, on ${runtime}`, () => {
  const refusals: Record<string, { status: number; body: object; model?: string }> = {
    'a 403 of OpenAI': {
      status: 403,
      body: {
        error: { message: 'Project `proj_1` does not have access to model `gpt-secret`', code: 'model_not_found' },
      },
    },
    'a 404 of vLLM': {
      status: 404,
      body: { object: 'error', message: 'The model `gpt-secret` does not exist.', type: 'NotFoundError', code: 404 },
    },
    "a 403 of Google about another account's file": {
      status: 403,
      body: {
        error: {
          code: 403,
          message: 'You do not have permission to access the File abc or it may not exist.',
          status: 'PERMISSION_DENIED',
        },
      },
      model: 'gemini-2.5-flash',
    },
    'a 403 of xAI for what its filter refuses': {
      status: 403,
      body: {
        code: 'The caller does not have permission to execute the specified operation',
        error: 'Content violates usage guidelines. Model: gpt-4o-mini, Failed check: SAFETY_CHECK_TYPE_BIO',
      },
      model: 'gpt-4o-mini',
    },
    'a 402 of OpenRouter for a large max_tokens': {
      status: 402,
      body: {
        error: {
          message: 'This request requires more credits, or fewer max_tokens. You can only afford 90',
          code: 402,
        },
      },
      model: 'gpt-4o-mini',
    },
    'a 500 of Ollama for a picture that is none': {
      status: 500,
      body: { error: { message: 'failed to process inputs: image: unknown format', type: 'api_error' } },
      model: 'gpt-4o-mini',
    },
    'a 429 of OpenAI for a prompt over the limit of a minute': {
      status: 429,
      body: {
        error: {
          message: 'Request too large for gpt-4o-mini: Limit 30000, Requested 100000',
          code: 'rate_limit_exceeded',
        },
      },
      model: 'gpt-4o-mini',
    },
  }

  it.each(Object.keys(refusals))('do not by what is refused to them: %s', async (what) => {
    const { status, body, model } = refusals[what]!
    await callers.chat({ model: model ?? 'gpt-4o-mini' })
    stack.fault = () => replied(status, body)
    for (let i = 0; i < 6; i++)
      expect((await callers.chat({ model: model ?? `gpt-secret-${i}` })).status).toBeGreaterThanOrEqual(400)
    stack.fault = undefined
    const told = await fetch(new URL('/health/providers', stack.url), {
      headers: { authorization: `Bearer ${stack.key}` },
    })
    expect(JSON.stringify(await told.json())).not.toContain('unhealthy')
    if (model) expect((await callers.chat({ model })).status).toBe(200)
  })
})

describe(`threat 33: money that is spent unseen, by sound, on ${runtime}`, () => {
  it.each([
    ['speech', () => callers.post('/v1/audio/speech', { model: 'tts-1-hd', input: 'a'.repeat(4_096), voice: 'alloy' })],
    ['a transcription', () => callers.post('/v1/audio/transcriptions', requestOf('transcription'))],
  ])('%s costs credits, and needs them', async (_, ask) => {
    await give(1)
    const statuses: number[] = []
    for (let i = 0; i < 40; i++) statuses.push((await ask()).status)
    expect([statuses[0], statuses.at(-1), await credits()]).toEqual([200, 403, expect.toSatisfy((n) => n <= 0)])
  })
})
