import type { ImageRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Given } from '../../../../test/support/upstream.js'
import { failure, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { openaiImageRefusal } from '../testing/openai-images.js'
import { openai } from './index.js'

const usage = {
  input_tokens: 10,
  output_tokens: 1056,
  total_tokens: 1066,
  input_tokens_details: { text_tokens: 4, image_tokens: 6, cached_tokens: 3 },
}
const one: Given = { body: { created: 5, data: [{ b64_json: 'AAAA' }], usage } }

function draw(given: Given | Error, fields: Partial<ImageRequest> & { model?: string } = {}) {
  const at = scriptedUpstream(given)
  const provider = openai({ apiKey: 'sk-test', transport: at.transport })
  return { ...at, answer: provider.images!({ model: 'gpt-image-2', prompt: 'A cat', ...fields }, at.call) }
}

const clamped = { field: 'size', action: 'clamped' }
const noStyle = { field: 'style', action: 'dropped' }
const noQuality = { field: 'quality', action: 'dropped' }

describe.each<[model: string, output: object, rows: [fields: object, body: object, notes: object[]][]]>([
  [
    'gpt-image-2',
    { output_format: 'png', size: '1024x1024', quality: 'medium' },
    [
      [{}, {}, []],
      [{ size: '256x256' }, { size: '1024x1024' }, [clamped]],
      [{ size: '512x512' }, { size: '1024x1024' }, [clamped]],
      [{ size: '1024x1024' }, { size: '1024x1024' }, []],
      [{ size: '1024x1792' }, { size: '1024x1536' }, [clamped]],
      [{ size: '1792x1024' }, { size: '1536x1024' }, [clamped]],
      [{ quality: 'standard' }, { quality: 'medium' }, []],
      [{ quality: 'hd' }, { quality: 'high' }, []],
      [{ size: '1536x1024', quality: 'low' }, { size: '1536x1024', quality: 'low' }, []],
      [{ size: '1024x1536', quality: 'high' }, { size: '1024x1536', quality: 'high' }, []],
      [{ size: 'auto', quality: 'auto' }, { size: 'auto', quality: 'auto' }, []],
      [{ style: 'vivid' }, {}, [noStyle]],
      [{ response_format: 'url', n: 3, provider: 'openai' }, {}, []],
      [{ user: 'x', background: 'opaque' }, { user: 'x', background: 'opaque' }, []],
      [{ output_format: 'png' }, {}, []],
      [{ output_format: null, output_compression: null }, {}, []],
      [{ output_format: 'webp' }, {}, [{ field: 'output_format', action: 'clamped' }]],
      [{ output_compression: 0 }, {}, [{ field: 'output_compression', action: 'dropped' }]],
    ],
  ],
  [
    'dall-e-3',
    { response_format: 'b64_json', size: '1024x1024', quality: 'standard' },
    [
      [{}, {}, []],
      [{ size: '1536x1024', quality: 'medium' }, { size: '1792x1024' }, [clamped]],
      [{ size: '1024x1536', quality: 'high' }, { size: '1024x1792', quality: 'hd' }, [clamped]],
      [{ size: 'auto', quality: 'low' }, {}, [{ field: 'quality', action: 'clamped' }]],
      [{ size: '256x256' }, { size: '1024x1024' }, [clamped]],
      [{ size: '512x512' }, { size: '1024x1024' }, [clamped]],
      [{ size: '1024x1024' }, { size: '1024x1024' }, []],
      [{ size: '1024x1792' }, { size: '1024x1792' }, []],
      [{ size: '1792x1024' }, { size: '1792x1024' }, []],
      [{ quality: 'standard' }, { quality: 'standard' }, []],
      [{ quality: 'hd' }, { quality: 'hd' }, []],
      [{ style: 'natural' }, { style: 'natural' }, []],
      [{ response_format: 'url', n: 3 }, {}, []],
    ],
  ],
  [
    'dall-e-2',
    { response_format: 'b64_json', size: '1024x1024' },
    [
      [{}, {}, []],
      [{ size: '1536x1024', quality: 'auto' }, {}, [clamped]],
      [{ size: 'auto', quality: 'high' }, {}, [noQuality]],
      [{ size: '256x256' }, { size: '256x256' }, []],
      [{ size: '512x512' }, { size: '512x512' }, []],
      [{ size: '1024x1024' }, { size: '1024x1024' }, []],
      [{ size: '1024x1792' }, { size: '1024x1024' }, [clamped]],
      [{ size: '1792x1024' }, { size: '1024x1024' }, [clamped]],
      [{ quality: 'standard' }, {}, []],
      [{ quality: 'hd' }, {}, [noQuality]],
      [{ style: 'vivid' }, {}, [noStyle]],
    ],
  ],
])('the request to %s', (model, output, rows) => {
  it.each(rows)('of %j has %j', async (fields, body, notes) => {
    const { answer, asked, notes: told } = draw(one, { model, ...fields })
    await answer
    expect(asked).toMatchObject([
      { url: 'https://api.openai.com/v1/images/generations', headers: { authorization: 'Bearer sk-test' } },
    ])
    expect(asked[0]!.body).toEqual({ model, prompt: 'A cat', n: 1, ...output, ...body })
    expect(openaiImageRefusal(asked[0]!.body)).toBeUndefined()
    expect(told).toEqual(notes)
  })
})

describe('the answer', () => {
  it('has its images and the usage', async () => {
    const data = [{ b64_json: 'AAAA', revised_prompt: 'A gray cat' }, { b64_json: 'BBBB' }]
    expect(await draw({ body: { data, usage } }).answer).toEqual({
      images: [
        { base64: 'AAAA', revised_prompt: 'A gray cat' },
        { base64: 'BBBB', revised_prompt: undefined },
      ],
      usage: {
        prompt_tokens: 10,
        completion_tokens: 1056,
        total_tokens: 1066,
        prompt_tokens_details: { image_tokens: 6, cached_tokens: 3 },
        completion_tokens_details: { image_tokens: 1056 },
      },
    })
  })

  it('has counts of 0 where the upstream reports none', async () => {
    for (const input_tokens_details of [undefined, null, {}])
      expect(
        await draw({ body: { data: [{ b64_json: 'AAAA' }], usage: { ...usage, input_tokens_details } } }).answer,
      ).toMatchObject({ usage: { prompt_tokens: 10, prompt_tokens_details: { image_tokens: 0, cached_tokens: 0 } } })
  })

  it.each([undefined, null, {}, { input_tokens: 1 }, { input_tokens: 1, output_tokens: '2' }])(
    'has no usage where the upstream reports %j',
    async (told) =>
      expect(await draw({ body: { data: [{ b64_json: 'AAAA' }], usage: told } }).answer).toMatchObject({
        usage: undefined,
      }),
  )

  it.each<[what: string, body: unknown]>([
    ['no data', {}],
    ['data that is null', { data: null }],
    ['no picture', { data: [] }],
    ['a picture that is null', { data: [null] }],
    ['a picture without data', { data: [{ revised_prompt: 'A gray cat' }] }],
    ['an empty picture', { data: [{ b64_json: '' }] }],
    ['an address', { data: [{ url: 'https://images.example/1.png' }] }],
    ['a picture that is no text', { data: [{ b64_json: 1 }] }],
    ['an HTML page', '<html>'],
    ['nothing', ''],
  ])('with %s is malformed', async (_, body) => expect(draw({ body }).answer).rejects.toMatchObject(senseless()))

  it('with status 200 and an error is reported as one', async () => {
    const body = { error: { code: 503, message: 'Overloaded' } }
    await expect(draw({ body }).answer).rejects.toMatchObject(failure({ kind: 'status', status: 503, accepted: false }))
  })

  it('of a refusal is the fault of the prompt', async () => {
    const body = { error: { message: 'Rejected by our safety system', code: 'moderation_blocked' } }
    await expect(draw({ status: 400, body }).answer).rejects.toMatchObject({
      ...failure({ kind: 'status', status: 400, caller: true, accepted: false, code: 'moderation_blocked' }),
      message: 'Rejected by our safety system',
    })
  })

  it('is not awaited once the call is aborted', async () => {
    const at = scriptedUpstream(one)
    at.abort(new Error('Enough'))
    const provider = openai({ apiKey: 'sk-test', transport: at.transport })
    await expect(provider.images!({ model: 'gpt-image-2', prompt: 'x' }, at.call)).rejects.toThrow('Enough')
    expect(at.asked).toEqual([])
  })
})
