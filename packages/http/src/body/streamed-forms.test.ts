import { ApiError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { exchangeOf } from '../../../../test/support/form-reader.js'
import { field, filePart, formBytes, formType, inChunks, noise } from '../../../../test/support/forms.js'
import { readForm } from './multipart.js'
import type { FileStream } from '../operation.js'

const LIMIT = 1024 * 1024

const begin = async (chunks: Iterable<Uint8Array | Error>, headers?: Record<string, string>) => {
  const exchange = exchangeOf(chunks, headers)
  const form = await readForm(exchange, { file: 'file', limit: LIMIT, streamed: true })
  return { exchange, form, file: form.fields['file'] as FileStream }
}

/** All bytes of a file. */
async function bytesOf(file: FileStream): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of file.body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const failure = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'none',
    ({ status, code, message }: ApiError) => `${status} ${code} ${message}`,
  )

describe('a streamed form', () => {
  it.each([1, 1_000, 300_000])('hands on fields and then the file as it came, in chunks of %i', async (size) => {
    const bytes = noise(size === 1 ? 500 : 900_000)
    const { form, file } = await begin(inChunks(formBytes([field('a', '1'), field('b', 'ü'), filePart(bytes)]), size))
    expect([form.fields['a'], form.fields['b'], file.name, file.type]).toEqual(['1', 'ü', 'speech.mp3', 'audio/mpeg'])
    expect((await bytesOf(file)).equals(bytes)).toBe(true)
    await form.dispose()
  })

  it('is read no faster than its consumer takes the file', async () => {
    const chunks = inChunks(formBytes([filePart(noise(1_000_000))]), 10_000)
    const { exchange, form, file } = await begin(chunks)
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    // What fits into the buffers of the parser and its stream.
    expect(exchange.taken).toBeLessThan(30)
    expect((await bytesOf(file)).length).toBe(1_000_000)
    await form.dispose()
  })

  it('fails where it is cut short within the file', async () => {
    const bytes = formBytes([filePart(noise(500_000))])
    const { form, file } = await begin([bytes.subarray(0, 300_000), new Error('reset')])
    expect(await failure(bytesOf(file))).toBe('400 invalid_body The request body was cut short')
    await form.dispose()
  })

  it('fails where it ends without its closing boundary', async () => {
    const bytes = formBytes([filePart(noise(500_000))])
    const { form, file } = await begin([bytes.subarray(0, 300_000)])
    expect(await failure(bytesOf(file))).toBe('400 invalid_body The request body was cut short')
    await form.dispose()
  })

  it('has the fields that stand after the file once that has been read', async () => {
    const parts = [field('early', '1'), filePart(noise(200_000)), field('late', '2')]
    const { form, file } = await begin(inChunks(formBytes(parts), 10_000))
    expect(Object.keys(form.fields)).toEqual(['early', 'file'])
    await bytesOf(file)
    expect(await file.fields()).toEqual({ early: '1', late: '2', file })
    await form.dispose()
  })

  it('tells what its announced length says of the size of its file', async () => {
    const bytes = formBytes([filePart(noise(100))])
    const announced = { 'content-type': formType(), 'content-length': String(bytes.length) }
    for (const [headers, size] of [
      [announced, { least: 0, most: bytes.length }],
      [{ 'content-type': formType() }, { least: 0 }],
      [
        { ...announced, 'content-length': String(LIMIT + 1_000) },
        { least: 1_000, most: LIMIT + 1_000 },
      ],
    ] as const) {
      const { form, file } = await begin([bytes], headers)
      expect(file).toMatchObject(size)
      expect('most' in file).toBe('most' in size)
      await form.dispose()
    }
  })

  it('is checked as a whole when it is complete', async () => {
    const exchange = exchangeOf(inChunks(formBytes([filePart(noise(200_000)), field('late', '2')]), 10_000))
    const refuse = ({ late }: { late?: unknown }): void => {
      if (late === '2') throw new ApiError(400, 'invalid_request_error', 'late', { code: 'invalid_body' })
    }
    const form = await readForm(exchange, { file: 'file', limit: LIMIT, streamed: true }, refuse)
    const file = form.fields['file'] as FileStream
    await bytesOf(file)
    expect(await failure(file.fields())).toBe('400 invalid_body late')
    await form.dispose()
  })

  it('fails with 413 over the limit, as it passes it', async () => {
    const chunks = inChunks(formBytes([filePart(noise(LIMIT + 500_000))]), 10_000)
    const { exchange, form, file } = await begin(chunks)
    expect(await failure(bytesOf(file))).toBe(`413 request_too_large The file is larger than ${LIMIT} bytes`)
    await form.dispose()
    expect(exchange.taken).toBeLessThan(
      [...inChunks(formBytes([filePart(noise(LIMIT + 500_000))]), 10_000)].length - 20,
    )
  })

  it('has no file', async () => {
    const exchange = exchangeOf([formBytes([field('a', '1')])])
    const form = readForm(exchange, { file: 'file', limit: LIMIT, streamed: true })
    expect(await failure(form)).toBe('400 invalid_body The form has no file "file"')
  })

  it('is left where its file is not read', async () => {
    const { exchange, form } = await begin(inChunks(formBytes([filePart(noise(1_000_000))]), 10_000))
    await form.dispose()
    expect(exchange.taken).toBeLessThan(60)
  })

  it('fails for a reader that comes after it was cut short', async () => {
    const bytes = formBytes([filePart(noise(300))])
    const { form, file } = await begin([bytes.subarray(0, 200), new Error('reset')])
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(await failure(bytesOf(file))).toBe('400 invalid_body The request body was cut short')
    await form.dispose()
  })

  it('refuses an announced length before anything is read', async () => {
    const exchange = exchangeOf([new Uint8Array(1)], {
      'content-type': formType(),
      'content-length': String(3 * LIMIT),
    })
    expect(await failure(readForm(exchange, { file: 'file', limit: LIMIT, streamed: true }))).toBe(
      `413 request_too_large The file is larger than ${LIMIT} bytes`,
    )
    expect(exchange.taken).toBe(0)
  })
})
