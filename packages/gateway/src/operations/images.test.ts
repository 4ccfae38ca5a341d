import { createRouter, openai } from '@turnpike/providers'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { familiesGateway, generated } from '../../../../test/support/families.js'
import { answer, errorOf, testGateway } from '../../../../test/support/gateway.js'
import { grayJpeg, pngOf } from '../../../providers/src/testing/pictures.js'

const path = '/v1/images/generations'
const png = pngOf('x')
const picture = { inlineData: { mimeType: 'image/png', data: png } }
const counted = {
  promptTokenCount: 3,
  candidatesTokenCount: 1290,
  totalTokenCount: 1293,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
}

describe('the record of an image', () => {
  it('has the tokens reported by Gemini', async () => {
    const { send, records } = await familiesGateway({ answers: { google: () => generated(picture, counted) } })
    expect((await send('POST', path, { prompt: 'A cat' })).status).toBe(200)
    expect(await records()).toMatchObject([
      {
        task: 'images',
        model: 'gemini-2.5-flash-image',
        provider: 'google',
        prompt_tokens: 3,
        completion_tokens: 1290,
        accuracy: 'reported',
        units: { input: 3, output_image: 1290, images: 1 },
        rates: { input: 0.3, output: 2.5, cache_read: 0.075, output_image: 30 },
        // 3 × $0.30 and 1,290 × $30 for a million
        cost_nano_usd: 38_700_900,
        outcome: 'complete',
      },
    ])
  })

  it('has the tokens reported by OpenAI, or an estimate without a price', async () => {
    const usage = { input_tokens: 3, output_tokens: 1056, total_tokens: 1059 }
    const { send, records } = await testGateway({
      upstream: ({ body }) =>
        answer({
          data: [{ b64_json: png }],
          usage: (body as { model: string }).model === 'gpt-image-2' ? usage : undefined,
        }),
    })
    await send('POST', path, { prompt: 'A cat', model: 'gpt-image-2' })
    await send('POST', path, { prompt: 'A cat', model: 'dall-e-3' })
    expect(await records()).toMatchObject([
      {
        model: 'dall-e-3',
        prompt_tokens: 2,
        completion_tokens: 1_290,
        accuracy: 'estimated',
        units: { input: 2, output_image: 1_290, images: 1 },
        rates: {},
        cost_nano_usd: null,
      },
      {
        model: 'gpt-image-2',
        prompt_tokens: 3,
        completion_tokens: 1056,
        accuracy: 'reported',
        units: { input: 3, output_image: 1056, images: 1 },
        rates: { input: 5, output: 30, cache_read: 1.25, output_image: 30 },
        // 3 × $5 and 1,056 × $30 for a million
        cost_nano_usd: 31_695_000,
      },
    ])
  })
})

describe('the model', () => {
  it.each<[fields: object, model: string]>([
    [{}, 'gemini-2.5-flash-image'],
    [{ model: null }, 'gemini-2.5-flash-image'],
    [{ provider: 'auto' }, 'gemini-2.5-flash-image'],
    [{ provider: 'gemini' }, 'gemini-2.5-flash-image'],
    [{ provider: 'openai' }, 'gpt-image-2'],
    [{ model: 'openai/dall-e-3' }, 'dall-e-3'],
  ])('with both families configured is for %j %s', async (fields, model) => {
    const { send, records } = await familiesGateway()
    expect((await send('POST', path, { prompt: 'A cat', ...fields })).status).toBe(200)
    expect(await records()).toMatchObject([{ model }])
  })

  it('defaults to the first one of a configured provider', async () => {
    for (const [options, model] of [
      [{}, 'gpt-image-2'],
      [{ imageModels: ['gemini-2.5-flash-image', 'dall-e-3', 'gpt-image-2'] }, 'dall-e-3'],
    ] as const) {
      const { send, sent } = await testGateway(options as { imageModels?: string[] })
      expect((await send('POST', path, { prompt: 'A cat' })).status).toBe(200)
      expect(sent()).toMatchObject({ model })
    }
  })

  it('is refused if it is not in the list of the host', async () => {
    const { send, upstream } = await testGateway({ imageModels: ['dall-e-3'] })
    const response = await send('POST', path, { prompt: 'A cat', model: 'gpt-image-2' })
    expect([response.status, await errorOf(response)]).toEqual([
      400,
      { type: 'invalid_request_error', code: 'model_not_found', message: 'model must be one of dall-e-3' },
    ])
    expect(upstream.requests).toEqual([])
  })
})

