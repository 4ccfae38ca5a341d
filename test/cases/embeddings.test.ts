import OpenAI from 'openai'
import { expect, it } from 'vitest'
import { errors } from '../faults/wire.js'
import type { Family, Sent } from './pass.js'
import { passTo, setUp, whole } from './pass.js'

const path = '/v1/embeddings'
const google = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents'
const openai = 'https://api.openai.com/v1/embeddings'

/** An answer of OpenAI with one vector, in numbers or in base64. */
const one = (embedding: unknown) =>
  whole({
    object: 'list',
    data: [{ object: 'embedding', index: 0, embedding }],
    model: 'text-embedding-3-small',
    usage: { prompt_tokens: 2, total_tokens: 2 },
  })

/** A part of Gemini's batch. */
const part = (text: string, outputDimensionality?: number) => ({
  model: 'models/gemini-embedding-001',
  content: { parts: [{ text }] },
  ...(outputDimensionality !== undefined && { outputDimensionality }),
})

/** What a client is told of vectors, each as it is in JSON. */
const list = (model: string, vectors: string[], tokens: number): string =>
  `{"object":"list","data":[${vectors.map((vector, index) => `{"object":"embedding","index":${index},"embedding":${vector}}`).join(',')}],` +
  `"model":"${model}","usage":{"prompt_tokens":${tokens},"total_tokens":${tokens}}}`

it('returns the requested encoding, and the right numbers to the OpenAI client', async () => {
  const vector = [1, -2.5, 0.1, 0]
  const packed = 'AACAPwAAIMDNzMw9AAAAAA=='
  const unpacked = '[1,-2.5,0.10000000149011612,0]'
  const asked = { model: 'text-embedding-3-small', input: 'Hi' }
  const rows: [encoding_format: string | undefined, given: unknown, told: string][] = [
    ['base64', vector, `"${packed}"`],
    ['base64', packed, `"${packed}"`],
    ['float', vector, '[1,-2.5,0.1,0]'],
    ['float', packed, unpacked],
    [undefined, vector, '[1,-2.5,0.1,0]'],
    [undefined, packed, unpacked],
  ]
  for (const [encoding_format, given, told] of rows) {
    const request = encoding_format === undefined ? asked : { ...asked, encoding_format }
    const { status, text, sent } = await passTo('openai', path, request, one(given))
    expect(sent.map(({ url, body }) => ({ url, body }))).toEqual([
      { url: openai, body: { ...request, encoding_format: 'base64' } },
    ])
    expect([status, text]).toEqual([200, list('text-embedding-3-small', [told], 2)])
  }

  // Gemini knows numbers only. 0.6 and -0.8 have the length 1.
  const gemini = whole({ embeddings: [{ values: [0.6, -0.8] }], usageMetadata: { promptTokenCount: 1 } })
  const request = { model: 'gemini-embedding-001', input: 'Hi', dimensions: 2, encoding_format: 'base64' }
  const { text, sent } = await passTo('google', path, request, gemini)
  expect(sent.map(({ url, body }) => ({ url, body }))).toEqual([{ url: google, body: { requests: [part('Hi', 2)] } }])
  expect(text).toBe(list('gemini-embedding-001', ['"mpkZP83MTL8="'], 1))

  // The client asks for base64 without being told to, and makes numbers of it.
  const clients: [family: Family, model: string, answer: ReturnType<typeof whole>, numbers: number[]][] = [
    ['openai', 'text-embedding-3-small', one(vector), vector.map(Math.fround)],
    ['openai', 'text-embedding-3-small', one(packed), vector.map(Math.fround)],
    ['google', 'gemini-embedding-001', gemini, [0.6, -0.8].map(Math.fround)],
  ]
  for (const [family, model, answer, numbers] of clients) {
    const { gateway, key } = await setUp(family, answer)
    const client = new OpenAI({
      apiKey: key,
      baseURL: 'https://gw.example/v1',
      fetch: (url, init) => gateway.fetch(new Request(url as string, init)),
    })
    const { data } = await client.embeddings.create({ model, input: 'Hi' })
    expect(data.map(({ embedding }) => [...embedding])).toEqual([numbers])
  }

  const { status, sent: none } = await passTo('anthropic', path, { model: 'claude-sonnet-4-5', input: 'Hi' }, whole({}))
  expect([status, none]).toEqual([400, []])
})

