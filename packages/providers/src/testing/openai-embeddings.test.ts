import { describe, expect, it } from 'vitest'
import { fakeOpenAI } from './fake-openai.js'
import { openaiEmbeddingRefusal } from './openai-embeddings.js'

const refusal = (fields: object) => openaiEmbeddingRefusal({ model: 'text-embedding-3-small', input: 'x', ...fields })

interface Answer {
  data: { object: string; index: number; embedding: number[] }[]
  usage: object
}

async function ask<T = Answer>(fields: object): Promise<T> {
  const body = JSON.stringify({ model: 'text-embedding-3-small', ...fields })
  const { signal } = new AbortController()
  const headers = { authorization: 'Bearer any' }
  const url = 'http://fake/v1/embeddings'
  const answer = await fakeOpenAI().transport({ url, method: 'POST', headers, body, signal })
  let text = ''
  for await (const piece of answer.body) text += new TextDecoder().decode(piece)
  return { status: answer.status, ...JSON.parse(text) } as T
}

const lengthOf = (vector: number[]): number => Math.hypot(...vector)

describe('OpenAI embeds', () => {
  it.each<[what: string, fields: object]>([
    ['a text', {}],
    ['2,048 texts', { input: Array.from({ length: 2_048 }, () => 'x') }],
    ['8,192 tokens', { input: Array.from({ length: 8_192 }, () => 5) }],
    ['lists of tokens', { input: [[1], [2, 3]] }],
    ['small with 1,536 dimensions', { dimensions: 1_536 }],
    ['large with 3,072 dimensions', { model: 'text-embedding-3-large', dimensions: 3_072 }],
    ['null for absent', { dimensions: null, encoding_format: null }],
    ['ada without dimensions', { model: 'text-embedding-ada-002', encoding_format: 'base64', user: 'x' }],
  ])('%s', (_, fields) => expect(refusal(fields)).toBeUndefined())
})

describe('OpenAI refuses to embed', () => {
  const invalid = "'$.input' is invalid. Please check the API reference"
  it.each<[what: string, fields: object, message: string, param: string | null, code: string | null]>([
    ['provider', { provider: 'x' }, "Unknown parameter: 'provider'.", 'provider', 'unknown_parameter'],
    ['no model', { model: undefined }, 'you must provide a model parameter', null, null],
    ['a chat model', { model: 'gpt-4o' }, "The model 'gpt-4o' does not exist", null, 'model_not_found'],
    ['nothing', { input: undefined }, "Missing required parameter: 'input'.", 'input', 'missing_required_parameter'],
    ['an empty text', { input: '' }, invalid, null, null],
    ['an empty text among others', { input: ['x', ''] }, invalid, null, null],
    ['an empty list', { input: [] }, invalid, null, null],
    ['an empty list of tokens', { input: [[]] }, invalid, null, null],
    ['texts and tokens', { input: ['x', [1]] }, invalid, null, null],
    ['no whole tokens', { input: [1.5] }, invalid, null, null],
    [
      '2,049 texts',
      { input: Array.from({ length: 2_049 }, () => 'x') },
      "Invalid 'input': array too long. Expected an array with maximum length 2048, but got an array with length 2049 instead.",
      'input',
      'array_above_max_length',
    ],
    [
      '8,193 tokens',
      { input: Array.from({ length: 8_193 }, () => 5) },
      "This model's maximum context length is 8192 tokens, however you requested 8193 tokens",
      null,
      null,
    ],
    [
      '300,001 tokens of all inputs',
      { input: [...Array.from({ length: 37 }, () => 'x'.repeat(4 * 8_000)), 'x'.repeat(16_004)] },
      'Requested 300001 tokens, max 300000 tokens per request',
      null,
      'max_tokens_per_request',
    ],
    ['no dimensions at all', { dimensions: 0 }, "Invalid 'dimensions'", 'dimensions', null],
    ['half a dimension', { dimensions: 1.5 }, "Invalid type for 'dimensions'", 'dimensions', 'invalid_type'],
    ['1,537 dimensions of small', { dimensions: 1_537 }, 'between 1 and 1536, but got 1537', 'dimensions', null],
    [
      'dimensions of ada',
      { model: 'text-embedding-ada-002', dimensions: 1_536 },
      'This model does not support specifying dimensions.',
      null,
      null,
    ],
    ['an unknown format', { encoding_format: 'hex' }, "Invalid value: 'hex'.", 'encoding_format', 'invalid_value'],
  ])('%s', (_, fields, message, param, code) =>
    expect(refusal(fields)).toMatchObject({ message: expect.stringContaining(message) as string, param, code }),
  )

  it('a body that is no object, and an unknown model with 404', async () => {
    expect(openaiEmbeddingRefusal('x')).toMatchObject({ code: null })
    expect(await ask({ model: 'gpt-4o', input: 'x' })).toMatchObject({
      status: 404,
      error: { code: 'model_not_found' },
    })
  })
})

describe('the fake’s embeddings', () => {
  it('are vectors of length 1, equal for equal texts, in the order of the texts', async () => {
    const { data, usage } = await ask({ input: ['abcd', 'efghi', 'abcd'] })
    expect(data.map(({ object, index }) => [object, index])).toEqual([0, 1, 2].map((index) => ['embedding', index]))
    expect(data.map(({ embedding }) => embedding.length)).toEqual([1_536, 1_536, 1_536])
    for (const { embedding } of data) expect(lengthOf(embedding)).toBeCloseTo(1, 6)
    expect(data[0]!.embedding).toEqual(data[2]!.embedding)
    expect(data[0]!.embedding).not.toEqual(data[1]!.embedding)
    expect((await ask({ input: 'abcd' })).data[0]!.embedding).toEqual(data[0]!.embedding)
    // The fake counts one token per four characters.
    expect(usage).toEqual({ prompt_tokens: 4, total_tokens: 4 })
  })

  it('have the requested dimensions', async () => {
    const { data } = await ask({ input: 'x', dimensions: 5 })
    expect(data[0]!.embedding).toHaveLength(5)
    expect(lengthOf(data[0]!.embedding)).toBeCloseTo(1, 6)
    const large = await ask({ model: 'text-embedding-3-large', input: 'x' })
    expect(large.data[0]!.embedding).toHaveLength(3_072)
  })

  it('are the same floats in base64', async () => {
    const { data } = await ask<{ data: { embedding: string }[] }>({ input: 'x', encoding_format: 'base64' })
    const buffer = Buffer.from(data[0]!.embedding, 'base64')
    const floats = Array.from({ length: buffer.length / 4 }, (_, i) => buffer.readFloatLE(i * 4))
    expect(floats).toEqual((await ask({ input: 'x' })).data[0]!.embedding)
  })

  it('count tokens', async () => {
    const one = await ask({ input: [1, 2, 3] })
    expect(one.data).toHaveLength(1)
    expect(one.usage).toEqual({ prompt_tokens: 3, total_tokens: 3 })
    const two = await ask({ input: [[1, 2, 3], [4]] })
    expect(two.usage).toEqual({ prompt_tokens: 4, total_tokens: 4 })
    expect(two.data[0]!.embedding).toEqual(one.data[0]!.embedding)
  })
})
