import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Transport } from '../upstream/transport.js'
import { fetchTransport } from '../upstream/transport.js'
import { fakeOpenAI } from './fake-openai.js'
import { openaiSpeechRefusal } from './openai-speech.js'
import { openaiTranscriptionRefusal } from './openai-transcriptions.js'
import { silence } from './silence.js'

const speechRefusal = (fields: object) =>
  openaiSpeechRefusal({ model: 'gpt-4o-mini-tts', input: 'Hi', voice: 'alloy', ...fields })

/** A form with default fields and `fields`; undefined omits a default. */
function form(fields: Record<string, string | Blob | undefined> = {}, name = 'a.mp3'): FormData {
  const result = new FormData()
  const all = { model: 'whisper-1', file: new Blob([new Uint8Array(20_000)]), ...fields }
  for (const [key, value] of Object.entries(all))
    if (typeof value === 'string') result.append(key, value)
    else if (value) result.append(key, value, name)
  return result
}

describe('OpenAI speaks', () => {
  it.each<[what: string, fields: object]>([
    ['a text', {}],
    ['4,096 characters', { input: '😀'.repeat(4_096) }],
    ['the slowest', { speed: 0.25 }],
    ['the fastest', { speed: 4 }],
    ['null for absent', { speed: null, response_format: null }],
    ['with a voice that only this model has', { voice: 'verse', instructions: 'Whisper' }],
    ['with tts-1', { model: 'tts-1', voice: 'shimmer', response_format: 'pcm' }],
  ])('%s', (_, fields) => expect(speechRefusal(fields)).toBeUndefined())
})

describe('OpenAI refuses to speak', () => {
  it.each<[what: string, fields: object, message: string, param: string | null, code: string | null]>([
    ['provider', { provider: 'x' }, "Unknown parameter: 'provider'.", 'provider', 'unknown_parameter'],
    ['an unknown model', { model: 'tts-2' }, "The model 'tts-2' does not exist", null, 'model_not_found'],
    ['no text', { input: undefined }, "Missing required parameter: 'input'.", 'input', 'missing_required_parameter'],
    ['an empty text', { input: '' }, "Invalid 'input': empty string.", 'input', 'string_below_min_length'],
    [
      '4,097 characters',
      { input: 'x'.repeat(4_097) },
      'maximum length 4096, but got a string with length 4097',
      'input',
      'string_above_max_length',
    ],
    ['no voice', { voice: null }, "Missing required parameter: 'voice'.", 'voice', 'missing_required_parameter'],
    ['an unknown voice', { voice: 'Kore' }, "Invalid value: 'Kore'.", 'voice', 'invalid_value'],
    ['a voice that tts-1 lacks', { model: 'tts-1', voice: 'ballad' }, "'ballad'", 'voice', 'invalid_value'],
    ['an unknown format', { response_format: 'ogg' }, "Invalid value: 'ogg'.", 'response_format', 'invalid_value'],
    ['too slow', { speed: 0.2 }, "Invalid 'speed': expected a value between 0.25 and 4, but got 0.2", 'speed', null],
    ['too fast', { speed: 4.1 }, "Invalid 'speed'", 'speed', null],
  ])('%s', (_, fields, message, param, code) =>
    expect(speechRefusal(fields)).toMatchObject({ message: expect.stringContaining(message) as string, param, code }),
  )

  it('no object', () => expect(openaiSpeechRefusal([])).toMatchObject({ code: null }))
})

describe('OpenAI transcribes', () => {
  it.each<[what: string, given: FormData]>([
    ['a file', form()],
    ['an extension in upper case', form({}, 'my.song.WAV')],
    ['25 MiB', form({ file: new Blob([new Uint8Array(26_214_400)]) })],
    ['with all fields', form({ language: 'de', prompt: 'x', response_format: 'srt', temperature: '1' })],
    ['with words', form({ response_format: 'verbose_json', 'timestamp_granularities[]': 'word' })],
    ['text of gpt-4o-transcribe', form({ model: 'gpt-4o-transcribe', response_format: 'text' })],
  ])('%s', (_, given) => expect(openaiTranscriptionRefusal(given)).toBeUndefined())
})

