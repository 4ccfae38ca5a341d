import type { TranscriptionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Given } from '../../../../test/support/upstream.js'
import { failure, fileOf, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { openaiTranscriptionRefusal } from '../testing/openai-transcriptions.js'
import { openai } from './index.js'

const json = { text: 'Hello', duration: 2.5 }

function transcribe(given: Given | Error, fields: Partial<TranscriptionRequest> = {}) {
  const at = scriptedUpstream(given)
  const provider = openai({ apiKey: 'sk-test', transport: at.transport })
  const file = fileOf('audio')
  const request = { model: 'whisper-1', file, ...fields } as TranscriptionRequest
  return { ...at, provider, request, file, answer: provider.transcription!(request, at.call) }
}

/** The fields of the sent form, which is checked against the rules of OpenAI. */
async function formOf({ asked }: ReturnType<typeof transcribe>) {
  const [{ headers, body }] = asked as [(typeof asked)[0]]
  const bytes = Buffer.from(body as string, 'latin1')
  const form = await new Response(bytes, { headers: { 'content-type': headers['content-type']! } }).formData()
  expect(openaiTranscriptionRefusal(form)).toBeUndefined()
  const file = form.get('file') as File
  expect([file.name, file.type, await file.text()]).toEqual(['talk.mp3', 'audio/mpeg', 'audio'])
  form.delete('file')
  return [...form]
}

describe('the request', () => {
  const hints = { language: 'en', prompt: 'Names: Ünal' }
  it.each<[fields: object, sent: [string, string][], accept?: string]>([
    [
      {},
      [
        ['model', 'whisper-1'],
        ['response_format', 'verbose_json'],
      ],
    ],
    [
      { ...hints, provider: 'openai' },
      [['model', 'whisper-1'], ...Object.entries(hints), ['response_format', 'verbose_json']],
    ],
    [
      { response_format: 'text' },
      [
        ['model', 'whisper-1'],
        ['response_format', 'verbose_json'],
      ],
    ],
    [
      { response_format: 'srt' },
      [
        ['model', 'whisper-1'],
        ['response_format', 'srt'],
      ],
      'text/plain',
    ],
    [
      { response_format: 'vtt' },
      [
        ['model', 'whisper-1'],
        ['response_format', 'vtt'],
      ],
      'text/plain',
    ],
    [
      { model: 'gpt-4o-transcribe', response_format: 'text' },
      [
        ['model', 'gpt-4o-transcribe'],
        ['response_format', 'json'],
      ],
    ],
    [
      { temperature: '0.5' },
      [
        ['model', 'whisper-1'],
        ['temperature', '0.5'],
        ['response_format', 'verbose_json'],
      ],
    ],
  ])('of %j is a multipart form', async (fields, sent, accept = 'application/json') => {
    const at = transcribe(accept === 'text/plain' ? { type: accept, body: 'Hello' } : { body: json }, fields)
    await at.answer
    expect(at.asked).toMatchObject([
      { url: 'https://api.openai.com/v1/audio/transcriptions', headers: { authorization: 'Bearer sk-test', accept } },
    ])
    expect(await formOf(at)).toEqual(sent)
    expect(at.notes).toEqual([])
  })

  it('omits timestamps of words, which no supported format has, with a note', async () => {
    const at = transcribe({ body: json }, { 'timestamp_granularities[]': ['word', 'segment'] })
    await at.answer
    expect(at.notes).toEqual([{ field: 'timestamp_granularities', action: 'dropped' }])
    expect(await formOf(at)).toEqual([
      ['model', 'whisper-1'],
      ['response_format', 'verbose_json'],
    ])
  })

  it('can be sent again', async () => {
    const { provider, request, call, answer, asked, file } = transcribe({ body: json })
    await answer
    await provider.transcription!(request, call)
    expect([asked.length, file.reads]).toEqual([2, 2])
  })
})

describe('the answer', () => {
  it.each<[what: string, body: object, seconds: number | undefined]>([
    ['a duration', json, 2.5],
    ['a duration in words', { text: 'Hello', duration: '2.5' }, 2.5],
    ['usage in seconds', { text: 'Hello', usage: { type: 'duration', seconds: 3 } }, 3],
    ['both', { ...json, usage: { type: 'duration', seconds: 3 } }, 2.5],
    ['a duration of 0', { text: 'Hello', duration: 0 }, 0],
    ['neither', { text: 'Hello' }, undefined],
    ['no number', { text: 'Hello', duration: 'long', usage: null }, undefined],
    ['less than nothing', { text: 'Hello', duration: -1 }, undefined],
  ])('with %s has a duration in seconds', async (_, body, seconds) =>
    expect(await transcribe({ body }).answer).toEqual({ text: 'Hello', seconds, usage: undefined }),
  )

  it('has the reported tokens', async () => {
    const usage = { type: 'tokens', input_tokens: 14, output_tokens: 45, input_token_details: { audio_tokens: 12 } }
    const told = { prompt_tokens: 14, completion_tokens: 45, total_tokens: 59 }
    expect(await transcribe({ body: { text: 'Hello', usage } }).answer).toEqual({
      text: 'Hello',
      seconds: undefined,
      usage: { ...told, prompt_tokens_details: { audio_tokens: 12 } },
    })
    const bare = await transcribe({ body: { text: 'Hello', usage: { ...usage, input_token_details: null } } }).answer
    expect(bare.usage).toEqual({ ...told, prompt_tokens_details: { audio_tokens: 0 } })
  })

  it.each<[document: string, format: 'srt' | 'vtt', seconds: number | undefined]>([
    ['1\n00:00:00,000 --> 00:00:02,500\nHello\n\n', 'srt', 2.5],
    ['1\n00:00:00,000 --> 00:00:02,500\nHello\n\n2\n00:00:03,000 --> 01:02:03,004\nBye\n\n', 'srt', 3723.004],
    ['1\r\n00:00:00,000 --> 00:00:02,500\r\nHello\r\n', 'srt', 2.5],
    ['WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nHello\n\n', 'vtt', 2.5],
    ['WEBVTT\n\n00:00.000 --> 01:02.500 align:start\nHello\n\n', 'vtt', 62.5],
    ['WEBVTT\n\n00:00.000 --> 100:00:00.000\nHello\n\n', 'vtt', 360_000],
    ['WEBVTT\n\n', 'vtt', undefined],
    ['', 'srt', undefined],
  ])('%j is passed on unchanged, and its duration is the end of the last cue', async (text, response_format, seconds) =>
    expect(await transcribe({ type: 'text/plain', body: text }, { response_format }).answer).toEqual({
      text,
      seconds,
      usage: undefined,
    }),
  )

  it.each<[what: string, body: unknown]>([
    ['no text', {}],
    ['a text that is none', { text: 1 }],
    ['a list', []],
    ['an HTML page', '<html>'],
    ['nothing', ''],
  ])('with %s is malformed', async (_, body) => expect(transcribe({ body }).answer).rejects.toMatchObject(senseless()))

  it('with an error status is reported with it, for any format', async () => {
    const body = { error: { message: 'Audio file is too short', code: 'audio_too_short' } }
    for (const response_format of ['json', 'srt'] as const)
      await expect(transcribe({ status: 400, body }, { response_format }).answer).rejects.toMatchObject({
        ...failure({ kind: 'status', status: 400, caller: true, accepted: false }),
        message: 'Audio file is too short',
      })
  })

  it.each<[type: string, body: unknown]>([
    ['application/json', json],
    ['application/json; charset=utf-8', '"WEBVTT"'],
    ['text/html', '<html>'],
    ['Application/XHTML+XML', '<html>'],
  ])('of the type %s is not subtitles', async (type, body) => {
    for (const response_format of ['srt', 'vtt'] as const)
      await expect(transcribe({ type, body }, { response_format }).answer).rejects.toMatchObject(senseless())
  })

  it('without a type, or with an unknown one, can be subtitles', async () => {
    for (const type of [undefined, 'application/x-subrip', 'application/octet-stream'])
      expect(await transcribe({ type, body: 'WEBVTT' }, { response_format: 'vtt' }).answer).toMatchObject({
        text: 'WEBVTT',
      })
  })

  it('with status 200 and an error is reported as one, for any format', async () => {
    const body = { error: { code: 503, message: 'Overloaded' } }
    for (const response_format of ['json', 'text', 'srt'] as const)
      await expect(transcribe({ body }, { response_format }).answer).rejects.toMatchObject(
        failure({ kind: 'status', status: 503, accepted: false }),
      )
  })

  it('that breaks is truncated', async () => {
    const body = [Buffer.from('1\n00:'), new Error('ECONNRESET')]
    for (const response_format of ['json', 'srt'] as const)
      await expect(transcribe({ body }, { response_format }).answer).rejects.toMatchObject(
        failure({ kind: 'truncated', accepted: true }),
      )
  })

  it('is not awaited once the call is aborted', async () => {
    const { provider, request, call, answer, abort, asked } = transcribe({ body: json })
    await answer
    abort(new Error('Enough'))
    await expect(provider.transcription!(request, call)).rejects.toThrow('Enough')
    expect(asked).toHaveLength(1)
  })
})
