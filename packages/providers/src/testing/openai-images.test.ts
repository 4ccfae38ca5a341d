import { crc32, inflateSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { fakeOpenAI } from './fake-openai.js'
import { openaiImageRefusal } from './openai-images.js'
import { png } from './png.js'

const refusal = (model: string, fields: object) => openaiImageRefusal({ model, prompt: 'A cat', ...fields })

async function ask(fields: object): Promise<Record<string, unknown> & { data: { b64_json: string }[] }> {
  const body = JSON.stringify({ prompt: 'A cat', ...fields })
  const { signal } = new AbortController()
  const headers = { authorization: 'Bearer any' }
  const url = 'http://fake/v1/images/generations'
  const answer = await fakeOpenAI().transport({ url, method: 'POST', headers, body, signal })
  let text = ''
  for await (const piece of answer.body) text += new TextDecoder().decode(piece)
  return JSON.parse(text) as never
}

/** The chunks of a PNG by type; throws if a checksum is wrong. */
function chunksOf(file: Buffer): Record<string, Buffer> {
  expect(file.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1A\n')
  const chunks: Record<string, Buffer> = {}
  for (let at = 8; at < file.length;) {
    const end = at + 8 + file.readUInt32BE(at)
    expect(file.readUInt32BE(end)).toBe(crc32(file.subarray(at + 4, end)))
    chunks[file.toString('latin1', at + 4, at + 8)] = file.subarray(at + 8, end)
    at = end + 4
  }
  return chunks
}

describe('png', () => {
  it('is 8 by 8 pixels of one color', () => {
    const { IHDR, IDAT, IEND } = chunksOf(Buffer.from(png(255, 0, 7)))
    expect([...IHDR!]).toEqual([0, 0, 0, 8, 0, 0, 0, 8, 8, 2, 0, 0, 0])
    const row = [0, ...Array.from({ length: 8 }, () => [255, 0, 7]).flat()]
    expect([...inflateSync(IDAT!)]).toEqual(Array.from({ length: 8 }, () => row).flat())
    expect(IEND).toHaveLength(0)
  })
})

describe('OpenAI draws', () => {
  it.each<[model: string, fields: object]>([
    ['gpt-image-1', { size: '1536x1024', quality: 'low', n: 10, output_format: 'webp', output_compression: 50 }],
    ['gpt-image-1', { size: 'auto', quality: 'auto', background: 'transparent', moderation: 'low', user: 'x' }],
    ['chatgpt-image-latest', { size: '1024x1536' }],
    ['gpt-image-2', { size: '1792x1024' }],
    ['gpt-image-2', { size: '3072x1024' }],
    ['dall-e-3', { size: '1792x1024', quality: 'hd', style: 'natural', response_format: 'b64_json', n: 1 }],
    ['dall-e-3', { prompt: '😀'.repeat(4_000) }],
    ['dall-e-2', { size: '256x256', n: 10, response_format: 'url' }],
    ['dall-e-2', { size: null, n: null, response_format: null }],
  ])('%s with %j', (model, fields) => expect(refusal(model, fields)).toBeUndefined())
})

describe('OpenAI refuses to draw', () => {
  it.each<[model: string, fields: object, message: string, param: string | null, code: string | null]>([
    [
      'gpt-image-1',
      { response_format: 'b64_json' },
      "Unknown parameter: 'response_format'.",
      'response_format',
      'unknown_parameter',
    ],
    ['gpt-image-1', { style: 'vivid' }, "Unknown parameter: 'style'.", 'style', 'unknown_parameter'],
    ['gpt-image-1', { provider: 'x' }, "Unknown parameter: 'provider'.", 'provider', 'unknown_parameter'],
    [
      'gpt-image-1',
      { size: '1792x1024' },
      "Invalid value: '1792x1024'. Supported values are: '1024x1024', '1536x1024', '1024x1536', 'auto'.",
      'size',
      'invalid_value',
    ],
    ['gpt-image-2', { size: '1025x1024' }, "Invalid value: '1025x1024'.", 'size', 'invalid_value'],
    ['gpt-image-2', { size: '3088x1024' }, "Invalid value: '3088x1024'.", 'size', 'invalid_value'],
    ['gpt-image-1', { quality: 'hd' }, "Invalid value: 'hd'.", 'quality', 'invalid_value'],
    ['gpt-image-1', { output_format: 'gif' }, "Invalid value: 'gif'.", 'output_format', 'invalid_value'],
    ['gpt-image-1', { output_compression: 50 }, 'Compression less than 100', 'output_compression', null],
    [
      'gpt-image-1',
      { output_format: 'jpeg', background: 'transparent' },
      'Transparent background is not supported',
      'background',
      null,
    ],
    ['gpt-image-1', { n: 11 }, "Invalid 'n': expected a value between 1 and 10, but got 11 instead.", 'n', null],
    ['dall-e-3', { n: 2 }, "Invalid 'n': expected a value between 1 and 1, but got 2 instead.", 'n', null],
    ['dall-e-3', { size: '512x512' }, "Invalid value: '512x512'.", 'size', 'invalid_value'],
    ['dall-e-3', { quality: 'high' }, "Invalid value: 'high'.", 'quality', 'invalid_value'],
    ['dall-e-3', { style: 'odd' }, "Invalid value: 'odd'.", 'style', 'invalid_value'],
    ['dall-e-3', { response_format: 'png' }, "Invalid value: 'png'.", 'response_format', 'invalid_value'],
    ['dall-e-3', { output_format: 'png' }, "Unknown parameter: 'output_format'.", 'output_format', 'unknown_parameter'],
    [
      'dall-e-3',
      { prompt: 'x'.repeat(4_001) },
      "Invalid 'prompt': string too long. Expected a string with maximum length 4000, but got a string with length 4001 instead.",
      'prompt',
      'string_above_max_length',
    ],
    ['dall-e-2', { style: 'vivid' }, "Unknown parameter: 'style'.", 'style', 'unknown_parameter'],
    ['dall-e-2', { size: '1792x1024' }, "Invalid value: '1792x1024'.", 'size', 'invalid_value'],
    ['dall-e-2', { prompt: '' }, "Invalid 'prompt': empty string.", 'prompt', 'string_below_min_length'],
    ['dall-e-2', { prompt: 5 }, "Invalid type for 'prompt'", 'prompt', 'invalid_type'],
    [
      'dall-e-2',
      { prompt: undefined },
      "Missing required parameter: 'prompt'.",
      'prompt',
      'missing_required_parameter',
    ],
    ['gpt-4o', {}, "The model 'gpt-4o' does not exist", null, 'model_not_found'],
  ])('%s with %j', (model, fields, message, param, code) =>
    expect(refusal(model, fields)).toMatchObject({ message: expect.stringContaining(message) as string, param, code }),
  )

  it('no object', () => expect(openaiImageRefusal(undefined)).toMatchObject({ code: null }))
})

describe('the fake’s images', () => {
  it('of GPT models are base64, with usage', async () => {
    const given = await ask({ model: 'gpt-image-1', n: 2, quality: 'low', size: '1024x1536' })
    const { data, ...rest } = given
    expect(rest).toEqual({
      created: expect.closeTo(Date.now() / 1000, -1) as number,
      background: 'opaque',
      output_format: 'png',
      quality: 'low',
      size: '1024x1536',
      usage: {
        input_tokens: 2,
        input_tokens_details: { image_tokens: 0, text_tokens: 2 },
        output_tokens: 544,
        total_tokens: 546,
      },
    })
    expect(data).toHaveLength(2)
    expect(Object.keys(data[0]!)).toEqual(['b64_json'])
    const { IDAT } = chunksOf(Buffer.from(data[0]!.b64_json, 'base64'))
    expect(inflateSync(IDAT!)).toHaveLength(200)
  })

  it('have the requested format', async () => {
    const startOf = async (output_format: string) => {
      const { data } = await ask({ model: 'gpt-image-1', output_format })
      return Buffer.from(data[0]!.b64_json, 'base64').toString('latin1')
    }
    expect(await startOf('jpeg')).toMatch(/^\xFF\xD8\xFF\xE0..JFIF/s)
    expect(await startOf('webp')).toMatch(/^RIFF....WEBPVP8L/s)
  })

  it('depend on the prompt', async () => {
    const draw = async (prompt: string) => (await ask({ model: 'gpt-image-1', prompt })).data
    expect(await draw('A cat')).toEqual(await draw('A cat'))
    expect(await draw('A cat')).not.toEqual(await draw('A dog'))
  })

  it('of DALL·E are URLs or base64, and those of DALL·E 3 have a revised prompt', async () => {
    expect(await ask({ n: 2 })).toEqual({
      created: expect.closeTo(Date.now() / 1000, -1) as number,
      data: [{ url: 'https://images.invalid/0.png' }, { url: 'https://images.invalid/1.png' }],
    })
    const { data } = await ask({ model: 'dall-e-3', response_format: 'b64_json' })
    expect(data).toEqual([
      { revised_prompt: 'A simulated revision of: A cat', b64_json: expect.stringMatching(/^iVBORw0KGgo/) as string },
    ])
  })
})
