import type { FakeRequest } from '@turnpike/providers/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { audio, paths, requestOf } from '../endpoints/endpoints.js'
import { runtime } from '../support/runtime.js'
import { KEY } from '../support/server.js'
import type { Family } from './billing-upstreams.js'
import { families, familyOf, heldAnswer, priceOf, streamedAnswer, tokensOf, wholeAnswer } from './billing-upstreams.js'
import { limitedKeys } from './limited-keys.js'

type Charge = { request_id: string; cost_usd: number; outcome: string }

let stack: FamiliesStack
let callers: ReturnType<typeof limitedKeys>
let userId: string
const known = new Set<string>()
const get = async <T>(path: string): Promise<T> =>
  (await fetch(stack.url + path, { headers: { authorization: `Bearer ${KEY}` } })).json() as Promise<T>
/** What was charged since `forget`. */
const charges = async (): Promise<Charge[]> =>
  (await get<{ records: Charge[] }>(`/users/${userId}/usage`)).records.filter(
    ({ request_id }) => !known.has(request_id),
  )
const forget = async () => {
  for (const { request_id } of await charges()) known.add(request_id)
}

beforeAll(async () => {
  stack = await startFamilies()
  callers = limitedKeys(stack)
  userId = (await get<{ data: { id: string }[] }>('/users')).data[0]!.id
})
afterAll(() => stack.stop())
beforeEach(async () => {
  stack.fault = undefined
  await forget()
})

/** A recording that may be as long as an hour. */
const hour = { file: audio('talk.mp3', 'a'.repeat(225_000)) }
const user = (content: unknown) => ({ role: 'user', content })
const called = (args: string) => ({ id: 'call_1', type: 'function', function: { name: 'f', arguments: args } })
const tool = (fields: object) => ({ type: 'function', function: { name: 'f', ...fields } })

