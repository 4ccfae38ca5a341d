import { ApiError } from '@turnpike/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { bytesOf, contents, exchangeOf, read, refusalOf } from '../../../../test/support/form-reader.js'
import type { Part } from '../../../../test/support/forms.js'
import { BOUNDARY, field, filePart, formBytes, formType, inChunks, noise } from '../../../../test/support/forms.js'
import type { FileStream } from '../operation.js'
import { tooSlow } from './body.js'
import { readForm } from './multipart.js'

const parts = [field('model', 'whisper-1'), filePart('\r\n--form\r\n\r\nabc\r'), field('prompt', 'Ça va 🙂\r\n--')]
const small = formBytes(parts)
const seen = {
  model: 'whisper-1',
  file: { name: 'speech.mp3', type: 'audio/mpeg', size: 16, bytes: '\r\n--form\r\n\r\nabc\r' },
  prompt: 'Ça va 🙂\r\n--',
}
const cutShort = '400 invalid_body The request body was cut short'

const of = (...all: Part[]) => read([formBytes(all)])
const audio = filePart('abc')

describe('a form', () => {
  it('is read alike wherever it is split', async () => {
    for (let at = 0; at <= small.length; at++)
      expect(await contents(await read([small.subarray(0, at), small.subarray(at)])), String(at)).toEqual(seen)
  })

  it.each([1, 2, 3, 7, 64, small.length])('is read alike in chunks of %i', async (size) => {
    expect(await contents(await read(inChunks(small, size)))).toEqual(seen)
  })

  it.each([1_000, 64 * 1024, 300_000])('has a large file unchanged, in chunks of %i', async (size) => {
    const bytes = noise(900_000)
    const form = await read(inChunks(formBytes([field('model', 'm'), filePart(bytes), field('z', '1')]), size))
    const file = form.fields['file'] as { size: number } & Parameters<typeof bytesOf>[0]
    expect([file.size, form.fields['model'], form.fields['z']]).toEqual([900_000, 'm', '1'])
    for (let time = 0; time < 2; time++) expect((await bytesOf(file)).equals(bytes)).toBe(true)
    await form.dispose()
  })

  it('can have text before and after it', async () => {
    const bytes = Buffer.concat([Buffer.from('A preamble\r\n'), small, Buffer.from('An epilogue\r\n--form-boundary')])
    for (const size of [1, bytes.length]) expect(await contents(await read(inChunks(bytes, size)))).toEqual(seen)
  })

  it('threat 49: takes memory for the fields, three times their length', async () => {
    const exchange = () =>
      exchangeOf([formBytes([field('a', 'x'.repeat(1_000)), filePart(noise(10)), field('b', 'yy')])], {
        'content-type': formType(),
      })
    let taken = 0
    const form = await readForm(exchange(), { file: 'file', limit: 1_000 }, () => undefined, {
      take: (bytes) => void (taken += bytes),
    })
    await form.dispose()
    expect(taken).toBe(3 * 1_002 + 10)
    const full = {
      take() {
        throw new ApiError(503, 'server_error', 'No memory', { code: 'overloaded' })
      },
    }
    await expect(readForm(exchange(), { file: 'file', limit: 1_000 }, () => undefined, full)).rejects.toThrow(
      'No memory',
    )
  })

  it('returns a repeated field as an array, and prototype names as own fields', async () => {
    const { fields } = await of(
      field('a', '1'),
      audio,
      field('a', '2'),
      field('__proto__', 'x'),
      field('toString', 'y'),
    )
    expect(fields['a']).toEqual(['1', '2'])
    expect(Object.entries(fields).filter(([name]) => name !== 'file' && name !== 'a')).toEqual([
      ['__proto__', 'x'],
      ['toString', 'y'],
    ])
  })

  it('accepts the file only under its name, also beside a text of that name', async () => {
    const form = await of(field('file', 'text'), audio, field('file', 'more'))
    expect(await contents(form)).toMatchObject({ file: { name: 'speech.mp3', bytes: 'abc' } })
  })

  it.each([
    ['in quotes', `multipart/form-data; boundary="${BOUNDARY}"`],
    ['in capitals', `Multipart/Form-Data; BOUNDARY=${BOUNDARY}`],
    ['among others', `multipart/form-data; charset=utf-8; boundary=${BOUNDARY}; x=y`],
  ])('accepts the boundary %s', async (_, type) => {
    expect(await contents(await read([small], { 'content-type': type }))).toEqual(seen)
  })

  it('accepts a boundary of special characters', async () => {
    const boundary = "a'()+_,-./:=?z"
    const headers = { 'content-type': formType(`"${boundary}"`) }
    expect(await contents(await read([formBytes(parts, boundary)], headers))).toEqual(seen)
  })
})

