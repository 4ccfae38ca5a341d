import type { TranscriptionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Given } from '../../../../test/support/upstream.js'
import { failure, fileOf, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { googleRefusal } from '../testing/google-rules.js'
import { google, googleEndpoints } from './index.js'

const model = 'gemini-2.5-flash'
const said = (...parts: object[]): Given => ({ body: { candidates: [{ content: { parts } }] } })
const instruction = 'Write down what is said in this recording, word for word, and nothing else.'

function transcribe(given: Given | Error, fields: Partial<TranscriptionRequest> = {}) {
  const at = scriptedUpstream(given)
  const provider = google({ apiKey: 'AIza-test', transport: at.transport, endpoints: googleEndpoints({ audio: true }) })
  const request = { model, file: fileOf('audio'), ...fields } as TranscriptionRequest
  return { ...at, answer: provider.transcription!(request, at.call) }
}

describe('the request', () => {
  it.each<[fields: object, text: string, notes: object[]]>([
    [{}, instruction, []],
    [{ response_format: 'text', provider: 'google' }, instruction, []],
    [{ language: 'de' }, `${instruction}\nIt is in the language with the ISO 639-1 code "de".`, []],
    [{ prompt: 'Ünal' }, `${instruction}\nWhat comes before it, or words that may occur in it: Ünal`, []],
    [{ temperature: '0' }, instruction, [{ field: 'temperature', action: 'dropped' }]],
  ])('of %j has the file and an instruction', async (fields, text, notes) => {
    const { answer, asked, notes: told } = transcribe(said({ text: 'Hello' }), fields)
    await answer
    expect(asked).toMatchObject([
      { url: `https://generativelanguage.googleapis.com/v1beta/models/${model}:generateContent` },
    ])
    expect(asked[0]!.body).toEqual({
      contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'audio/mpeg', data: 'YXVkaW8=' } }, { text }] }],
    })
    expect(googleRefusal(model, asked[0]!.body)).toBeUndefined()
    expect(told).toEqual(notes)
  })

  it.each([0, 1, 24_575, 24_576, 24_577, 100_000])('contains the whole file of %i bytes', async (size) => {
    const bytes = Uint8Array.from({ length: size }, (_, i) => i % 251)
    const file = {
      ...fileOf(''),
      size,
      async *read() {
        for (let i = 0; i < size; i += 7000) yield bytes.subarray(i, i + 7000)
      },
    }
    const { answer, asked } = transcribe(said({ text: 'Hello' }), { file })
    await answer
    expect(asked[0]!.body).toMatchObject({
      contents: [{ parts: [{ inlineData: { data: Buffer.from(bytes).toString('base64') } }, {}] }],
    })
  })

  it.each(['srt', 'vtt'] as const)('for %s is refused', async (response_format) => {
    const { answer, asked } = transcribe(said({ text: 'Hello' }), { response_format })
    await expect(answer).rejects.toMatchObject({ status: 400, code: 'unsupported_parameter' })
    expect(asked).toEqual([])
  })
})

describe('the answer', () => {
  it('is its text without thoughts, and its usage', async () => {
    const parts = [{ text: 'Hm', thought: true }, { text: ' Hello ' }, {}, { text: 'world.\n' }]
    const usageMetadata = {
      promptTokenCount: 90,
      candidatesTokenCount: 3,
      totalTokenCount: 93,
      promptTokensDetails: [{ modality: 'AUDIO', tokenCount: 64 }],
    }
    expect(await transcribe({ body: { candidates: [{ content: { parts } }], usageMetadata } }).answer).toMatchObject({
      text: 'Hello world.',
      seconds: undefined,
      usage: { prompt_tokens: 90, completion_tokens: 3, prompt_tokens_details: { audio_tokens: 64 } },
    })
  })

  it('has no usage where none is reported, and can be empty', async () => {
    expect(await transcribe(said()).answer).toEqual({ text: '', seconds: undefined, usage: undefined })
  })

  it.each(['SAFETY', 'PROHIBITED_CONTENT'])('that is %s is refused because of the audio', async (reason) => {
    for (const body of [{ candidates: [{ finishReason: reason }] }, { promptFeedback: { blockReason: reason } }])
      await expect(transcribe({ body }).answer).rejects.toMatchObject(
        failure({ kind: 'status', status: 400, caller: true, accepted: true, code: reason }, 'google'),
      )
  })

  it.each([
    ['RECITATION', { kind: 'status', status: 400, caller: true }],
    ['MAX_TOKENS', { kind: 'truncated', code: 'MAX_TOKENS' }],
    ['OTHER', { kind: 'truncated', code: 'OTHER' }],
  ])('that ends with %s fails, even with text', async (finishReason, told) => {
    const candidates = [{ content: { parts: [{ text: 'Half of ' }] }, finishReason }]
    await expect(transcribe({ body: { candidates } }).answer).rejects.toMatchObject({ failure: told })
  })

  it.each<[what: string, body: unknown]>([
    ['no candidates', {}],
    ['no content', { candidates: [{ finishReason: 'OTHER' }] }],
    ['parts that are none', { candidates: [{ content: { parts: 'Hello' } }] }],
    ['an HTML page', '<html>'],
    ['nothing', ''],
  ])('with %s is malformed', async (_, body) =>
    expect(transcribe({ body }).answer).rejects.toMatchObject(senseless('google')),
  )

  it('with status 200 and an error is reported as one', async () => {
    const body = { error: { code: 503, message: 'Overloaded', status: 'UNAVAILABLE' } }
    await expect(transcribe({ body }).answer).rejects.toMatchObject(failure({ kind: 'status', status: 503 }, 'google'))
  })

  it('is not awaited once the call is aborted', async () => {
    const at = scriptedUpstream(said({ text: 'Hello' }))
    at.abort(new Error('Enough'))
    const provider = google({ apiKey: 'x', transport: at.transport, endpoints: googleEndpoints({ audio: true }) })
    await expect(provider.transcription!({ model, file: fileOf('audio') }, at.call)).rejects.toThrow('Enough')
    expect(at.asked).toEqual([])
  })
})
