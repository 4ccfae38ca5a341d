import { fixedPrices, priceTable } from '@turnpike/core'
import { createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import { fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { errorOf, testGateway } from '../support/gateway.js'

describe('a group with unfit members', () => {
  const tts = 'gemini-2.5-flash-preview-tts'
  const listener = 'gemini-2.5-flash'

  async function groups() {
    const upstreams = { google: fakeGoogle(), openai: fakeOpenAI() }
    const router = createRouter({
      providers: [
        google({ apiKey: 'x', transport: upstreams.google.transport, endpoints: googleEndpoints({ audio: true }) }),
        openai({ apiKey: 'x', transport: upstreams.openai.transport }),
      ],
      prices: fixedPrices(
        priceTable({
          [`google/${tts}`]: { input: 0, output_audio: 0 },
          'openai/tts-1': { characters: 15 },
          [`google/${listener}`]: { input: 0, output: 0 },
          'openai/whisper-1': { seconds: 100 },
          'google/gemini-embedding-001': { input: 0 },
          'openai/text-embedding-3-small': { input: 0.02 },
        }),
      ),
      groups: {
        speak: [tts, 'tts-1'],
        spoken: [tts],
        listen: [listener, 'whisper-1'],
        vectors: ['gemini-embedding-001', 'text-embedding-3-small'],
      },
    })
    const models = ['speak', 'spoken', 'listen', tts, listener]
    return testGateway({ router, speechModels: models, transcriptionModels: models })
  }
  const requests = {
    speech: (fields: object) => ({ model: 'speak', input: 'Hi', ...fields }),
    transcriptions: (fields: object) => {
      const form = new FormData()
      form.set('file', new File(['audio'], 'talk.mp3'))
      for (const [name, value] of Object.entries({ model: 'listen', ...fields })) form.set(name, value as string)
      return form
    },
    embeddings: (fields: object) => ({ model: 'vectors', input: 'Hi', ...fields }),
  }
  type Endpoint = keyof typeof requests
  const ask = async (endpoint: Endpoint, fields: object) => {
    const { send } = await groups()
    const path = endpoint === 'embeddings' ? '/v1/embeddings' : `/v1/audio/${endpoint}`
    return send('POST', path, requests[endpoint](fields), { headers: { 'x-gateway-explain': 'true' } })
  }

  it.each<[endpoint: Endpoint, fields: object, provider: string]>([
    ['speech', { response_format: 'wav' }, 'google'],
    ['speech', { response_format: 'mp3' }, 'openai'],
    ['speech', {}, 'openai'],
    ['transcriptions', {}, 'google'],
    ['transcriptions', { response_format: 'text' }, 'google'],
    ['transcriptions', { response_format: 'srt' }, 'openai'],
    ['transcriptions', { response_format: 'vtt' }, 'openai'],
    ['embeddings', {}, 'google'],
    ['embeddings', { input: ['Hi', 'Ho'] }, 'google'],
    ['embeddings', { input: [1, 2] }, 'openai'],
    ['embeddings', { input: [[1], [2]] }, 'openai'],
  ])('%s with %j is served by %s', async (endpoint, fields, provider) => {
    for (const named of [{}, { provider: 'auto' }]) {
      const response = await ask(endpoint, { ...fields, ...named })
      await response.arrayBuffer()
      expect([response.status, response.headers.get('x-gateway-provider')]).toEqual([200, provider])
    }
  })

  it('names removed candidates where prices are compared', async () => {
    const response = await ask('speech', { provider: 'auto' })
    expect(response.headers.get('x-gateway-considered')).toBe(`google/${tts}=0(unfit); openai/tts-1=0.00003`)
  })

  it('calls an unfit candidate where there is no other, and returns its error', async () => {
    const alone = await ask('speech', { model: 'spoken' })
    expect([alone.status, await errorOf(alone)]).toMatchObject([
      400,
      { code: 'unsupported_parameter', message: expect.stringContaining('WAV only') as string },
    ])
    const cheapest = await ask('speech', { model: 'spoken', provider: 'auto' })
    expect([cheapest.status, await errorOf(cheapest)]).toMatchObject([400, { code: 'unsupported_parameter' }])
  })
})