/** Where a caller can put a long text, and the families that take it there. */
const places: [place: string, fields: (text: string) => object, families?: Family[]][] = [
  ['content', (text) => ({ messages: [user(text)] })],
  ['content that begins like a URL', (text) => ({ messages: [user(`data:,${text}`)] })],
  ['a part of it', (text) => ({ messages: [user([{ type: 'text', text: `DATA:image/png;base64,${text}` }])] })],
  ['rare characters', () => ({ messages: [user('\u{1f9ff}'.repeat(20_000))] })],
  ['system', (text) => ({ system: `data:,${text}` })],
  ['the description of a tool', (text) => ({ tools: [tool({ description: `data:${text}` })] })],
  [
    'names of properties',
    (text) => ({ tools: [tool({ parameters: { type: 'object', properties: { [text]: { type: 'string' } } } })] }),
  ],
  [
    'a property called like a medium',
    (text) => ({ tools: [tool({ parameters: { type: 'object', 'x-y': { type: 'file', description: text } } })] }),
  ],
  [
    'arguments of a call',
    (text) => ({
      messages: [
        user('Hi'),
        { role: 'assistant', tool_calls: [called(JSON.stringify({ text }))] },
        { role: 'tool', tool_call_id: 'call_1', content: 'ok' },
      ],
    }),
  ],
  [
    'a result',
    (text) => ({
      messages: [
        user('Hi'),
        { role: 'assistant', tool_calls: [called('{}')] },
        { role: 'tool', tool_call_id: 'call_1', content: `data:${text}` },
      ],
    }),
  ],
  [
    'a refusal',
    (text) => ({ messages: [user('Hi'), { role: 'assistant', content: 'No', refusal: text }, user('Hi')] }),
  ],
  ['a name', (text) => ({ messages: [{ ...user('Hi'), name: text }] }), ['openai']],
  [
    'a schema',
    (text) => ({
      response_format: {
        type: 'json_schema',
        json_schema: { name: 'a', schema: { type: 'object', description: text, properties: {} } },
      },
    }),
    ['openai', 'google'],
  ],
  ['a prediction', (text) => ({ prediction: { type: 'content', content: text.slice(0, 16_000) } }), ['openai']],
  ['metadata', (text) => ({ metadata: { a: text } }), ['openai']],
  [
    'a title beside a picture',
    (text) => ({
      messages: [user([{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' }, title: text }])],
    }),
    ['openai'],
  ],
]
const text = 'Do tell me more. '.repeat(5_000)

describe(`threat 42: prompts that cost nothing before the call, on ${runtime}`, () => {
  const cases = places.flatMap(([place, fields, taken = Object.keys(families) as Family[]]) =>
    taken.map((family) => [place, family, fields] as const),
  )
  it.each(cases)('%s (%s): parallel requests cost the budget and one more at most', async (_, family, fields) => {
    let billed = 0
    let dearest = 0
    stack.fault = ({ body }) => {
      const prompt = tokensOf(body)
      const price = priceOf(family, prompt, 10)
      billed += price
      dearest = Math.max(dearest, price)
      return heldAnswer(wholeAnswer(family, 'Hello', prompt, 10), new Promise((resolve) => setTimeout(resolve, 100)))
    }
    const { model, input } = families[family]
    // One request fits by what is expected of it.
    const budget = (30_000 * input) / 1e6
    const key = await callers.create({ budget: { usd: budget } })
    const request = { model, max_tokens: 10, ...fields(text) }
    const answers = await Promise.all(Array.from({ length: 12 }, () => callers.chat(request, key)))
    expect(answers.map(({ status }) => status)).toContain(200)
    expect(billed).toBeLessThanOrEqual(budget + dearest)
    const charged = (await charges()).reduce((sum, { cost_usd }) => sum + cost_usd, 0)
    expect(charged).toBeGreaterThanOrEqual(billed - 1e-9)
  })

  it.each<[what: string, family: Family, fields: object, output: number]>([
    ['no maximum', 'openai', {}, 16_384],
    ['no maximum', 'anthropic', {}, 8_192],
    ['no maximum, streamed', 'anthropic', { stream: true }, 64_000],
    ['no maximum', 'google', {}, 65_536],
    ['a budget for thoughts', 'anthropic', { max_tokens: 100, reasoning_effort: 'max' }, 32_868],
    ['the larger of two maxima', 'openai', { max_tokens: 10, max_completion_tokens: 9_000 }, 9_000],
    ['several answers', 'google', { max_tokens: 1_000, n: 8 }, 8_000],
  ])('%s (%s): so do answers as long as the upstream may make them', async (_, family, fields, output) => {
    const { n = 1, stream } = fields as { n?: number; stream?: boolean }
    const used: [number, number] = [9, output / n]
    let calls = 0
    stack.fault = () => {
      calls++
      const later = new Promise((resolve) => setTimeout(resolve, 100))
      if (stream) return streamedAnswer(family, 'Hello', used, later)
      return heldAnswer(wholeAnswer(family, 'Hello', ...used), later)
    }
    const dearest = priceOf(family, 9 * n, output)
    const budget = dearest * 2.5
    const key = await callers.create({ budget: { usd: budget } })
    const request = { model: families[family].model, ...fields }
    const answers = await Promise.all(Array.from({ length: 12 }, () => callers.chat(request, key)))
    expect(answers.map(({ status }) => status)).toContain(200)
    expect((calls / n) * dearest).toBeLessThanOrEqual(budget + dearest)
  })

  it.each<[what: string, content: object]>([
    ['a video', { type: 'video_url', video_url: { url: 'https://youtu.be/dQw4w9WgXcQ' } }],
    ['a video as a picture', { type: 'image_url', image_url: { url: 'https://www.youtube.com/watch?v=dQw4w9WgXcQ' } }],
    ['a stored file', { type: 'file', file: { file_id: 'https://generativelanguage.googleapis.com/v1beta/files/a' } }],
    ['a slow recording', { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }],
    ['a short document of many pages', { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERg==' } }],
  ])('%s: of what may fill the window, one runs at a time', async (_, content) => {
    const prompt = 900_000
    const dearest = priceOf('google', prompt, 10) * 4
    let calls = 0
    stack.fault = () => {
      calls++
      const later = new Promise((resolve) => setTimeout(resolve, 100))
      return heldAnswer(wholeAnswer('google', 'Hello', prompt, 10), later)
    }
    const key = await callers.create({ budget: { usd: 0.02 } })
    const request = { model: families.google.model, max_tokens: 10, messages: [user([content])] }
    const answers = await Promise.all(Array.from({ length: 12 }, () => callers.chat(request, key)))
    expect([answers.filter(({ status }) => status === 200).length, calls]).toEqual([1, 1])
    expect(dearest).toBeGreaterThan(0.02)
  })
})

describe(`threat 170: several answers whose prompts are long together, on ${runtime}`, () => {
  const [prompt, n, output] = [150_000, 3, 100]
  const ask = async (stream: boolean, status: number) => {
    const key = await callers.create({ budget: { usd: 10 } })
    const answer = await callers.chat(
      { model: 'gemini-2.5-pro', messages: [user('Hi')], n, stream, max_tokens: output },
      key,
    )
    expect(answer.status).toBe(status)
    return (await charges()).map(({ cost_usd }) => cost_usd)
  }
  // Above 200,000 tokens both rates are higher.
  const cost = (calls: number) => expect.closeTo(((prompt * 1.25 + output * 10) * calls) / 1e6, 9)

  it.each([false, true])('cost what a vendor bills, which looks at each of them (stream %s)', async (stream) => {
    const told: [number, number] = [prompt, output]
    stack.fault = () =>
      stream
        ? streamedAnswer('google', 'Hello', told, Promise.resolve())
        : heldAnswer(wholeAnswer('google', 'Hello', ...told), Promise.resolve())
    expect(await ask(stream, 200)).toEqual([cost(n)])
  })

  it.each([false, true])('also where one of them fails (stream %s)', async (stream) => {
    const told: [number, number] = [prompt, output]
    let calls = 0
    const later = new Promise((resolve) => setTimeout(resolve, 300))
    stack.fault = () => {
      if (++calls === 2) return { status: 429, headers: {}, body: '{"error":{"message":"Busy"}}' }
      return stream
        ? streamedAnswer('google', 'Hello', told, later)
        : heldAnswer(wholeAnswer('google', 'Hello', ...told), later)
    }
    expect(await ask(stream, 429)).toEqual([cost(n - 1)])
  })
})

describe(`threat 43: answers that are left before they cost anything, on ${runtime}`, () => {
  /** Makes a request, leaves after the first bytes or once the upstream has it, and lets the upstream end then. */
  async function leave(path: string, body: object, key: string, isStream: boolean): Promise<void> {
    const client = new AbortController()
    const form = new Response(body instanceof FormData ? body : JSON.stringify(body))
    const asked = fetch(new URL(path, stack.url), {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': body instanceof FormData ? form.headers.get('content-type')! : 'application/json',
      },
      body: await form.arrayBuffer(),
      signal: client.signal,
    })
    if (isStream) await (await asked).body!.getReader().read()
    else await reached
    client.abort()
    await asked.catch(() => undefined)
    await new Promise((resolve) => setTimeout(resolve, 200))
    open()
  }
  let open: () => void
  let gate: Promise<void>
  let reach: () => void
  let reached: Promise<void>
  beforeEach(() => {
    gate = new Promise((resolve) => (open = resolve))
    reached = new Promise((resolve) => (reach = resolve))
  })
  const answering = (answer: (request: FakeRequest) => ReturnType<typeof heldAnswer>) => {
    stack.fault = (request) => {
      reach()
      return answer(request)
    }
  }
  const charged = () =>
    expect
      .poll(charges, { timeout: 10_000 })
      .toHaveLength(1)
      .then(async () => (await charges())[0]!)

  it.each(
    (Object.keys(families) as Family[]).flatMap((family) => [true, false].map((stream) => [family, stream] as const)),
  )('a chat (%s, stream %s) costs what is billed', async (family, stream) => {
    // 2,000 tokens, most of them thoughts that are not shown.
    const billed: [number, number] = [5_000, 2_000]
    answering((request) =>
      stream
        ? streamedAnswer(familyOf(request), 'word '.repeat(300), billed, gate)
        : heldAnswer(wholeAnswer(familyOf(request), 'Hello', ...billed), gate),
    )
    const key = await callers.create({ budget: { usd: 1 } })
    await leave(paths.chat, { model: families[family].model, messages: [user('Hi')], stream }, key, stream)
    const { cost_usd, outcome } = await charged()
    expect([outcome, cost_usd]).toEqual(['client_abort', expect.closeTo(priceOf(family, ...billed), 9)])
  })

  it.each<[endpoint: 'embeddings' | 'images' | 'transcription', answer: object, cost: number]>([
    [
      'embeddings',
      { data: [{ index: 0, embedding: [0.5] }], usage: { prompt_tokens: 5_000, total_tokens: 5_000 } },
      1e-4,
    ],
    [
      'images',
      { data: [{ b64_json: 'iVBORw0KGgo=' }], usage: { input_tokens: 3, output_tokens: 1_000, total_tokens: 1_003 } },
      0.03,
    ],
    ['transcription', { text: 'Hello', duration: 600 }, 0.06],
  ])('%s cost what is billed', async (endpoint, answer, cost) => {
    answering(() => heldAnswer(answer, gate))
    const key = await callers.create({ budget: { usd: 1 } })
    await leave(paths[endpoint], requestOf(endpoint, endpoint === 'transcription' ? hour : {}), key, false)
    const { cost_usd, outcome } = await charged()
    expect(outcome).toBe('client_abort')
    expect(cost_usd).toBeGreaterThanOrEqual(cost - 1e-9)
  })

  /** An hour of 20 samples a second, with a byte each. */
  function slowWav(): Uint8Array<ArrayBuffer> {
    const head = Buffer.alloc(44)
    head.write('RIFF    WAVEfmt ', 'latin1')
    for (const [at, value] of [
      [20, 1],
      [22, 1],
      [24, 20],
      [34, 8],
    ] as const)
      head.writeUInt16LE(value, at)
    head.writeUInt32LE(16, 16)
    return new Uint8Array([...head, ...Buffer.alloc(72_000)])
  }
  it.each<[what: string, file: ReturnType<typeof audio>, seconds: number, served: number[]]>([
    // Each costs $0.36.
    ['an hour in few samples', audio('a.wav', slowWav()), 3_600, [2, 3]],
    // Its table may name one sound ten thousand times.
    ['33 hours in a small MP4', audio('a.m4a', '\0\0\0\x20ftypM4A '.padEnd(18_000)), 120_000, [1]],
  ])('threat 42: recordings that are longer than they look exceed a budget by one at most: %s', async (...row) => {
    const [, file, duration, served] = row
    answering(() => heldAnswer({ text: 'Hello', duration }, gate))
    const key = await callers.create({ budget: { usd: 1 } })
    const asked = Array.from({ length: 10 }, () =>
      callers.post(paths.transcription, requestOf('transcription', { file }), key),
    )
    await reached
    await new Promise((resolve) => setTimeout(resolve, 300))
    open()
    expect(served).toContain((await Promise.all(asked)).filter(({ status }) => status === 200).length)
  })

  it('subtitles cost the whole recording, silence included', async () => {
    answering(() =>
      heldAnswer(
        { text: 'Hello', duration: 3_600, segments: [{ start: 0, end: 1.5, text: ' Hello' }] },
        Promise.resolve(),
      ),
    )
    for (const response_format of ['srt', 'vtt']) {
      await forget()
      const { text } = await callers.post(paths.transcription, requestOf('transcription', { ...hour, response_format }))
      expect(text).toContain(`00:00:01${response_format === 'srt' ? ',' : '.'}500\nHello`)
      expect((await charged()).cost_usd).toBeCloseTo(0.36, 9)
    }
  })
})
