import type { EmbeddingRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Given } from '../../../../test/support/upstream.js'
import { failure, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { fakeOpenAI } from '../testing/fake-openai.js'
import { openaiEmbeddingRefusal } from '../testing/openai-embeddings.js'
import { openai } from './index.js'

const request: EmbeddingRequest = { model: 'text-embedding-3-small', input: ['a', 'b'] }
const item = (index: unknown, ...embedding: number[]) => ({ object: 'embedding', index, embedding })
const told = (data: unknown, more: object = {}) => ({
  body: {
    object: 'list',
    data,
    model: 'text-embedding-3-small',
    usage: { prompt_tokens: 2, total_tokens: 2 },
    ...more,
  },
})

function embed(given: Given | Error, fields: Partial<EmbeddingRequest> = {}) {
  const at = scriptedUpstream(given)
  const provider = openai({ apiKey: 'sk-test', transport: at.transport })
  return { ...at, answer: provider.embeddings!({ ...request, ...fields }, at.call) }
}

const two = told([item(0, 1), item(1, 2)])

describe('the request', () => {
  it.each<[fields: object, body: object, count?: number]>([
    [{}, request],
    [{ encoding_format: 'float' }, request],
    [{ encoding_format: null }, request],
    [{ input: 'a' }, { ...request, input: 'a' }, 1],
    [{ input: [1, 2, 3] }, { ...request, input: [1, 2, 3] }, 1],
    [{ input: [[1], [2, 3]] }, { ...request, input: [[1], [2, 3]] }],
    [
      { dimensions: 5, encoding_format: 'base64', user: 'x' },
      { ...request, dimensions: 5, user: 'x' },
    ],
    [{ provider: 'openai' }, request],
  ])('of %j has all its fields, in base64', async (fields, body, count = 2) => {
    const { answer, asked, notes } = embed(told([item(0, 1), item(1, 2)].slice(0, count)), fields)
    await answer
    expect(asked).toEqual([
      {
        url: 'https://api.openai.com/v1/embeddings',
        headers: {
          authorization: 'Bearer sk-test',
          'user-agent': 'turnpike',
          'content-type': 'application/json',
          accept: 'application/json',
          'accept-encoding': 'identity',
        },
        body: { ...body, encoding_format: 'base64' },
      },
    ])
    expect(openaiEmbeddingRefusal(asked[0]!.body)).toBeUndefined()
    expect(notes).toEqual([])
  })
})

describe('the answer', () => {
  const vectors = [
    { object: 'embedding', index: 0, embedding: [1] },
    { object: 'embedding', index: 1, embedding: [2] },
  ]

  it.each<[what: string, given: Given]>([
    ['in order', two],
    ['out of order', told([item(1, 2), item(0, 1)])],
    ['without indexes', told([item(undefined, 1), item(undefined, 2)])],
    ['with more than it needs', told([{ ...item(0, 1), more: 1 }, item(1, 2)], { more: 1 })],
  ])('%s is in order', async (_, given) => {
    expect(await embed(given).answer).toEqual({
      object: 'list',
      data: vectors,
      model: 'text-embedding-3-small',
      usage: { prompt_tokens: 2, completion_tokens: 0, total_tokens: 2 },
    })
  })

  it.each([undefined, ''])('has the requested model where the upstream reports %j', async (model) => {
    expect(await embed(told([item(0, 1), item(1, 2)], { model })).answer).toMatchObject({ model: request.model })
  })

  it.each([undefined, null, {}, { prompt_tokens: '2' }, { prompt_tokens: -1 }, { prompt_tokens: 0.5 }])(
    'has no usage where the upstream reports %j',
    async (usage) =>
      expect(await embed(told([item(0, 1), item(1, 2)], { usage })).answer).toMatchObject({ usage: undefined }),
  )

  it('has the requested encoding for servers that support only one', async () => {
    const numbers = await embed(two, { encoding_format: 'base64' }).answer
    expect(numbers.data).toMatchObject([{ embedding: 'AACAPw==' }, { embedding: 'AAAAQA==' }])
    const texts = told([
      { index: 0, embedding: 'AACAPw==' },
      { index: 1, embedding: 'AAAAQA==' },
    ])
    expect((await embed(texts).answer).data).toEqual(vectors)
  })

  it('with the maximum of vectors is within the size limit, also as numbers', async () => {
    // A hundredth of the maximum of 2,048 vectors of maximum length, and of the default size limit of an answer.
    const input = Array.from({ length: 20 }, () => 'a')
    const { transport } = fakeOpenAI()
    const provider = openai({ apiKey: 'sk-test', transport, limits: { answer: (64 * 1024 * 1024) / 100 } })
    const large = { model: 'text-embedding-3-large', input, encoding_format: 'float' } as const
    const { data } = await provider.embeddings!(large, { signal: new AbortController().signal })
    expect(data.map(({ embedding }) => embedding.length)).toEqual(input.map(() => 3_072))
  })

  it.each<[what: string, body: unknown]>([
    ['no object', '[]'],
    ['no data', {}],
    ['data that is null', { data: null }],
    ['a vector too few', { data: [item(0, 1)] }],
    ['a vector too many', { data: [item(0, 1), item(1, 2), item(2, 3)] }],
    ['a vector that is null', { data: [null, item(1, 2)] }],
    ['an empty vector', { data: [item(0), item(1, 2)] }],
    ['a vector of texts', { data: [{ index: 0, embedding: ['1'] }, item(1, 2)] }],
    ['base64 that is cut', { data: [{ index: 0, embedding: 'AACAPwA=' }, item(1, 2)] }],
    ['no base64', { data: [{ index: 0, embedding: '?' }, item(1, 2)] }],
    ['the same index twice', { data: [item(0, 1), item(0, 2)] }],
    ['an index beyond the inputs', { data: [item(0, 1), item(2, 2)] }],
    ['an HTML page', '<html>'],
    ['nothing', ''],
    ['JSON that is cut', '{"data":['],
  ])('with %s is malformed', async (_, body) => {
    for (const encoding_format of ['float', 'base64'] as const)
      await expect(embed({ body }, { encoding_format }).answer).rejects.toMatchObject(senseless())
  })

  it('with status 200 and an error is reported as one', async () => {
    const body = { error: { code: 503, message: 'Overloaded' } }
    await expect(embed({ body }).answer).rejects.toMatchObject(
      failure({ kind: 'status', status: 503, accepted: false }),
    )
  })

  it('that breaks is truncated', async () => {
    const body = [Buffer.from('{"data":'), new Error('ECONNRESET')]
    await expect(embed({ body }).answer).rejects.toMatchObject(failure({ kind: 'truncated', accepted: true }))
  })

  it('with an error status is reported with it', async () => {
    const body = { error: { message: 'Too long', code: 'context' } }
    await expect(embed({ status: 400, body }).answer).rejects.toMatchObject({
      ...failure({ kind: 'status', status: 400, caller: true, accepted: false, code: 'context' }),
      message: 'Too long',
    })
  })

  it('is not awaited once the call is aborted', async () => {
    const at = scriptedUpstream(two)
    at.abort(new Error('Enough'))
    const provider = openai({ apiKey: 'sk-test', transport: at.transport })
    await expect(provider.embeddings!(request, at.call)).rejects.toThrow('Enough')
    expect(at.asked).toEqual([])
  })
})
