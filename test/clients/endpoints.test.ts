import { createReadStream, writeFileSync } from 'node:fs'
import type { FakeRequest } from '@turnpike/providers/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { toUnit, vectorOf } from '../../packages/providers/src/testing/vectors.js'
import { noise } from '../support/forms.js'
import type { MediaKind } from '../support/media.js'
import { expectKind } from '../support/media.js'
import { runtime } from '../support/runtime.js'
import type { FamiliesStack } from './families-stack.js'
import { startFamilies } from './families-stack.js'
import type { OpenAIClient } from './openai-endpoints.js'
import { connect, libraries, streamTo, useFolder } from './openai-endpoints.js'

let stack: FamiliesStack
beforeAll(async () => {
  stack = await startFamilies()
})
afterEach(() => {
  stack.upstreams.openai.requests.length = 0
  stack.upstreams.google.requests.length = 0
})
afterAll(() => stack.stop())

const pathOf = useFolder()
const bodies = (vendor: 'openai' | 'google') =>
  stack.upstreams[vendor].requests.map(({ body }) => body as Record<string, unknown>)

/** The vector of a text, of length 1 and of 32-bit floats. */
const wanted = (text: string, dimensions: number): number[] => toUnit(vectorOf(text, dimensions))

function expectVector(got: number[], text: string, dimensions: number): void {
  expect(got).toHaveLength(dimensions)
  for (const [i, value] of wanted(text, dimensions).entries()) expect(got[i]).toBeCloseTo(value, 6)
}

