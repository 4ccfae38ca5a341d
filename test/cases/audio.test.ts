import { expect, it } from 'vitest'
import { error } from '../faults/wire.js'
import { passTo, whole } from './pass.js'

const invalid = (message: string, code = 'invalid_body'): string => error('invalid_request_error', code, message)
const wrong = (message: string): string => invalid(message)

it('synthesises input within the limits, and reports an error in JSON', async () => {
  const path = '/v1/audio/speech'
  const url = 'https://api.openai.com/v1/audio/speech'
  const audio = { headers: { 'content-type': 'audio/mpeg' }, body: [Uint8Array.of(0xff, 0xf3), Uint8Array.of(0, 0x80)] }
  const request = { model: 'tts-1', input: 'Hi', voice: 'nova' }
  const rows: [fields: object, told: string][] = [
    [{ input: 'a'.repeat(4097) }, wrong('input must be at most 4096 characters')],
    [{ input: '😀'.repeat(4097) }, wrong('input must be at most 4096 characters')],
    [{ speed: 0.2 }, wrong('speed must be at least 0.25, not 0.2')],
    [{ speed: 4.01 }, wrong('speed must be at most 4, not 4.01')],
    [{ voice: 'nobody' }, invalid('voice must be one of alloy, echo, fable, onyx, nova, shimmer')],
  ]
  for (const [fields, told] of rows) {
    const { status, text, sent } = await passTo('openai', path, { ...request, ...fields }, audio)
    expect([status, text, sent]).toEqual([400, told, []])
  }

  for (const fields of [{}, { input: 'a'.repeat(4096) }, { input: '😀'.repeat(4096) }, { speed: 0.25 }, { speed: 4 }]) {
    const { status, headers, bytes, sent } = await passTo('openai', path, { ...request, ...fields }, audio)
    expect(sent.map(({ url, body }) => ({ url, body }))).toEqual([{ url, body: { ...request, ...fields } }])
    expect([status, headers.get('content-type'), bytes]).toEqual([200, 'audio/mpeg', '\xff\xf3\0\x80'])
  }

  const refusal = { error: { message: 'Too long', type: 'invalid_request_error', param: null, code: null } }
  for (const headers of [{}, { 'content-type': 'audio/mpeg' }]) {
    const refused = await passTo('openai', path, request, whole(refusal, 400, headers))
    expect(refused.sent.map(({ body }) => body)).toEqual([request])
    expect([refused.status, refused.text]).toEqual([400, invalid('Too long')])
    expect(refused.headers.get('content-type')).toBe('application/json; charset=utf-8')
    expect(refused.records).toEqual([])
  }
})

const MIB = 1024 * 1024

it('makes subtitles of what the upstream heard when, and sends a file with its name', async () => {
  const path = '/v1/audio/transcriptions'
  const sound = '\xff\xfb\0\r\n--'.repeat(30)
  const recording = new Uint8Array(Buffer.from(sound, 'latin1'))
  const form = (
    fields: Record<string, string>,
    name = 'talk.mp3',
    bytes: Uint8Array<ArrayBuffer> = recording,
    type = 'audio/mpeg',
  ) => {
    const made = new FormData()
    made.set('file', new File([bytes], name, { type }))
    for (const [field, value] of Object.entries({ model: 'whisper-1', ...fields })) made.set(field, value)
    return made
  }
  const sentForm = (fields: [string, string][], filename = 'talk.mp3') => [
    ['model', 'whisper-1'],
    ...fields,
    ['file', { filename, type: 'audio/mpeg', bytes: sound }],
  ]
  const srt = '1\n00:00:00,000 --> 00:00:02,500\nHello — world\n\n'
  const vtt = 'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nHello — world\n\n'
  const segments = [{ id: 0, start: 0, end: 2.5, text: ' Hello — world' }]
  const verbose = whole({ task: 'transcribe', language: 'english', duration: 2.5, text: 'Hello', segments })

  const hints = { language: 'en', prompt: 'Names: Ünal' }
  const rows: [fields: Record<string, string>, answer: typeof verbose, asked: string, type: string, told: string][] = [
    [{ response_format: 'srt' }, verbose, 'verbose_json', 'application/x-subrip; charset=utf-8', srt],
    [{ response_format: 'vtt' }, verbose, 'verbose_json', 'text/vtt; charset=utf-8', vtt],
    [{ response_format: 'text' }, verbose, 'verbose_json', 'text/plain; charset=utf-8', 'Hello\n'],
    [
      { response_format: 'json' },
      verbose,
      'verbose_json',
      'application/json; charset=utf-8',
      '{"text":"Hello","usage":{"type":"duration","seconds":3}}',
    ],
  ]
  for (const [fields, answer, asked, type, told] of rows) {
    const { status, headers, text, sent } = await passTo('openai', path, form({ ...hints, ...fields }), answer)
    expect(sent.map(({ url, body }) => ({ url, body }))).toEqual([
      {
        url: 'https://api.openai.com/v1/audio/transcriptions',
        body: sentForm([...Object.entries(hints), ['response_format', asked]]),
      },
    ])
    expect([status, headers.get('content-type'), text]).toEqual([200, type, told])
  }

  for (const name of ['talk.MP3', 'Größe "1".mpga', 'a.b.mpeg']) {
    const { sent } = await passTo('openai', path, form({}, name), verbose)
    expect(sent.map(({ body }) => body)).toEqual([sentForm([['response_format', 'verbose_json']], name)])
  }
  // What comes after the last dot is no extension, and the type tells the format.
  const named: [name: string, sent: string][] = [
    ['Meeting 10.30', 'Meeting 10.30.mp3'],
    ['talk', 'talk.mp3'],
    ['talk.', 'talk.mp3'],
  ]
  for (const [name, filename] of named) {
    const { status, sent } = await passTo('openai', path, form({}, name), verbose)
    expect([status, sent.map(({ body }) => body)]).toEqual([
      200,
      [sentForm([['response_format', 'verbose_json']], filename)],
    ])
  }

  const most = form({}, 'talk.mp3', new Uint8Array(25 * MIB))
  expect((await passTo('openai', path, most, verbose)).status).toBe(200)
  const missing = form({})
  missing.delete('file')
  const refused: [request: FormData, told: string][] = [
    [
      form({}, 'talk.mp3', new Uint8Array(25 * MIB + 1)),
      invalid('The file is larger than 26214400 bytes', 'request_too_large'),
    ],
    [missing, invalid('The form has no file "file"')],
    [form({}, 'talk.ogg', recording, 'audio/ogg'), invalid('file must be one of mp3, mp4, mpeg, mpga, m4a, wav, webm')],
    [form({}, 'talk.mp3', new Uint8Array(0)), invalid('The file is empty')],
  ]
  for (const [request, told] of refused) {
    const { status, text, sent } = await passTo('openai', path, request, verbose)
    expect([status, text, sent]).toEqual([400, told, []])
  }
})