describe('the name of a file', () => {
  const named = async (head: string, type = 'Content-Type: audio/mpeg'): Promise<unknown> => {
    const form = await of({ head: [`Content-Disposition: form-data; name="file"; ${head}`, type], body: 'abc' })
    return ((await contents(form))['file'] as { name: string }).name
  }
  it.each([
    ['filename="Ça va 🙂.mp3"', 'Ça va 🙂.mp3'],
    ['filename=bare.mp3', 'bare.mp3'],
    ["filename*=UTF-8''%C3%87a%20va.mp3", 'Ça va.mp3'],
    ['filename="a \\"quoted\\".mp3"', 'a "quoted".mp3'],
    // As browsers, undici and curl write them. All else that looks encoded is not.
    ['filename="a %22quoted%22%0D%0A.mp3"', 'a "quoted"\r\n.mp3'],
    ['filename="100%25 %2Fa %0d.mp3"', '100%25 %2Fa %0d.mp3'],
    ['filename="../../etc/a.mp3"', 'a.mp3'],
    ['filename="C:\\\\music\\\\a.mp3"', 'a.mp3'],
    ['filename="a; name=b.mp3"', 'a; name=b.mp3'],
    ['filename=""', ''],
    ['filename=".."', ''],
  ])('is decoded from %s', async (head, name) => expect(await named(head)).toBe(name))
})

describe('an invalid form is refused', () => {
  it.each<[what: string, headers: Record<string, string>]>([
    ['no type', {}],
    ['JSON', { 'content-type': 'application/json' }],
    ['no boundary', { 'content-type': 'multipart/form-data' }],
    ['a boundary that takes long to be found', { 'content-type': formType('x'.repeat(250)) }],
    ['a parameter that only ends like one', { 'content-type': `multipart/form-data; xboundary=${BOUNDARY}` }],
    ['a boundary within another value', { 'content-type': 'multipart/form-data; charset="boundary=x"' }],
    ['a boundary that is too long', { 'content-type': formType('x'.repeat(300)) }],
    ['another kind of multipart', { 'content-type': `multipart/mixed; boundary=${BOUNDARY}` }],
    ['a kind that only begins so', { 'content-type': `multipart/form-data-x; boundary=${BOUNDARY}` }],
  ])('%s', async (_, headers) => {
    const exchange = exchangeOf([small], headers)
    expect(await refusalOf(readForm(exchange, { file: 'file', limit: 1_000 }))).toBe(
      '400 invalid_body Content-Type must be multipart/form-data with a boundary',
    )
    expect(exchange.taken).toBe(0)
  })

  it('a compressed body', async () => {
    const headers = { 'content-type': formType(), 'content-encoding': 'gzip' }
    expect(await refusalOf(read([small], headers))).toBe(
      '400 invalid_body Content-Encoding "gzip" is not supported; send the body uncompressed',
    )
  })

  it.each<[what: string, message: string, ...parts: Part[]]>([
    ['no file', 'The form has no file "file"', field('model', 'm')],
    ['nothing at all', 'The form has no file "file"'],
    ['a text in place of the file', 'The form has no file "file"', field('file', 'abc')],
    [
      'a file of another name',
      'The form has a file "audio"; only "file" is expected',
      filePart('a', 'a.mp3', 'a/b', 'audio'),
    ],
    ['two files', 'The form has more than one file', audio, audio],
    ['a field that is too long', 'A field of the form is too long', field('a', 'x'.repeat(64 * 1024 + 1)), audio],
    [
      'too many parts without a head',
      'The form has too many fields',
      ...Array.from({ length: 100 }, (): Part => ({ head: [], body: '' })),
      audio,
    ],
    ['too many fields', 'The form has too many fields', ...Array.from({ length: 100 }, (_, i) => field(`a${i}`, ''))],
  ])('%s', async (_, message, ...all) => {
    const bytes = formBytes(all)
    for (const size of [bytes.length, 1_000, 10])
      expect(await refusalOf(read(inChunks(bytes, size)))).toBe(`400 invalid_body ${message}`)
  })

  it.each([10, 16_000, 17_000, 40_000, 70_000, 300_000])(
    'threat 160: parts of %i bytes that are no form-data, however they arrive',
    { timeout: 20_000 },
    async (length) => {
      for (const head of [['Content-Disposition: attachment; name="file"'], ['Content-Type: a/b'], []]) {
        const part = { head, body: 'x'.repeat(length) }
        const [alone, beside] = [formBytes([part]), formBytes([part, audio, part])]
        for (const size of [beside.length, 64 * 1024, 1_000]) {
          expect(await refusalOf(read(inChunks(alone, size)))).toBe('400 invalid_body The form has no file "file"')
          expect(await contents(await read(inChunks(beside, size)))).toMatchObject({ file: { size: 3 } })
        }
      }
    },
  )

  it('threat 160: a form whose client leaves, whatever the parser waits for', async () => {
    let leave!: () => void
    const exchange = {
      ...exchangeOf(inChunks(formBytes([filePart(noise(300_000))]), 64 * 1024)),
      onDisconnect: (listener: () => void) => void (leave = listener),
    }
    const { fields } = await readForm(exchange, { file: 'file', limit: 1_000_000, streamed: true })
    // Nobody reads the file, so that the rest of it is not taken.
    const all = (fields['file'] as FileStream).fields()
    leave()
    await expect(all).rejects.toThrow('The request body was cut short')
  })

  it('unnamed parts', async () => {
    for (const head of ['filename="a.mp3"', "filename*=UTF-8''a.mp3", 'x=y', ''])
      expect(await refusalOf(of({ head: [`Content-Disposition: form-data; ${head}`], body: 'x' }, audio))).toBe(
        '400 invalid_body A part of the form has no name',
      )
    expect(await refusalOf(read([small], { 'content-type': formType('""') }))).toBe(cutShort)
  })

  it('a body that ends at any point before its end', async () => {
    for (let at = 0; at < small.lastIndexOf('--'); at++) {
      expect(await refusalOf(read([small.subarray(0, at)])), String(at)).toBe(cutShort)
      expect(await refusalOf(read(inChunks(small.subarray(0, at), 5))), String(at)).toBe(cutShort)
    }
  })

  it('a body that breaks', async () => {
    for (const at of [0, 30, 150, small.length])
      expect(await refusalOf(read([small.subarray(0, at), new Error('ECONNRESET')]))).toBe(cutShort)
  })

  it('a body that stalls, with 408', async () => {
    for (const at of [0, 30, 150])
      expect(await refusalOf(read([small.subarray(0, at), tooSlow()]))).toBe(
        '408 invalid_body The request took too long to arrive',
      )
  })

  it('an invalid body that ends at any point', async () => {
    const wrong = [
      [filePart('abc', 'a.mp3', 'a/b', 'audio'), audio],
      [audio, audio],
      [{ head: ['X-Junk'], body: 'abc' }, audio],
      [{ head: ['Content-Disposition: attachment; name="file"; filename="a.mp3"'], body: 'abc' }],
      [{ head: ['Content-Disposition: form-data; filename="a.mp3"'], body: 'abc' }, audio],
      [{ head: [`X-Long: ${'x'.repeat(20_000)}`], body: 'abc' }],
    ]
    for (const all of wrong) {
      const bytes = formBytes(all)
      for (let at = 0; at < bytes.lastIndexOf('--'); at += at > 300 && at < bytes.length - 300 ? 1_000 : 1)
        expect(await refusalOf(read([bytes.subarray(0, at)])), String(at)).toMatch(/^400 invalid_body /)
    }
  })
})