describe.each(libraries)(`$name against ${runtime}`, ({ library }) => {
  let client: OpenAIClient
  beforeEach(() => {
    client = connect(library, stack)
  })

  describe('embeddings', () => {
    const texts = ['Hello', 'Ça va 🙂', 'Hello']

    it.each([
      ['the default of the client, which is base64', undefined],
      ['floats', 'float' as const],
    ])('of OpenAI are returned as %s', async (_, encoding_format) => {
      const format = encoding_format && { encoding_format }
      const answer = await client.embeddings.create({ model: 'text-embedding-3-small', input: texts, ...format })
      expect(bodies('openai')).toEqual([{ model: 'text-embedding-3-small', input: texts, encoding_format: 'base64' }])
      expect(answer.data.map(({ index, object }) => [index, object])).toEqual([0, 1, 2].map((i) => [i, 'embedding']))
      for (const [i, text] of texts.entries()) expectVector(answer.data[i]!.embedding, text, 1_536)
      expect(answer.usage).toEqual({ prompt_tokens: 6, total_tokens: 6 })
      expect([answer.object, answer.model]).toEqual(['list', 'text-embedding-3-small'])
    })

    it.each([undefined, 'float' as const])(
      'of Gemini have 768 dimensions by default, as %s',
      async (encoding_format) => {
        const format = encoding_format && { encoding_format }
        const answer = await client.embeddings.create({ model: 'gemini-embedding-001', input: texts, ...format })
        for (const [i, text] of texts.entries()) expectVector(answer.data[i]!.embedding, text, 768)
        expect(answer.usage.prompt_tokens).toBeGreaterThan(0)
        expect(answer.usage.total_tokens).toBe(answer.usage.prompt_tokens)
      },
    )

    it.each([
      ['text-embedding-3-large', 256],
      ['gemini-embedding-001', 256],
      ['google/gemini-embedding-001', 1_024],
    ])('of %s have %i dimensions on request', async (model, dimensions) => {
      const { data } = await client.embeddings.create({ model, input: 'Hello', dimensions })
      expect(data).toHaveLength(1)
      expectVector(data[0]!.embedding, 'Hello', dimensions)
    })

    it('of 250 texts are three calls of Gemini, in order', async () => {
      const input = Array.from({ length: 250 }, (_, i) => `Text ${i}`)
      const { data } = await client.embeddings.create({ model: 'gemini-embedding-001', input, dimensions: 8 })
      const sizes = bodies('google').map(({ requests }) => (requests as object[]).length)
      expect(sizes.toSorted((a, b) => a - b)).toEqual([50, 100, 100])
      expect(data.map(({ index }) => index)).toEqual(input.map((_, i) => i))
      for (const [i, text] of input.entries()) expectVector(data[i]!.embedding, text, 8)
    })

    it('of tokens are passed on to OpenAI', async () => {
      const { data } = await client.embeddings.create({ model: 'text-embedding-3-small', input: [[1, 2], [3]] })
      expect(data).toHaveLength(2)
    })
  })

  describe('images', () => {
    const prompt = 'A lighthouse'

    it.each([
      ['gpt-image-2', 'b64_json' as const],
      ['gpt-image-2', 'url' as const],
      ['dall-e-3', undefined],
      ['gemini-2.5-flash-image', 'b64_json' as const],
      ['gemini-2.5-flash-image', 'url' as const],
      [undefined, undefined],
    ])('of %s are PNGs as %s', async (model, response_format) => {
      const { data, created } = await client.images.generate({
        prompt,
        ...(model && { model }),
        ...(response_format && { response_format }),
      })
      expect(data).toHaveLength(1)
      expect(Math.abs(created - Date.now() / 1_000)).toBeLessThan(60)
      const { b64_json, url } = data![0]!
      expect([b64_json === undefined, url === undefined]).toEqual([
        response_format !== 'b64_json',
        response_format === 'b64_json',
      ])
      const bytes = url ? await (await fetch(url)).arrayBuffer() : Buffer.from(b64_json!, 'base64')
      const path = pathOf(`${model}-${response_format}.png`)
      writeFileSync(path, new Uint8Array(bytes))
      expectKind(path, 'png')
    })

    it('are requested in the form of each provider', async () => {
      const ask = { prompt, size: '1024x1792' as const, quality: 'hd' as const, n: 2 }
      const { response } = await client.images.generate({ model: 'gpt-image-2', ...ask }).withResponse()
      expect(bodies('openai')).toEqual([
        { model: 'gpt-image-2', prompt, n: 1, size: '1024x1536', quality: 'high', output_format: 'png' },
      ])
      expect(response.headers.get('x-gateway-warnings')).toContain('clamped=')
      await client.images.generate({ model: 'gemini-2.5-flash-image', ...ask })
      expect(bodies('google')).toMatchObject([{ generationConfig: { imageConfig: { aspectRatio: '9:16' } } }])
    })
  })

  describe('speech', () => {
    it.each<[MediaKind | undefined, MediaKind, string]>([
      [undefined, 'mp3', 'audio/mpeg'],
      ['mp3', 'mp3', 'audio/mpeg'],
      ['opus', 'opus', 'audio/ogg'],
      ['aac', 'aac', 'audio/aac'],
      ['flac', 'flac', 'audio/flac'],
      ['wav', 'wav', 'audio/wav'],
    ])('as %s is a file of %s', async (format, kind, type) => {
      const response = await client.audio.speech.create({
        model: 'tts-1',
        voice: 'nova',
        input: 'Ça va 🙂',
        speed: 1.5,
        ...(format && { response_format: format as 'mp3' }),
      })
      expect(response.headers.get('content-type')).toBe(type)
      const path = pathOf(`speech-${String(format)}`)
      await streamTo(path, response)
      expectKind(path, kind)
      const asked = { model: 'tts-1', voice: 'nova', input: 'Ça va 🙂', speed: 1.5 }
      expect(bodies('openai')).toEqual([{ ...asked, ...(format && { response_format: format }) }])
    })
  })

  describe('transcriptions', () => {
    const content = noise(32_000)
    const text = 'This is a simulated transcription of Ça va.mp3.'
    const path = pathOf('Ça va.mp3')
    beforeAll(() => writeFileSync(path, content))

    const form = ({ bytes, headers }: FakeRequest): Promise<FormData> =>
      new Response(bytes as Uint8Array<ArrayBuffer>, {
        headers: { 'content-type': headers['content-type']! },
      }).formData()

    it.each([
      ['json', { text, usage: { type: 'duration', seconds: 2 } }],
      ['text', `${text}\n`],
      ['srt', `1\n00:00:00,000 --> 00:00:02,000\n${text}\n\n`],
      ['vtt', `WEBVTT\n\n00:00:00.000 --> 00:00:02.000\n${text}\n\n`],
    ] as const)('are returned as %s', async (response_format, answer) => {
      const got = await client.audio.transcriptions.create({
        model: 'whisper-1',
        file: createReadStream(path),
        response_format,
      })
      expect(got).toEqual(answer)
    })

    it('reach the upstream with file, name, language and prompt', async () => {
      const { text: got } = await client.audio.transcriptions.create({
        model: 'whisper-1',
        file: await library.toFile(content, 'Ça "va".m4a', { type: 'audio/x-m4a' }),
        language: 'fr',
        prompt: 'Salut, ça va 🙂 ?',
        temperature: 0.5,
      })
      expect(got).toMatch(/^This is a simulated transcription of /)
      const [request, ...more] = stack.upstreams.openai.requests
      expect(more).toEqual([])
      const { file, ...fields } = Object.fromEntries(await form(request!))
      expect(fields).toEqual({
        model: 'whisper-1',
        language: 'fr',
        prompt: 'Salut, ça va 🙂 ?',
        temperature: '0.5',
        response_format: 'verbose_json',
      })
      const sent = file as File
      expect([sent.name, sent.type]).toEqual(['Ça "va".m4a', 'audio/mp4'])
      expect(Buffer.from(await sent.arrayBuffer()).equals(content)).toBe(true)
    })
  })
})