describe('OpenAI refuses to transcribe', () => {
  const formats = "Invalid file format. Supported formats: ['flac', 'm4a', 'mp3', 'mp4', 'mpeg', 'mpga', 'ogg', 'wav'"
  it.each<[what: string, given: FormData, message: string, param: string | null, code: string | null]>([
    ['provider', form({ provider: 'x' }), "Unknown parameter: 'provider'.", 'provider', 'unknown_parameter'],
    ['no model', form({ model: undefined }), 'you must provide a model parameter', null, null],
    ['an unknown model', form({ model: 'gpt-4o' }), "The model 'gpt-4o' does not exist", null, 'model_not_found'],
    ['no file', form({ file: undefined }), "Missing required parameter: 'file'.", 'file', 'missing_required_parameter'],
    ['a file without a name', form({ file: 'RIFF' }), formats, 'file', null],
    ['another extension', form({}, 'a.txt'), formats, 'file', null],
    ['no extension', form({}, 'blob'), formats, 'file', null],
    ['an empty file', form({ file: new Blob([]) }), 'Audio file is too short.', 'file', 'audio_too_short'],
    [
      'an unknown format',
      form({ response_format: 'xml' }),
      "Invalid value: 'xml'.",
      'response_format',
      'invalid_value',
    ],
    [
      'subtitles of gpt-4o-mini-transcribe',
      form({ model: 'gpt-4o-mini-transcribe', response_format: 'srt' }),
      "response_format 'srt' is not compatible with model 'gpt-4o-mini-transcribe'. Use 'json' or 'text' instead.",
      'response_format',
      'unsupported_value',
    ],
    [
      'a language by its name',
      form({ language: 'english' }),
      "Invalid language 'english'.",
      'language',
      'invalid_language_format',
    ],
    ['too hot', form({ temperature: '1.1' }), "Invalid 'temperature'", 'temperature', null],
    ['no number', form({ temperature: 'hot' }), "Invalid 'temperature'", 'temperature', null],
    [
      'unknown times',
      form({ response_format: 'verbose_json', 'timestamp_granularities[]': 'letter' }),
      "Invalid value: 'letter'.",
      'timestamp_granularities[]',
      'invalid_value',
    ],
    [
      'times of plain JSON',
      form({ 'timestamp_granularities[]': 'word' }),
      'timestamp_granularities are only supported',
      'timestamp_granularities[]',
      null,
    ],
  ])('%s', (_, given, message, param, code) =>
    expect(openaiTranscriptionRefusal(given)).toMatchObject({
      message: expect.stringContaining(message) as string,
      param,
      code,
    }),
  )
})

