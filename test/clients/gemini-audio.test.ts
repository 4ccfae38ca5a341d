import { createUser, memoryKV } from '@turnpike/core'
import { createGateway } from '@turnpike/gateway'
import { createListener } from '@turnpike/http/node'
import { createRouter, google, googleEndpoints } from '@turnpike/providers'
import type { FakeUpstream } from '@turnpike/providers/testing'
import { fakeGoogle } from '@turnpike/providers/testing'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Host } from '../embed/setup.js'
import { serve } from '../embed/setup.js'
import { rejection } from '../support/failure.js'
import { noise } from '../support/forms.js'
import { expectKind } from '../support/media.js'
import type { OpenAIClient } from './openai-endpoints.js'
import { connect, libraries, streamTo, useFolder } from './openai-endpoints.js'

// A host of its own models and voices, in this process.

let host: Host
let key: string
let upstream: FakeUpstream
beforeAll(async () => {
  upstream = fakeGoogle()
  const kv = await memoryKV()
  const gateway = createGateway({
    router: createRouter({
      providers: [
        google({ apiKey: 'any', endpoints: googleEndpoints({ audio: true }), transport: upstream.transport }),
      ],
    }),
    kv,
    speechModels: ['gemini-2.5-flash-preview-tts'],
    voices: ['Puck', 'alloy'],
    transcriptionModels: ['gemini-2.5-flash'],
  })
  const user = await createUser(kv, {})
  key = (await gateway.keys.create(user.id, { name: 'audio', rateLimit: 1_000 })).key
  host = await serve(createListener(gateway))
})
afterEach(() => {
  upstream.requests.length = 0
})
afterAll(() => host.close())

const pathOf = useFolder()
const bodies = () => upstream.requests.map(({ body }) => body)

describe.each(libraries)('$name and a gateway with GEMINI_AUDIO', ({ library }) => {
  let client: OpenAIClient
  beforeEach(() => {
    client = connect(library, { url: `${host.url}/v1`, key })
  })
  const speak = (more: object) =>
    client.audio.speech.create({
      model: 'gemini-2.5-flash-preview-tts',
      voice: 'alloy',
      input: 'Hello',
      response_format: 'wav',
      ...more,
    })
  const transcribe = async (more: object) =>
    client.audio.transcriptions.create({
      model: 'gemini-2.5-flash',
      file: await library.toFile(noise(100_000), 'a.mp3'),
      ...more,
    })
  const expectRefusal = async (failing: Promise<unknown>, message: string): Promise<void> => {
    const error = await rejection(failing)
    expect(error).toBeInstanceOf(library.BadRequestError)
    expect((error as Error).message).toBe(`400 ${message}`)
    expect(upstream.requests).toEqual([])
  }

  it.each([
    ['alloy', 'Kore'],
    ['Puck', 'Puck'],
  ])('synthesises WAV with the voice %s', async (voice, voiceName) => {
    const response = await speak({ voice })
    expect(response.headers.get('content-type')).toBe('audio/wav')
    const path = pathOf(`${voice}.wav`)
    await streamTo(path, response)
    expectKind(path, 'wav')
    expect(bodies()).toMatchObject([
      { generationConfig: { speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } } } },
    ])
  })

  it('refuses unsupported formats', async () => {
    await expectRefusal(
      speak({ response_format: 'mp3' }),
      'Gemini speaks in WAV only; ask for "response_format": "wav"',
    )
    await expectRefusal(speak({ voice: 'nova' }), 'voice must be one of Puck, alloy')
    await expectRefusal(speak({ model: 'tts-1' }), 'model must be one of gemini-2.5-flash-preview-tts')
  })

  it.each(['json', 'text'])('transcribes as %s', async (response_format) => {
    const got = await transcribe({ response_format, language: 'de', prompt: 'Turnpike' })
    const text = response_format === 'json' ? got.text : String(got)
    expect(text).toMatch(/simulated/)
    expect(text.endsWith('\n')).toBe(response_format === 'text')
    const [body] = bodies() as {
      contents: { parts: [{ inlineData: { mimeType: string; data: string } }, { text: string }] }[]
    }[]
    const [{ inlineData }, { text: prompt }] = body!.contents[0]!.parts
    expect(inlineData.mimeType).toBe('audio/mpeg')
    expect(Buffer.from(inlineData.data, 'base64').equals(noise(100_000))).toBe(true)
    expect(prompt).toContain('"de"')
    expect(prompt).toContain('Turnpike')
  })

  it.each(['srt', 'vtt'])('refuses timestamps as %s', async (response_format) => {
    await expectRefusal(transcribe({ response_format }), 'Gemini gives no times; ask for json or text')
  })
})