describe('the warnings', () => {
  it.each<[fields: object, warnings: string | null]>([
    [{ model: 'gpt-image-2', size: '1024x1024', quality: 'hd', n: 1, response_format: 'url' }, null],
    [{ model: 'gpt-image-2', n: 2 }, 'clamped=n'],
    [{ model: 'gpt-image-2', size: '1536x1024', quality: 'high' }, null],
    [{ model: 'gpt-image-2', size: '1024x1536', quality: 'low' }, null],
    [{ model: 'gpt-image-2', size: 'auto', quality: 'auto' }, null],
    [{ model: 'dall-e-3', size: '1536x1024', quality: 'low' }, 'clamped=size,quality'],
    [{ model: 'dall-e-3', size: 'auto', quality: 'high' }, null],
    [{ model: 'gemini-2.5-flash-image', size: '1024x1536', quality: 'medium' }, null],
    [{ model: 'gemini-2.5-flash-image', size: 'auto', quality: 'high' }, 'dropped=quality'],
    [{ model: 'gemini-2.5-flash-image', quality: 'low' }, 'dropped=quality'],
    [{ model: 'gpt-image-2', size: '256x256' }, 'clamped=size'],
    [{ model: 'gpt-image-2', size: '1792x1024', n: 10, style: 'vivid' }, 'dropped=style; clamped=n,size'],
    [{ model: 'dall-e-3', size: '1792x1024', quality: 'hd', style: 'natural' }, null],
    [{ model: 'dall-e-3', size: '512x512' }, 'clamped=size'],
    [{ model: 'gemini-2.5-flash-image', size: '1792x1024', quality: 'standard' }, null],
    [{ model: 'gemini-2.5-flash-image', quality: 'hd', style: 'vivid', user: 'x' }, 'dropped=style,user,quality'],
    [{ model: 'gemini-2.5-flash-image', size: '512x512' }, 'clamped=size'],
    [{ model: 'gemini-2.5-flash-image', n: 3, style: 'vivid' }, 'dropped=style; clamped=n'],
  ])('for %j are %s', async (fields, warnings) => {
    const { send } = await familiesGateway()
    const response = await send('POST', path, { prompt: 'A cat', ...fields })
    expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([200, warnings])
  })
})

it('converts a JPEG with toPng, and records the image if that fails', async () => {
  const given: Uint8Array[] = []
  const toPng = async (bytes: Uint8Array): Promise<Uint8Array> => {
    given.push(bytes)
    return Buffer.from(png, 'base64')
  }
  const jpeg = generated({ inlineData: { mimeType: 'image/jpeg', data: grayJpeg } }, counted)
  const options = { answers: { google: () => jpeg } }
  const { send } = await familiesGateway({ ...options, toPng })
  const response = await send('POST', path, { prompt: 'A cat', response_format: 'b64_json' })
  expect(await response.json()).toEqual({ created: 1_767_312_000, data: [{ b64_json: png }] })
  expect(given).toEqual([Uint8Array.from(Buffer.from(grayJpeg, 'base64'))])

  const without = await familiesGateway(options)
  expect((await without.send('POST', path, { prompt: 'A cat' })).status).toBe(502)
  expect(await without.records()).toMatchObject([{ cost_nano_usd: 38_700_900 }])
  expect(without.errors).toMatchObject([{ failure: { kind: 'malformed', accepted: true } }])
})

it.each(['"><script>', '_', '=A'])('is no PNG where it is more than base64: %s', async (more) => {
  const other = generated({ inlineData: { mimeType: 'image/png', data: png.replace(/=*$/, more) } }, counted)
  const { send, errors } = await familiesGateway({ answers: { google: () => other } })
  expect((await send('POST', path, { prompt: 'A cat' })).status).toBe(502)
  expect(errors).toMatchObject([{ failure: { kind: 'malformed', code: 'no_png' } }])
})

it('selects an image model of a compatible server by its prefix', async () => {
  const { transport, requests } = fakeOpenAI()
  const router = createRouter({ providers: [openai({ id: 'mine', apiKey: 'x', transport })] })
  const { send } = await testGateway({ router, imageModels: ['dall-e-3'] })
  expect((await send('POST', path, { prompt: 'A cat', model: 'mine/dall-e-3' })).status).toBe(200)
  expect(requests[0]!.body).toMatchObject({ model: 'dall-e-3' })
})

describe('the form of the picture', () => {
  const data = { url: `data:image/png;base64,${png}`, b64_json: png }
  const formOf = async (model: string, fields: object) => {
    const { send } = await familiesGateway({
      answers: { openai: () => answer({ data: [{ b64_json: png }] }), google: () => generated(picture, counted) },
    })
    const response = await send('POST', path, { prompt: 'A cat', model, ...fields })
    return ((await response.json()) as { data: object[] }).data[0]
  }

  it.each(['gpt-image-2', 'openai/gpt-image-2'])('of %s is both where none is asked for', async (model) => {
    expect(await formOf(model, {})).toEqual(data)
    expect(await formOf(model, { response_format: null })).toEqual(data)
    expect(await formOf(model, { response_format: 'url' })).toEqual({ url: data.url })
    expect(await formOf(model, { response_format: 'b64_json' })).toEqual({ b64_json: png })
  })

  it.each(['dall-e-3', 'gemini-2.5-flash-image'])('of %s is a data URL where none is asked for', async (model) => {
    expect(await formOf(model, {})).toEqual({ url: data.url })
  })

  it('is refused for other sizes and qualities with those that there are', async () => {
    const { send } = await testGateway()
    const message = async (fields: object) =>
      ((await errorOf(await send('POST', path, { prompt: 'A cat', ...fields }))) as { message: string }).message
    expect(await message({ size: '17x17' })).toMatch(/^size must be one of "256x256", .*"1536x1024", .*"auto"$/)
    expect(await message({ quality: 'best' })).toMatch(/^quality must be one of "standard", "hd", "low", .*"auto"$/)
  })
})
