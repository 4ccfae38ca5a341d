import type { ImageRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Given } from '../../../../test/support/upstream.js'
import { failure, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { googleRefusal } from '../testing/google-rules.js'
import { google, googleEndpoints } from './index.js'

const picture = (data: string, more: object = {}) => ({ inlineData: { mimeType: 'image/png', data }, ...more })
const drawn = (parts: object[], more: object = {}): Given => ({
  body: { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }], ...more },
})

function draw(given: Given | Error, fields: Partial<ImageRequest> & { model?: string } = {}) {
  const at = scriptedUpstream(given)
  const provider = google({ apiKey: 'AIza-test', transport: at.transport, endpoints: googleEndpoints() })
  return { ...at, answer: provider.images!({ model: 'gemini-2.5-flash-image', prompt: 'A cat', ...fields }, at.call) }
}

const pro = 'gemini-3-pro-image-preview'
const flash = 'gemini-3.1-flash-image-preview'
const noQuality = { field: 'quality', action: 'dropped' }
const clamped = { field: 'size', action: 'clamped' }
const noStyle = { field: 'style', action: 'dropped' }

describe('the request', () => {
  it.each<[fields: { model?: string }, imageConfig: object, notes: object[]]>([
    [{}, { aspectRatio: '1:1' }, []],
    [{ size: '256x256' }, { aspectRatio: '1:1' }, [clamped]],
    [{ size: '512x512' }, { aspectRatio: '1:1' }, [clamped]],
    [{ size: '1024x1024' }, { aspectRatio: '1:1' }, []],
    [{ size: '1024x1792' }, { aspectRatio: '9:16' }, []],
    [{ size: '1792x1024' }, { aspectRatio: '16:9' }, []],
    [{ size: '1536x1024' }, { aspectRatio: '3:2' }, []],
    [{ size: '1024x1536', quality: 'medium' }, { aspectRatio: '2:3' }, []],
    [{ size: 'auto', quality: 'auto' }, {}, []],
    [{ model: pro, quality: 'high' }, { aspectRatio: '1:1', imageSize: '2K' }, []],
    [{ quality: 'standard' }, { aspectRatio: '1:1' }, []],
    [{ quality: 'hd' }, { aspectRatio: '1:1' }, [noQuality]],
    [{ model: flash, quality: 'hd' }, { aspectRatio: '1:1', imageSize: '2K' }, []],
    [{ model: 'gemini-3.1-flash-lite-image', quality: 'hd' }, { aspectRatio: '1:1' }, [noQuality]],
    [{ model: pro, quality: 'hd' }, { aspectRatio: '1:1', imageSize: '2K' }, []],
    [{ model: pro }, { aspectRatio: '1:1' }, []],
    [{ style: 'vivid' }, { aspectRatio: '1:1' }, [noStyle]],
    [{ response_format: 'b64_json', n: 2, provider: 'google' }, { aspectRatio: '1:1' }, []],
    [{ user: 'x' }, { aspectRatio: '1:1' }, [{ field: 'user', action: 'dropped' }]],
  ] as [fields: { model?: string }, imageConfig: object, notes: object[]][])(
    'of %j is for %j',
    async (fields, imageConfig, notes) => {
      const { model = 'gemini-2.5-flash-image' } = fields
      const { answer, asked, notes: told } = draw(drawn([picture('AAAA')]), fields)
      await answer
      expect(asked).toMatchObject([
        { url: `https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent` },
      ])
      expect(asked[0]!.body).toEqual({
        contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
        generationConfig: { responseModalities: ['IMAGE'], imageConfig },
      })
      expect(googleRefusal(model, asked[0]!.body)).toBeUndefined()
      expect(told).toEqual(notes)
    },
  )
})

