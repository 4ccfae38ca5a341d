import { describe, expect, it } from 'vitest'
import { fakeGoogle } from './fake-google.js'
import { googleBatchEmbeddingRefusal, googleEmbeddingRefusal } from './google-embeddings.js'

const model = 'gemini-embedding-001'
const content = { parts: [{ text: 'Hi' }] }
const request = { model: `models/${model}`, content }
const single = (fields: object) => googleEmbeddingRefusal(model, { content, ...fields })
const batch = (...requests: object[]) => googleBatchEmbeddingRefusal(model, { requests })

interface Answer {
  status: number
  embedding: { values: number[] }
  embeddings: { values: number[] }[]
}

async function ask(method: string, body: object, name = model): Promise<Answer> {
  const { signal } = new AbortController()
  const answer = await fakeGoogle().transport({
    url: `http://fake/v1beta/models/${name}:${method}`,
    method: 'POST',
    headers: { 'x-goog-api-key': 'any' },
    body: JSON.stringify(body),
    signal,
  })
  let text = ''
  for await (const piece of answer.body) text += new TextDecoder().decode(piece)
  return { status: answer.status, ...JSON.parse(text) } as Answer
}

const lengthOf = ({ values }: { values: number[] }): number => Math.hypot(...values)

describe('Google embeds', () => {
  it.each<[what: string, fields: object]>([
    ['a text', {}],
    ['a text for a task', { taskType: 'RETRIEVAL_DOCUMENT', title: 'x', model: `models/${model}` }],
    ['with one dimension', { outputDimensionality: 1 }],
    ['with 3,072 dimensions', { outputDimensionality: 3_072 }],
  ])('%s', (_, fields) => expect(single(fields)).toBeUndefined())

  it('100 texts', () => expect(batch(...Array.from({ length: 100 }, () => request))).toBeUndefined())
})

describe('Google refuses to embed', () => {
  it.each<[what: string, fields: object, message: string]>([
    ['an unknown field', { input: 'x' }, 'Invalid JSON payload received. Unknown name "input": Cannot find field.'],
    ['another model', { model }, '* EmbedContentRequest.model: model in the body must be that of the path'],
    ['no content', { content: undefined }, '* EmbedContentRequest.content: content is required'],
    ['a text as content', { content: 'x' }, "Invalid value at 'content': expected an object."],
    ['no parts', { content: { parts: [] } }, '* EmbedContentRequest.content: content is empty'],
    ['an empty text', { content: { parts: [{ text: '' }] } }, 'Content contains an empty Part.'],
    ['tokens', { content: { parts: [{ text: [1] }] } }, "Invalid value at 'content.parts[0].text' (TYPE_STRING)"],
    [
      'an image',
      { content: { parts: [{ inlineData: {} }] } },
      `Invalid JSON payload received. Unknown name "inlineData" at 'content.parts[0]': Cannot find field.`,
    ],
    ['an unknown task', { taskType: 'X' }, `Invalid value at 'task_type' (type.googleapis.com/`],
    ['a title of no document', { title: 'x' }, '* EmbedContentRequest.title: title is only supported with task type'],
    ['half a dimension', { outputDimensionality: 1.5 }, "Invalid value at 'output_dimensionality' (TYPE_INT32), 1.5"],
    ['no dimensions', { outputDimensionality: 0 }, 'output_dimensionality must be in the range [1, 3072].'],
    ['3,073 dimensions', { outputDimensionality: 3_073 }, 'output_dimensionality must be in the range [1, 3072].'],
  ])('%s', (_, fields, message) => expect(single(fields)).toContain(message))

  it.each<[what: string, requests: object[], message: string]>([
    ['nothing', [], '* BatchEmbedContentsRequest.requests: requests is not specified'],
    [
      '101 texts',
      Array.from({ length: 101 }, () => request),
      '* BatchEmbedContentsRequest.requests: at most 100 requests can be in one batch',
    ],
    ['one without a model', [request, { content }], 'BatchEmbedContentsRequest.requests[1].model: model is required'],
    [
      'another model',
      [{ ...request, model }],
      '* BatchEmbedContentsRequest.requests[0].model: model must be that of the batch, models/gemini-embedding-001',
    ],
    [
      'an unknown field of one',
      [request, { ...request, dimensions: 5 }],
      `Invalid JSON payload received. Unknown name "dimensions" at 'requests[1]': Cannot find field.`,
    ],
    [
      'a wrong field of one',
      [{ ...request, outputDimensionality: 4_000 }],
      '* EmbedContentRequest.requests[0].output_dimensionality: output_dimensionality must be in the range',
    ],
  ])('%s, of a batch', (_, requests, message) => expect(batch(...requests)).toContain(message))

  it('no object, and an unknown field of a batch', () => {
    expect(googleEmbeddingRefusal(model, [])).toBe('Invalid JSON payload received. Expected an object.')
    expect(googleBatchEmbeddingRefusal(model, 'x')).toBe('Invalid JSON payload received. Expected an object.')
    expect(googleBatchEmbeddingRefusal(model, { requests: [request], input: 1 })).toBe(
      'Invalid JSON payload received. Unknown name "input": Cannot find field.',
    )
  })
})

describe('the fake’s embeddings', () => {
  it('have length 1 only at full dimensions', async () => {
    const { embedding } = await ask('embedContent', { content })
    expect(embedding.values).toHaveLength(3_072)
    expect(lengthOf(embedding)).toBeCloseTo(1, 6)
    const cut = (await ask('embedContent', { content, outputDimensionality: 768 })).embedding
    expect(cut.values).toEqual(embedding.values.slice(0, 768))
    // A quarter of the dimensions has about half of the length.
    expect(lengthOf(cut)).toBeCloseTo(0.5, 1)
  })

  it('are in the order of the batch, and equal for equal texts', async () => {
    const other = { ...request, content: { parts: [{ text: 'Ho' }] } }
    const { embeddings } = await ask('batchEmbedContents', { requests: [other, request, other] })
    expect(embeddings).toHaveLength(3)
    expect(embeddings[0]).toEqual(embeddings[2])
    expect(embeddings[0]).not.toEqual(embeddings[1])
    expect(embeddings[1]).toEqual((await ask('embedContent', { content })).embedding)
  })

  it('are one for all parts of a content', async () => {
    const { embedding } = await ask('embedContent', { content: { parts: [{ text: 'Hi' }, { text: 'Ho' }] } })
    expect(embedding.values).toHaveLength(3_072)
    expect(embedding).not.toEqual((await ask('embedContent', { content })).embedding)
  })

  it('are refused like the API', async () => {
    expect(await ask('embedContent', {})).toMatchObject({ status: 400, error: { status: 'INVALID_ARGUMENT' } })
    expect(await ask('batchEmbedContents', {})).toMatchObject({ status: 400, error: { code: 400 } })
    for (const method of ['embedContent', 'batchEmbedContents'])
      expect(await ask(method, { content }, 'gemini-2.5-flash')).toMatchObject({
        status: 404,
        error: { code: 404, status: 'NOT_FOUND' },
      })
  })
})