describe('the limit', () => {
  const LIMIT = 1_000
  const over = `413 request_too_large The file is larger than ${LIMIT} bytes`
  const headers = (more = {}) => ({ 'content-type': formType(), ...more })

  it('applies to the file only', async () => {
    const form = await read([formBytes([field('a', 'x'.repeat(5_000)), filePart('x'.repeat(LIMIT))])], headers(), LIMIT)
    expect(form.fields['file']).toMatchObject({ size: LIMIT })
  })

  it('is exceeded by one byte, in chunks of any size', async () => {
    const bytes = formBytes([filePart('x'.repeat(LIMIT + 1)), field('a', 'b')])
    for (const size of [1, 100, bytes.length])
      expect(await refusalOf(read(inChunks(bytes, size), headers(), LIMIT))).toBe(over)
  })

  it('is checked against content-length before anything is read', async () => {
    const exchange = exchangeOf([small], headers({ 'content-length': String(LIMIT + 2 ** 20 + 1) }))
    expect(await refusalOf(readForm(exchange, { file: 'file', limit: LIMIT }))).toBe(over)
    expect(exchange.taken).toBe(0)
  })

  it('stops reading', async () => {
    const bytes = formBytes([filePart(noise(500_000))])
    const exchange = exchangeOf(inChunks(bytes, 1_000), headers())
    expect(await refusalOf(readForm(exchange, { file: 'file', limit: LIMIT }))).toBe(over)
    expect(exchange.taken).toBeLessThan(100)
  })

  it('also applies to everything around the file', async () => {
    const junk = (function* () {
      for (let i = 0; i < 3_000; i++) yield Buffer.from('x'.repeat(1_000))
    })()
    const exchange = exchangeOf(junk, headers())
    expect(await refusalOf(readForm(exchange, { file: 'file', limit: LIMIT }))).toBe(over)
    expect(exchange.taken).toBeLessThan(1_100)
  })
})

describe('a temporary file that fails', () => {
  const large = formBytes([filePart(noise(900_000))])
  afterEach(() => vi.unstubAllEnvs())

  it('is not reported as the fault of the caller', async () => {
    vi.stubEnv('TMPDIR', '/nowhere')
    for (const size of [large.length, 10_000])
      await expect(read(inChunks(large, size))).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('does not hide that a body was cut short', async () => {
    for (const size of [large.length, 10_000])
      expect(await refusalOf(read(inChunks(large.subarray(0, -50), size)))).toBe(cutShort)
    expect(await refusalOf(read([...inChunks(large.subarray(0, 800_000), 10_000), new Error('ECONNRESET')]))).toBe(
      cutShort,
    )
  })
})