describe('the answer', () => {
  it('has an image in base64, without a declared type', async () => {
    const usageMetadata = { promptTokenCount: 3, candidatesTokenCount: 1290, thoughtsTokenCount: 20 }
    expect((await draw(drawn([picture('AAAA')], { usageMetadata })).answer).usage).toMatchObject({
      completion_tokens: 1310,
      completion_tokens_details: { reasoning_tokens: 20, image_tokens: 1290 },
    })
  })

  it('has its first image that is no draft, and the usage', async () => {
    const parts = [{ text: 'Here:' }, picture('DRAFT', { thought: true }), picture('AAAA'), picture('BBBB')]
    const usageMetadata = {
      promptTokenCount: 3,
      candidatesTokenCount: 1300,
      thoughtsTokenCount: 20,
      totalTokenCount: 1323,
      candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
    }
    expect(await draw(drawn(parts, { usageMetadata })).answer).toEqual({
      images: [{ base64: 'AAAA' }],
      usage: {
        prompt_tokens: 3,
        completion_tokens: 1320,
        total_tokens: 1323,
        prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
        completion_tokens_details: { reasoning_tokens: 20, image_tokens: 1290 },
      },
    })
  })

  it.each([undefined, {}])('has no usage where the upstream reports %j', async (usageMetadata) =>
    expect(await draw(drawn([picture('AAAA')], { usageMetadata })).answer).toEqual({
      images: [{ base64: 'AAAA' }],
      usage: undefined,
    }),
  )

  it.each([
    'SAFETY',
    'IMAGE_SAFETY',
    'PROHIBITED_CONTENT',
    'IMAGE_PROHIBITED_CONTENT',
    'BLOCKLIST',
    'RECITATION',
    'IMAGE_RECITATION',
    'SPII',
    'LANGUAGE',
    'MODEL_ARMOR',
  ])('that is %s is refused because of the prompt', async (reason) => {
    const refusal = failure({ kind: 'status', status: 400, caller: true, accepted: true, code: reason }, 'google')
    for (const body of [
      { candidates: [{ finishReason: reason }] },
      { candidates: [{ content: { parts: [{ text: 'I cannot' }] }, finishReason: reason }] },
      { promptFeedback: { blockReason: reason } },
    ])
      await expect(draw({ body }).answer).rejects.toMatchObject(refusal)
  })

  it('that is blocked for an unknown reason is refused because of the prompt', async () => {
    const body = { promptFeedback: { blockReason: 'NEWS' } }
    await expect(draw({ body }).answer).rejects.toMatchObject({ failure: { status: 400, caller: true } })
  })

  it.each<[what: string, body: unknown]>([
    ['no candidates', {}],
    ['candidates that are null', { candidates: null }],
    ['a candidate that is null', { candidates: [null] }],
    ['a text only', { candidates: [{ content: { parts: [{ text: 'A cat' }] }, finishReason: 'STOP' }] }],
    ['no reason', { candidates: [{ content: { parts: [] } }] }],
    ['no picture', { candidates: [{ finishReason: 'NO_IMAGE' }] }],
    ['a draft only', { candidates: [{ content: { parts: [picture('AAAA', { thought: true })] } }] }],
    ['an empty picture', { candidates: [{ content: { parts: [picture('')] } }] }],
    [
      'another kind of file',
      { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }] } }] },
    ],
    [
      'a picture that is no text',
      { candidates: [{ content: { parts: [{ inlineData: { mimeType: 'image/png', data: { toString: 1 } } }] } }] },
    ],
    ['parts that are null', { candidates: [{ content: { parts: [null] } }] }],
    ['an HTML page', '<html>'],
    ['nothing', ''],
  ])('with %s is malformed', async (_, body) =>
    expect(draw({ body }).answer).rejects.toMatchObject(senseless('google')),
  )

  it('with status 200 and an error is reported as one', async () => {
    const body = { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }
    await expect(draw({ body }).answer).rejects.toMatchObject(failure({ kind: 'status', status: 503 }, 'google'))
  })

  it('is not awaited once the call is aborted', async () => {
    const at = scriptedUpstream(drawn([picture('AAAA')]))
    at.abort(new Error('Enough'))
    const provider = google({ apiKey: 'x', transport: at.transport, endpoints: googleEndpoints() })
    await expect(provider.images!({ model: flash, prompt: 'x' }, at.call)).rejects.toThrow('Enough')
    expect(at.asked).toEqual([])
  })
})
