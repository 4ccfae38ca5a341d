import type { TranscriptionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { Given } from '../../../../test/support/upstream.js'
import { failure, fileOf, scriptedUpstream, senseless } from '../../../../test/support/upstream.js'
import { openaiTranscriptionRefusal } from '../testing/openai-transcriptions.js'
import { openai } from './index.js'

const json = { text: 'Hello', duration: 2.5, segments: [{ start: 0, end: 1.5, text: ' Hello' }] }

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
  it.each<[fields: object, sent: [string, string][]]>([
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
        ['response_format', 'verbose_json'],
      ],
    ],
    [
      { response_format: 'vtt' },
      [
        ['model', 'whisper-1'],
        ['response_format', 'verbose_json'],
      ],
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
  ])('of %j is a multipart form', async (fields, sent) => {
    const at = transcribe({ body: json }, fields)
    await at.answer
    expect(at.asked).toMatchObject([
      {
        url: 'https://api.openai.com/v1/audio/transcriptions',
        headers: { authorization: 'Bearer sk-test', accept: 'application/json' },
      },
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

  it('threat 43: has the seconds and the tokens that Mistral tells', async () => {
    const usage = { prompt_audio_seconds: 203, prompt_tokens: 4, total_tokens: 3_264, completion_tokens: 635 }
    expect(await transcribe({ body: { text: 'Hello', usage } }).answer).toEqual({
      text: 'Hello',
      seconds: 203,
      usage: {
        prompt_tokens: 2_629,
        completion_tokens: 635,
        total_tokens: 3_264,
        prompt_tokens_details: { audio_tokens: 2_625 },
      },
    })
  })

  it.each([
    [0.5, 10],
    [12.5, 12.5],
  ])('threat 43: of %s seconds at Groq costs %s', async (duration, seconds) => {
    const at = scriptedUpstream({ body: { text: 'Hello', duration } })
    const provider = openai({ apiKey: 'k', baseURL: 'https://api.groq.com/openai/v1', transport: at.transport })
    const request = { model: 'whisper-large-v3', file: fileOf('audio') }
    expect(await provider.transcription!(request, at.call)).toMatchObject({ seconds })
  })

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

  it.each<[format: 'srt' | 'vtt', document: string]>([
    ['srt', '1\n00:00:00,000 --> 00:00:02,500\nHello\n\n2\n01:02:03,004 --> 100:00:00,000\na -> b\nc\n\n'],
    ['vtt', 'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nHello\n\n01:02:03.004 --> 100:00:00.000\na -> b\nc\n\n'],
  ])('as %s is made from the segments, and has the duration of the recording', async (response_format, text) => {
    const segments = [
      { start: 0, end: 2.5, text: ' Hello' },
      { start: 3_723.0044, end: 360_000, text: ' a --> b\n\n c ' },
    ]
    const body = { text: 'Hello', duration: 400_000, segments }
    expect(await transcribe({ body }, { response_format }).answer).toEqual({ text, seconds: 400_000, usage: undefined })
    const silence = { text: '', duration: 7, segments: [] }
    expect(await transcribe({ body: silence }, { response_format }).answer).toMatchObject({
      text: response_format === 'srt' ? '' : 'WEBVTT\n\n',
      seconds: 7,
    })
  })

  it.each([
    undefined,
    null,
    'Hello',
    [null],
    [{ start: 0, end: 1 }],
    [{ start: -1, end: 1, text: '' }],
    [{ start: '0' }],
    // More than is said in days.
    Array.from({ length: 50 }, () => ({ start: 0, end: 1, text: '\n'.repeat(100_000) })),
  ])('with the segments %.40j is no subtitles', async (segments) => {
    const answer = transcribe({ body: { text: 'Hello', segments } }, { response_format: 'vtt' }).answer
    await expect(answer).rejects.toMatchObject(senseless())
  })

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