it('sends Gemini 100 texts at a time, and returns all vectors or none', async () => {
  const input = Array.from({ length: 250 }, (_, at) => `t${at}`)
  const request = { model: 'gemini-embedding-001', input, dimensions: 250 }
  const textsOf = ({ body }: Sent) =>
    (body as { requests: ReturnType<typeof part>[] }).requests.map(({ content }) => content.parts[0]!.text)
  /** Of the text `t3` the fourth number is 1, and all others are 0. */
  const vector = (text: string): number[] => input.map((other) => (other === text ? 1 : 0))
  const batch = (sent: Sent) =>
    whole({
      embeddings: textsOf(sent).map((text) => ({ values: vector(text) })),
      usageMetadata: { promptTokenCount: textsOf(sent).length },
    })
  const requests = (first: number, end: number) => ({
    url: google,
    body: { requests: input.slice(first, end).map((text) => part(text, 250)) },
  })
  const batches = [requests(0, 100), requests(100, 200), requests(200, 250)]

  const { status, text, sent, records } = await passTo('google', path, request, batch)
  expect(sent.map(({ url, body }) => ({ url, body }))).toEqual(batches)
  expect(status).toBe(200)
  expect(text).toBe(
    list(
      'gemini-embedding-001',
      input.map((text) => JSON.stringify(vector(text))),
      250,
    ),
  )
  expect(records).toMatchObject([{ prompt_tokens: 250, attempts: 1 }])

  const failed = { error: { code: 500, message: 'Secret', status: 'INTERNAL' } }
  for (const failing of ['t0', 't100', 't249']) {
    const one = await passTo('google', path, request, (sent) =>
      textsOf(sent).includes(failing) ? whole(failed, 500) : batch(sent),
    )
    expect(one.sent.map(({ body }) => body)).toEqual(batches.map(({ body }) => body))
    expect([one.status, one.text]).toEqual([502, errors.failed])
    // The other calls were billed.
    expect(one.records).toMatchObject([{ outcome: 'upstream_error', completion_tokens: 0 }])
  }
})

it('shortens the vectors of Gemini to the requested dimensions, with length 1', async () => {
  const rest = Array.from({ length: 766 }, () => 0)
  const answer = whole({ embeddings: [{ values: [3, 4, ...rest] }], usageMetadata: { promptTokenCount: 1 } })
  const request = { model: 'gemini-embedding-001', input: 'Hi', dimensions: 768 }
  const { status, raw, text, sent } = await passTo('google', path, request, answer)
  expect(sent.map(({ url, body }) => ({ url, body }))).toEqual([{ url: google, body: { requests: [part('Hi', 768)] } }])
  expect([status, text]).toEqual([200, list('gemini-embedding-001', [`[0.6,0.8,${rest.join(',')}]`], 1)])
  const { data } = JSON.parse(raw) as { data: { embedding: number[] }[] }
  expect(Math.abs(Math.hypot(...data[0]!.embedding) - 1)).toBeLessThan(1e-6)

  const refused: [fields: object, code: string, message: string][] = [
    [{ dimensions: 4000 }, 'invalid_body', 'dimensions must be at most 3072, not 4000'],
    [{ input: [1, 2] }, 'unsupported_parameter', 'Gemini embeds texts, not tokens'],
    [{ input: [[1, 2], [3]] }, 'unsupported_parameter', 'Gemini embeds texts, not tokens'],
  ]
  for (const [fields, code, message] of refused) {
    const { status, text, sent } = await passTo('google', path, { ...request, ...fields }, answer)
    expect([status, text]).toEqual([
      400,
      `{"error":{"type":"invalid_request_error","message":"${message}","code":"${code}"}}`,
    ])
    expect(sent).toEqual([])
  }
})
