import { expect, it } from 'vitest'
import { errors } from '../faults/wire.js'
import { grayJpeg, pngOf } from '../../packages/providers/src/testing/pictures.js'
import { passTo, whole } from './pass.js'

const path = '/v1/images/generations'
const png = pngOf('one')
const draft = pngOf('two')

const google = 'https://generativelanguage.googleapis.com/v1beta/models/gemini-2.5-flash-image:generateContent'
const image = (data: string, mimeType = 'image/png') => ({ inlineData: { mimeType, data } })
const drawn = (...parts: object[]) =>
  whole({
    candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 1290, totalTokenCount: 1293 },
  })
/** What Gemini is sent. */
const asked = (aspectRatio: string) => ({
  url: google,
  body: {
    contents: [{ role: 'user', parts: [{ text: 'A cat' }] }],
    generationConfig: { responseModalities: ['IMAGE'], imageConfig: { aspectRatio } },
  },
})

it('returns one PNG with Gemini, in the requested aspect ratio', async () => {
  const url = `{"created":0,"data":[{"url":"data:image/png;base64,${png}"}]}`
  const base64 = `{"created":0,"data":[{"b64_json":"${png}"}]}`
  const rows: [fields: object, ratio: string, told: string, warnings: string | null][] = [
    [{}, '1:1', url, null],
    [{ size: '256x256' }, '1:1', url, 'clamped=size'],
    [{ size: '512x512' }, '1:1', url, 'clamped=size'],
    [{ size: '1024x1024' }, '1:1', url, null],
    [{ size: '1792x1024' }, '16:9', url, null],
    [{ size: '1024x1792' }, '9:16', url, null],
    [{ response_format: 'url' }, '1:1', url, null],
    [{ response_format: 'b64_json' }, '1:1', base64, null],
    [{ n: 1 }, '1:1', url, null],
    [{ n: 2 }, '1:1', url, 'clamped=n'],
  ]
  for (const [fields, ratio, told, warnings] of rows) {
    const request = { model: 'gemini-2.5-flash-image', prompt: 'A cat', ...fields }
    const { status, headers, text, sent } = await passTo('google', path, request, drawn(image(png)))
    expect(sent.map(({ url, body }) => ({ url, body }))).toEqual([asked(ratio)])
    expect([status, text]).toEqual([200, told])
    expect(headers.get('x-gateway-warnings')).toBe(warnings)
  }

  const request = { model: 'gemini-2.5-flash-image', prompt: 'A cat' }
  const thought = { ...image(draft), thought: true }
  const both = await passTo('google', path, request, drawn(thought, { text: 'Here it is' }, image(png)))
  expect([both.status, both.text]).toEqual([200, url])
  for (const parts of [[{ text: 'I cannot draw' }], [thought], [image(grayJpeg, 'image/jpeg')]]) {
    const none = await passTo('google', path, request, drawn(...parts))
    expect(none.sent.map(({ url, body }) => ({ url, body }))).toEqual([asked('1:1')])
    expect([none.status, none.text]).toEqual([502, errors.senseless])
    // The picture has been paid for.
    expect(none.headers.get('x-should-retry')).toBe('false')
  }
})

it('does not request the format that a GPT image model always returns', async () => {
  const answer = whole({
    created: 5,
    data: [{ b64_json: png, revised_prompt: 'A gray cat' }],
    usage: { input_tokens: 3, output_tokens: 1056, total_tokens: 1059 },
  })
  const url = `{"created":0,"data":[{"url":"data:image/png;base64,${png}","revised_prompt":"A gray cat"}]}`
  const base64 = `{"created":0,"data":[{"b64_json":"${png}","revised_prompt":"A gray cat"}]}`
  // Where no format is asked for, the clients of these models read `b64_json`.
  const both = `{"created":0,"data":[{"url":"data:image/png;base64,${png}","b64_json":"${png}","revised_prompt":"A gray cat"}]}`
  const rows: [fields: object, more: object, told: string, warnings: string | null][] = [
    [{}, {}, both, null],
    [{ response_format: 'url' }, {}, url, null],
    [{ response_format: 'b64_json' }, {}, base64, null],
    [
      { response_format: 'b64_json', size: '1792x1024', quality: 'hd', style: 'vivid' },
      { size: '1536x1024', quality: 'high' },
      base64,
      'dropped=style; clamped=size',
    ],
    [{ output_format: 'jpeg', output_compression: 50 }, {}, both, 'dropped=output_compression; clamped=output_format'],
  ]
  for (const [fields, more, told, warnings] of rows) {
    const request = { model: 'gpt-image-2', prompt: 'A cat', ...fields }
    const { status, headers, text, sent } = await passTo('openai', path, request, answer)
    expect(sent.map(({ url, body }) => ({ url, body }))).toEqual([
      {
        url: 'https://api.openai.com/v1/images/generations',
        body: {
          model: 'gpt-image-2',
          prompt: 'A cat',
          n: 1,
          output_format: 'png',
          size: '1024x1024',
          quality: 'medium',
          ...more,
        },
      },
    ])
    expect([status, text]).toEqual([200, told])
    expect(headers.get('x-gateway-warnings')).toBe(warnings)
  }
})