describe.each(['in process', 'over HTTP'])('the fake’s audio %s', (way) => {
  const fake = fakeOpenAI()
  let transport: Transport = fake.transport
  let origin = 'http://fake'
  let close = async (): Promise<void> => undefined
  beforeAll(async () => {
    if (way === 'in process') return
    const server = await fake.listen()
    ;({ url: origin, close } = server)
    transport = fetchTransport()
  })
  afterAll(() => close())

  async function send(path: string, type: string, body: string | ReadableStream<Uint8Array>) {
    const { signal } = new AbortController()
    const headers = { authorization: 'Bearer any', 'content-type': type }
    const answer = await transport({ url: `${origin}/v1/audio/${path}`, method: 'POST', headers, body, signal })
    const pieces: Uint8Array[] = []
    for await (const piece of answer.body) pieces.push(piece)
    const bytes = Buffer.concat(pieces)
    return { status: answer.status, type: answer.header('content-type'), pieces, bytes, text: bytes.toString() }
  }

  const speak = (fields: object) =>
    send('speech', 'application/json', JSON.stringify({ model: 'tts-1', input: 'Hi', voice: 'alloy', ...fields }))

  const transcribe = (fields: Record<string, string | Blob | undefined> = {}, name?: string) => {
    const encoded = new Response(form(fields, name))
    return send('transcriptions', encoded.headers.get('content-type')!, encoded.body!)
  }

  it.each<[format: keyof typeof silence, type: string, length: number, start: string]>([
    ['mp3', 'audio/mpeg', 4_032, 'fff344c400000000'],
    ['opus', 'audio/opus', 326, '4f67675300020000'],
    ['aac', 'audio/aac', 264, 'fff1584001 7ffc00'],
    ['flac', 'audio/flac', 55, '664c614380000022'],
    ['wav', 'audio/wav', 48_044, '52494646a4bb0000'],
    ['pcm', 'audio/pcm', 48_000, '0000000000000000'],
  ])('speaks %s', async (response_format, type, length, start) => {
    const spoken = await speak({ response_format })
    expect(spoken).toMatchObject({ status: 200, type })
    expect(spoken.bytes).toHaveLength(length)
    expect(spoken.bytes.toString('hex', 0, 8)).toBe(start.replace(' ', ''))
    if (way === 'in process') expect(spoken.pieces).toHaveLength(4)
  })

  it('refuses speech in JSON', async () => {
    const { status, type, text } = await speak({ voice: 'Kore' })
    expect([status, type]).toEqual([400, 'application/json'])
    expect(JSON.parse(text)).toMatchObject({ error: { type: 'invalid_request_error', param: 'voice' } })
  })

  // The fake transcribes 20,000 bytes as 1.25 seconds.
  it('transcribes in the requested format', async () => {
    const text = 'This is a simulated transcription of é b.mp3.'
    const formatted = async (response_format: string) => transcribe({ response_format }, 'é b.mp3')
    expect(JSON.parse((await formatted('json')).text)).toEqual({ text, usage: { type: 'duration', seconds: 2 } })
    expect(await formatted('text')).toMatchObject({ type: 'text/plain; charset=utf-8', text: `${text}\n` })
    expect((await formatted('srt')).text).toBe(`1\n00:00:00,000 --> 00:00:01,250\n${text}\n\n`)
    expect((await formatted('vtt')).text).toBe(`WEBVTT\n\n00:00:00.000 --> 00:00:01.250\n${text}\n\n`)
    const { segments, ...rest } = JSON.parse((await formatted('verbose_json')).text) as { segments: object[] }
    expect(rest).toEqual({
      task: 'transcribe',
      language: 'english',
      duration: 1.25,
      text,
      usage: { type: 'duration', seconds: 2 },
    })
    expect(segments).toMatchObject([{ id: 0, start: 0, end: 1.25, text }])
  })

  it('returns timestamps of words', async () => {
    const fields = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word', language: 'de' }
    const given = JSON.parse((await transcribe(fields)).text) as { words: object[] }
    expect(given).toMatchObject({ language: 'german', duration: 1.25 })
    expect(given).not.toHaveProperty('segments')
    expect(given.words).toHaveLength(7)
    expect(given.words[0]).toEqual({ word: 'This', start: 0, end: 1.25 / 7 })
    expect(given.words.at(-1)).toEqual({ word: 'a.mp3.', start: (1.25 * 6) / 7, end: 1.25 })
  })

  it('counts tokens of gpt-4o-transcribe', async () => {
    const { text } = await transcribe({ model: 'gpt-4o-transcribe', prompt: 'Eight ch' })
    expect(JSON.parse(text)).toEqual({
      text: 'This is a simulated transcription of a.mp3.',
      usage: {
        type: 'tokens',
        input_tokens: 15,
        output_tokens: 11,
        total_tokens: 26,
        input_token_details: { text_tokens: 2, audio_tokens: 13 },
      },
    })
  })

  it('refuses a file that is too large, and an invalid form', async () => {
    const large = await transcribe({ file: new Blob([new Uint8Array(26_214_401)]) })
    expect(large.status).toBe(413)
    expect(JSON.parse(large.text)).toEqual({
      error: {
        message: '413: Maximum content size limit (26214400) exceeded (26214401 bytes read)',
        type: 'server_error',
        param: null,
        code: null,
      },
    })
    const json = await send('transcriptions', 'application/json', '{}')
    expect(JSON.parse(json.text)).toMatchObject({ error: { code: 'unsupported_content_type' } })
    const broken = await send('transcriptions', 'multipart/form-data; boundary=x', 'no form')
    expect(broken.status).toBe(400)
    expect(JSON.parse(broken.text)).toMatchObject({ error: { message: 'Could not parse multipart form' } })
  })
})
