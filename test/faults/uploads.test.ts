import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Part } from '../support/forms.js'
import { BOUNDARY, field, filePart, formBytes, formType, inChunks, noise } from '../support/forms.js'
import { runtime } from '../support/runtime.js'
import { refusal, upload, useUploads } from '../support/uploads.js'

const at = useUploads()

const model = field('model', 'whisper-1')
const audio = filePart('some audio')

const send = (parts: Part[], headers = {}) => upload(at.server, [formBytes(parts)], headers)

async function expectRefusal(reply: ReturnType<typeof send>, message: string): Promise<void> {
  const { status, headers, body } = await reply
  expect([status, body]).toEqual([400, refusal(message)])
  expect(headers['content-type']).toBe('application/json; charset=utf-8')
  expect(at.vendor.calls).toBe(0)
}

describe(`a form on ${runtime}`, () => {
  it.each([
    ['before the file', [model, field('language', 'de'), field('prompt', 'Ça va 🙂'), audio]],
    ['after the file', [audio, model, field('language', 'de'), field('prompt', 'Ça va 🙂')]],
    ['on both sides of the file', [field('language', 'de'), audio, field('prompt', 'Ça va 🙂'), model]],
  ])('can have its fields %s', async (_, parts) => {
    expect((await send(parts)).status).toBe(200)
    expect(at.vendor.forms).toMatchObject([
      {
        fields: { model: 'whisper-1', language: 'de', prompt: 'Ça va 🙂', response_format: 'verbose_json' },
        name: 'speech.mp3',
        type: 'audio/mpeg',
        size: 10,
      },
    ])
  })

  it('can arrive byte by byte', async () => {
    const bytes = noise(100)
    const pieces = (async function* () {
      for (const piece of inChunks(formBytes([model, filePart(bytes)]), 1)) {
        yield piece
        await new Promise((resolve) => setTimeout(resolve, 2))
      }
    })()
    expect((await upload(at.server, pieces)).status).toBe(200)
    expect(at.vendor.forms).toMatchObject([{ size: 100 }])
  })

  it.each([
    ['a browser that recorded', 'blob', 'audio/webm;codecs=opus', 'blob.webm', 'audio/webm'],
    ['nobody', '', 'audio/webm', 'audio.webm', 'audio/webm'],
    ['somebody who knows better than the type', 'a.M4A', 'application/octet-stream', 'a.M4A', 'audio/mp4'],
    ['a phone', 'Voice 1.2.m4a', 'audio/x-m4a', 'Voice 1.2.m4a', 'audio/mp4'],
    ['a path', '../../etc/passwd.mp3', 'audio/mpeg', 'passwd.mp3', 'audio/mpeg'],
    ['a path of Windows', 'C:\\\\music\\\\a.wav', 'audio/wav', 'a.wav', 'audio/wav'],
    ['quotes', 'a \\"b\\".mp3', 'audio/mpeg', 'a %22b%22.mp3', 'audio/mpeg'],
    ['line breaks', 'a%0D%0Ab.mp3', 'audio/mpeg', 'a%0D%0Ab.mp3', 'audio/mpeg'],
    ['another script', 'Прив🙂.mp3', 'audio/mpeg', 'Прив🙂.mp3', 'audio/mpeg'],
  ])('has a file named by %s', async (_, name, type, wantedName, wantedType) => {
    expect((await send([model, filePart('abc', name, type)])).status).toBe(200)
    expect(at.vendor.forms).toMatchObject([{ name: wantedName, type: wantedType, size: 3 }])
  })

  it('can have the extended form of a file name', async () => {
    const head = [`Content-Disposition: form-data; name="file"; filename*=UTF-8''%C3%87a%20va.mp3`]
    expect((await send([model, { head: [...head, 'Content-Type: audio/mpeg'], body: 'abc' }])).status).toBe(200)
    expect(at.vendor.forms).toMatchObject([{ name: 'Ça va.mp3' }])
  })

  it('can have its boundary in quotes', async () => {
    expect((await send([model, audio], { 'content-type': formType(`"${BOUNDARY}"`) })).status).toBe(200)
  })

  it('can have unknown part headers', async () => {
    const junk = { head: ['X-Junk: \u0001\u00ff', ...audio.head, 'Content-Transfer-Encoding: binary'], body: 'abc' }
    expect((await send([{ head: ['X-Junk: a'], body: 'skipped' }, model, junk])).status).toBe(200)
    expect(at.vendor.forms).toMatchObject([{ name: 'speech.mp3', size: 3 }])
  })
})

const types = 'mp3, mp4, mpeg, mpga, m4a, wav, webm'
const cutShort = 'The request body was cut short'
const noBoundary = 'Content-Type must be multipart/form-data with a boundary'

