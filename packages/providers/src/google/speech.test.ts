import type { SpeechRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Given } from '../../../../test/support/upstream.js'
import { failure, latin1, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { googleRefusal } from '../testing/google-rules.js'
import { google, googleEndpoints } from './index.js'

const model = 'gemini-2.5-flash-preview-tts'
const request: SpeechRequest = { model, input: 'Hi', voice: 'nova', response_format: 'wav' }
const audio = (data: string, mimeType = 'audio/L16;codec=pcm;rate=24000') => ({ inlineData: { mimeType, data } })
const spoken = (parts: object[], more: object = {}): Given => ({
  body: { candidates: [{ content: { parts } }], ...more },
})
/** The samples 1 and -1. */
const samples = 'AQD//w=='

function speak(given: Given | Error, fields: Partial<SpeechRequest> = {}) {
  const at = scriptedUpstream(given)
  const provider = google({ apiKey: 'AIza-test', transport: at.transport, endpoints: googleEndpoints({ audio: true }) })
  return { ...at, answer: provider.speech!({ ...request, ...fields }, at.call) }
}

describe('the request', () => {
  it.each<[fields: object, voiceName: string, notes: object[]]>([
    [{ voice: 'alloy' }, 'Kore', []],
    [{ voice: 'echo' }, 'Charon', []],
    [{ voice: 'fable' }, 'Puck', []],
    [{ voice: 'onyx' }, 'Orus', []],
    [{ voice: 'nova' }, 'Aoede', []],
    [{ voice: 'shimmer' }, 'Leda', []],
    [{ voice: 'Zephyr' }, 'Zephyr', []],
    [{ voice: undefined }, 'Kore', []],
    [{ speed: 1, provider: 'google' }, 'Aoede', []],
    [{ speed: 1.5 }, 'Aoede', [{ field: 'speed', action: 'dropped' }]],
    [{ instructions: 'Softly' }, 'Aoede', [{ field: 'instructions', action: 'dropped' }]],
  ])('of %j has the voice %s', async (fields, voiceName, notes) => {
    const { answer, asked, notes: told } = speak(spoken([audio(samples)]), fields)
    await answer
    expect(asked).toMatchObject([
      { url: `https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent` },
    ])
    expect(asked[0]!.body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Hi' }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName } } },
      },
    })
    expect(googleRefusal(model, asked[0]!.body)).toBeUndefined()
    expect(told).toEqual(notes)
  })

  it.each(['mp3', 'opus', 'aac', 'flac', undefined] as const)('for %s is refused', async (response_format) => {
    const at = scriptedUpstream(spoken([audio(samples)]))
    const provider = google({ apiKey: 'x', transport: at.transport, endpoints: googleEndpoints({ audio: true }) })
    await expect((async () => provider.speech!({ ...request, response_format }, at.call))()).rejects.toMatchObject({
      status: 400,
      code: 'unsupported_parameter',
    })
    expect(at.asked).toEqual([])
  })
})

describe('the answer', () => {
  it('is a WAV file of its samples, byte for byte', async () => {
    const { contentType, body } = await speak(spoken([audio(samples)])).answer
    expect(contentType).toBe('audio/wav')
    expect(await latin1(body)).toBe(
      // The size is 40 bytes: 36 of the header and 4 of samples. 24,000 samples per second are 5dc0 in hexadecimal, 48,000 bytes bb80.
      'RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\xc0\x5d\0\0\x80\xbb\0\0\x02\0\x10\0data\x04\0\0\0\x01\0\xff\xff',
    )
  })

  it('joins its parts, and has the declared sample rate', async () => {
    const parts = [{ text: 'Well' }, audio('AQA=', 'audio/L16;rate=16000'), audio('//8=', 'audio/L16;rate=16000')]
    expect(await latin1((await speak(spoken(parts)).answer).body)).toBe(
      'RIFF\x28\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x80\x3e\0\0\0\x7d\0\0\x02\0\x10\0data\x04\0\0\0\x01\0\xff\xff',
    )
  })

  it('reports usage', async () => {
    const usageMetadata = {
      promptTokenCount: 2,
      candidatesTokenCount: 25,
      totalTokenCount: 27,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 25 }],
    }
    expect((await speak(spoken([audio(samples)], { usageMetadata })).answer).usage).toMatchObject({
      prompt_tokens: 2,
      completion_tokens: 25,
      completion_tokens_details: { audio_tokens: 25 },
    })
    expect((await speak(spoken([audio(samples)])).answer).usage).toBeUndefined()
  })

  it.each([
    ['SAFETY', { kind: 'status', status: 400, caller: true }],
    ['MAX_TOKENS', { kind: 'truncated', code: 'MAX_TOKENS' }],
  ])('that ends with %s fails, even with audio', async (finishReason, told) => {
    const candidates = [{ content: { parts: [audio(samples)] }, finishReason }]
    await expect(speak({ body: { candidates } }).answer).rejects.toMatchObject({ failure: told })
  })

  it.each<[what: string, body: unknown]>([
    ['no candidates', {}],
    ['a text only', { candidates: [{ content: { parts: [{ text: 'Hi' }] } }] }],
    ['no samples', { candidates: [{ content: { parts: [audio('')] } }] }],
    ['no base64', { candidates: [{ content: { parts: [audio('?')] } }] }],
    ['a picture', { candidates: [{ content: { parts: [audio(samples, 'image/png')] } }] }],
    ['a refusal', { candidates: [{ finishReason: 'OTHER' }] }],
    ['an HTML page', '<html>'],
  ])('with %s is malformed', async (_, body) =>
    expect(speak({ body }).answer).rejects.toMatchObject(senseless('google')),
  )

  it('with status 200 and an error is reported as one', async () => {
    const body = { error: { code: 429, message: 'Busy', status: 'RESOURCE_EXHAUSTED' } }
    await expect(speak({ body }).answer).rejects.toMatchObject(failure({ kind: 'status', status: 429 }, 'google'))
  })

  it.each(['SAFETY', 'PROHIBITED_CONTENT'])('that is %s is refused because of the text', async (reason) => {
    for (const body of [{ candidates: [{ finishReason: reason }] }, { promptFeedback: { blockReason: reason } }])
      await expect(speak({ body }).answer).rejects.toMatchObject(
        failure({ kind: 'status', status: 400, caller: true, accepted: true, code: reason }, 'google'),
      )
  })

  it('is not awaited once the call is aborted', async () => {
    const at = scriptedUpstream(spoken([audio(samples)]))
    at.abort(new Error('Enough'))
    const provider = google({ apiKey: 'x', transport: at.transport, endpoints: googleEndpoints({ audio: true }) })
    await expect(provider.speech!(request, at.call)).rejects.toThrow('Enough')
  })
})
