import type { EmbeddingRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Asked, Given } from '../../../../test/support/upstream.js'
import { failure, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { googleBatchEmbeddingRefusal } from '../testing/google-embeddings.js'
import { google, googleEndpoints } from './index.js'

const model = 'gemini-embedding-001'
const request: EmbeddingRequest = { model, input: ['a', 'b'] }
const url = `https://generativelanguage.googleapis.com/v1beta/models/${model}:batchEmbedContents`
const part = (text: string, more: object = {}) => ({
  model: `models/${model}`,
  content: { parts: [{ text }] },
  ...more,
})
const embedded = (...values: unknown[]) => ({ embeddings: values.map((one) => ({ values: one })) })

function embed(given: Given | Error | ((asked: Asked) => Given), fields: Partial<EmbeddingRequest> = {}) {
  const at = scriptedUpstream(given)
  const provider = google({ apiKey: 'AIza-test', transport: at.transport, endpoints: googleEndpoints() })
  return { ...at, answer: provider.embeddings!({ ...request, ...fields }, at.call) }
}

const two = { body: { ...embedded([3, 4], [0, -2]), usageMetadata: { promptTokenCount: 2 } } }

describe('the request', () => {
  it.each<[fields: object, requests: object[]]>([
    [{}, [part('a'), part('b')]],
    [{ input: 'a' }, [part('a')]],
    [{ dimensions: 2 }, [part('a', { outputDimensionality: 2 }), part('b', { outputDimensionality: 2 })]],
    [{ encoding_format: 'base64', provider: 'google' }, [part('a'), part('b')]],
    [{ model: `models/${model}` }, [part('a'), part('b')]],
  ])('of %j is a batch', async (fields, requests) => {
    const { answer, asked, notes } = embed({ body: embedded(...requests.map(() => [1])) }, fields)
    await answer
    expect(asked).toMatchObject([
      { url, headers: { 'x-goog-api-key': 'AIza-test', accept: 'application/json' }, body: { requests } },
    ])
    expect(asked[0]!.body).toEqual({ requests })
    expect(googleBatchEmbeddingRefusal(model, asked[0]!.body)).toBeUndefined()
    expect(notes).toEqual([])
  })

  it('is split into calls, at most 8 at a time, and reports dropped fields once', async () => {
    const input = Array.from({ length: 1_101 }, () => 'a')
    const sizes = ({ body }: Asked) => (body as { requests: unknown[] }).requests.length
    const { answer, asked, notes } = embed(
      (one) => ({ body: embedded(...Array.from({ length: sizes(one) }, () => [1])) }),
      { input, user: 'x' },
    )
    expect(asked).toHaveLength(8)
    const { data } = await answer
    expect((data as { index: number }[]).map(({ index }) => index)).toEqual(input.map((_, index) => index))
    expect(asked.map(sizes)).toEqual([...Array.from({ length: 11 }, () => 100), 1])
    expect(notes).toEqual([{ field: 'user', action: 'dropped' }])
  })

  it.each<[input: EmbeddingRequest['input']]>([[[1, 2]], [[[1], [2]]]])(
    'of the tokens %j is refused',
    async (input) => {
      const { answer, asked } = embed(two, { input })
      await expect(answer).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter' })
      expect(asked).toEqual([])
    },
  )

  it('for a model that cannot be in a URL is refused', async () => {
    await expect(embed(two, { model: '../x?y' }).answer).rejects.toMatchObject({ status: 400, code: 'model_not_found' })
  })
})

describe('the answer', () => {
  it('has vectors of length 1 and the usage', async () => {
    expect(await embed(two).answer).toEqual({
      object: 'list',
      data: [
        { object: 'embedding', index: 0, embedding: [0.6, 0.8] },
        { object: 'embedding', index: 1, embedding: [0, -1] },
      ],
      model,
      usage: { prompt_tokens: 2, completion_tokens: 0, total_tokens: 2 },
    })
  })

  it('is in base64 on request', async () => {
    const { data } = await embed({ body: embedded([2], [-2]) }, { encoding_format: 'base64' }).answer
    expect(data).toMatchObject([{ embedding: 'AACAPw==' }, { embedding: 'AACAvw==' }])
  })

  it.each([undefined, {}, { promptTokenCount: '2' }])(
    'has no usage where the upstream reports %j',
    async (usageMetadata) =>
      expect(await embed({ body: { ...embedded([1], [1]), usageMetadata } }).answer).toMatchObject({
        usage: undefined,
      }),
  )

  it('has the usage of all calls, or none if one has none', async () => {
    const input = Array.from({ length: 150 }, () => 'a')
    const ask = (second: object) =>
      embed(
        ({ body }) => {
          const { length } = (body as { requests: unknown[] }).requests
          const usageMetadata = length === 100 ? { promptTokenCount: 100 } : second
          return { body: { ...embedded(...Array.from({ length }, () => [1])), usageMetadata } }
        },
        { input },
      ).answer
    expect(await ask({ promptTokenCount: 50 })).toMatchObject({ usage: { prompt_tokens: 150, total_tokens: 150 } })
    expect(await ask({})).toMatchObject({ usage: undefined })
  })

  it.each<[what: string, body: unknown]>([
    ['no embeddings', {}],
    ['embeddings that are null', { embeddings: null }],
    ['a vector too few', embedded([1])],
    ['a vector too many', embedded([1], [1], [1])],
    ['an embedding that is null', { embeddings: [null, { values: [1] }] }],
    ['no values', { embeddings: [{}, { values: [1] }] }],
    ['no numbers', embedded([1], ['x'])],
    ['a number that is null', embedded([1], [1, null])],
    ['a text for a vector', embedded([1], '1')],
    ['an empty vector', embedded([1], [])],
    ['an HTML page', '<html>'],
    ['nothing', ''],
  ])('with %s is malformed', async (_, body) => {
    for (const encoding_format of ['float', 'base64'] as const)
      await expect(embed({ body }, { encoding_format }).answer).rejects.toMatchObject(senseless('google'))
  })

  it('with an error status is reported with it', async () => {
    const body = { error: { code: 400, message: 'Too long', status: 'INVALID_ARGUMENT' } }
    await expect(embed({ status: 400, body }).answer).rejects.toMatchObject({
      ...failure({ kind: 'status', status: 400, caller: true, accepted: false }, 'google'),
      message: 'Too long',
    })
  })

  it('with status 200 and an error is reported as one', async () => {
    const body = { error: { code: 503, message: 'Overloaded' } }
    await expect(embed({ body }).answer).rejects.toMatchObject(
      failure({ kind: 'status', status: 503, accepted: false }, 'google'),
    )
  })

  it('with a refused call must not be retried once another was accepted', async () => {
    const input = Array.from({ length: 101 }, () => 'a')
    const busy = { status: 503, body: { error: { code: 503, message: 'Busy', status: 'UNAVAILABLE' } } }
    const one = embed(
      ({ body }) =>
        (body as { requests: unknown[] }).requests.length === 1
          ? busy
          : { body: embedded(...Array.from({ length: 100 }, () => [1])) },
      { input },
    )
    await expect(one.answer).rejects.toMatchObject(failure({ kind: 'status', status: 503, accepted: true }, 'google'))
    const none = embed(busy, { input })
    await expect(none.answer).rejects.toMatchObject(failure({ kind: 'status', status: 503, accepted: false }, 'google'))
  })

  it('with a failed call aborts the others', async () => {
    const input = Array.from({ length: 2_001 }, (_, i) => (i === 150 ? 'bad' : 'a'))
    const failed = { status: 500, body: { error: { code: 500, message: 'Internal', status: 'INTERNAL' } } }
    const { answer, asked } = embed(
      ({ body }) =>
        JSON.stringify(body).includes('bad') ? failed : { body: embedded(...Array.from({ length: 100 }, () => [1])) },
      { input },
    )
    await expect(answer).rejects.toMatchObject({ failure: { status: 500, accepted: true } })
    expect(asked.length).toBeLessThan(21)
  })

  it('is not awaited once the call is aborted', async () => {
    const at = scriptedUpstream(two)
    at.abort(new Error('Enough'))
    const provider = google({ apiKey: 'x', transport: at.transport, endpoints: googleEndpoints() })
    await expect(provider.embeddings!(request, at.call)).rejects.toThrow('Enough')
    expect(at.asked).toEqual([])
  })
})