describe(`an invalid form, on ${runtime}`, () => {
  it.each<[what: string, message: string, parts: Part[]]>([
    ['no file', 'The form has no file "file"', [model]],
    ['a text in place of the file', 'The form has no file "file"', [model, field('file', 'abc')]],
    ['two files', 'The form has more than one file', [model, audio, audio]],
    [
      'a file of another name',
      'The form has a file "audio"; only "file" is expected',
      [model, filePart('a', 'a.mp3', 'audio/mpeg', 'audio')],
    ],
    ['a wrong extension', `file must be one of ${types}`, [model, filePart('a', 'a.txt')]],
    ['no extension and no type', `file must be one of ${types}`, [model, filePart('a', 'a', 'x/y')]],
    ['a name of a prototype', `file must be one of ${types}`, [model, filePart('a', 'a.constructor')]],
    ['an empty file', 'The file is empty', [model, filePart('')]],
    [
      'a field that is too long',
      'A field of the form is too long',
      [field('prompt', 'x'.repeat(70_000)), model, audio],
    ],
    [
      'a hundred fields',
      'The form has too many fields',
      [model, ...Array.from({ length: 100 }, (_, i) => field(`a${i}`, 'x')), audio],
    ],
    [
      'a part without a name',
      'A part of the form has no name',
      [model, { head: ['Content-Disposition: form-data; filename="a.mp3"'], body: 'abc' }],
    ],
    ['no model', 'model is missing', [audio]],
    ['two models', 'model must be a string, not an array', [model, model, audio]],
    [
      'a language that is none',
      'language must be two letters (ISO 639-1), such as "en"',
      [model, field('language', 'german'), audio],
    ],
  ])('%s is a 400', async (_, message, parts) => expectRefusal(send(parts), message))

  const whole = formBytes([model, filePart(noise(400_000))])
  it.each([
    ['without its last boundary', whole.subarray(0, whole.lastIndexOf('--form-boundary--') - 2)],
    ['in the middle of its last boundary', whole.subarray(0, -5)],
    ['in the middle of its file', whole.subarray(0, 300_000)],
    ['in a head', whole.subarray(0, whole.indexOf('filename'))],
    ['before anything', whole.subarray(0, 0)],
  ])('a form that ends %s is a 400', async (_, bytes) => {
    await expectRefusal(upload(at.server, [bytes], { 'content-length': bytes.length }), cutShort)
    await expectRefusal(upload(at.server, inChunks(bytes, 50_000)), cutShort)
    if (process.platform === 'linux') await expect.poll(() => at.open()).toEqual([])
  })

  it('a file with another field name that ends early is a 400, and the server continues', async () => {
    const bytes = formBytes([filePart(noise(1_000), 'a.mp3', 'audio/mpeg', 'audio')]).subarray(0, 800)
    await expectRefusal(upload(at.server, [bytes]), 'The form has a file "audio"; only "file" is expected')
    expect((await fetch(`${at.server.url}/health`)).status).toBe(200)
  })

  it.each([
    ['JSON', { 'content-type': 'application/json' }],
    ['no boundary', { 'content-type': 'multipart/form-data' }],
    ['a parameter that only ends like one', { 'content-type': `multipart/form-data; xboundary=${BOUNDARY}` }],
    ['a boundary that is too long', { 'content-type': formType('x'.repeat(300)) }],
  ])('a type with %s is a 400', async (_, headers) => expectRefusal(send([model, audio], headers), noBoundary))

  it('a boundary that the body does not have is a 400', async () => {
    await expectRefusal(send([model, audio], { 'content-type': formType('another') }), cutShort)
  })

  it('a compressed body is a 400', async () => {
    const body = gzipSync(formBytes([model, audio]))
    const message = 'Content-Encoding "gzip" is not supported; send the body uncompressed'
    await expectRefusal(upload(at.server, [body], { 'content-encoding': 'gzip' }), message)
  })

  it('a caller without a key is a 401 before its file is read', async () => {
    const { status } = await upload({ ...at.server, key: 'gw-unknown-0123456789abcdef' }, [whole.subarray(0, 1_000)])
    expect(status).toBe(401)
  })
})

describe(`a connection that ends in the middle of a form, on ${runtime}`, () => {
  it.each(['content-length: 100000', 'transfer-encoding: chunked'])('%s', async (length) => {
    const { hostname, port } = new URL(at.server.url)
    const socket = connect(Number(port), hostname)
    socket.on('error', () => undefined)
    const chunked = length.endsWith('chunked')
    const body = formBytes([model, filePart(noise(50_000))]).subarray(0, 40_000)
    socket.write(
      `POST /v1/audio/transcriptions HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${at.server.key}\r\n${length}\r\ncontent-type: ${formType()}\r\n\r\n`,
    )
    if (chunked) socket.write('9c40\r\n')
    socket.end(body)
    // Node answers what it can still answer; Bun closes the connection.
    expect(await text(socket)).toMatch(/^(HTTP\/1\.1 400 |$)/)
    expect(at.vendor.calls).toBe(0)
    expect((await fetch(`${at.server.url}/health`)).status).toBe(200)
  })
})
