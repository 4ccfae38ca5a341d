import type { BusboyFileStream } from '@fastify/busboy'
import { Busboy } from '@fastify/busboy'
import { ApiError } from '@turnpike/core'
import { cutShort, invalid, requireIdentity } from './body.js'
import type { Exchange } from './exchange.js'
import type { FormOptions } from './operation.js'
import type { Spooled } from './spool.js'
import { spool } from './spool.js'

/** Bytes of everything but the file: other fields, part headers, boundaries. */
const OVERHEAD = 1024 * 1024
/** Fields besides the file, and bytes of each. */
const FIELDS = 64
const FIELD_BYTES = 64 * 1024

/** A received form; its fields are not validated yet. */
export interface Form {
  /** Texts by name, in an array where a name comes more than once, and under its own name the file. */
  fields: Record<string, unknown>
  /** Frees its file. */
  dispose(): Promise<void>
}

const wrongType = (): ApiError => invalid('Content-Type must be multipart/form-data with a boundary', 'invalid_body')

/** @throws ApiError 400 where there is no boundary, or an invalid one */
function parserOf(type: string, limits: object) {
  try {
    return new Busboy({ headers: { 'content-type': type }, limits })
  } catch {
    throw wrongType()
  }
}

/** A body whose read errors are the client's (400, cut short); other errors, such as a full disk, stay the server's. */
async function* received(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    throw ApiError.is(cause) ? cause : cutShort(cause)
  }
}

const nameless = (): ApiError => invalid('A part of the form has no name', 'invalid_body')

/** A file as it arrives; it ends when the whole form has. */
async function* arriving(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  tooLarge: () => ApiError,
  whole: Promise<void>,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const piece of received(stream)) {
    size += piece.length
    if (size > limit) throw tooLarge()
    yield piece
  }
  await whole
}

/**
 * Reads a multipart/form-data body with one file: whole, so that the file may be read again, or up to its file, which is then read as it
 * arrives.
 * @throws ApiError 400 for a body that is no such form or is cut short, and `overLimit` for a file over `limit` bytes
 * @throws what a temporary file fails with
 */
export async function readForm(exchange: Exchange, options: FormOptions): Promise<Form> {
  const { file: fileField, limit, overLimit = 413, streamed = false } = options
  const type = exchange.header('content-type') ?? ''
  if (!/^\s*multipart\/form-data\s*;/i.test(type)) throw wrongType()
  requireIdentity(exchange.header('content-encoding'))
  const tooLarge = (): ApiError =>
    new ApiError(overLimit, 'invalid_request_error', `The file is larger than ${limit} bytes`, {
      code: 'request_too_large',
    })
  if (Number(exchange.header('content-length')) > limit + OVERHEAD) throw tooLarge()

  const texts = new Map<string, string[]>()
  let file: { name: string; type: string; stream: BusboyFileStream; spooled?: Promise<Spooled> } | undefined
  let begin!: () => void
  const begun = new Promise<void>((resolve) => (begin = resolve))
  let fail!: (error: unknown) => void
  const failed = new Promise<never>((_, reject) => (fail = reject))
  failed.catch((error: Error) => file?.stream.destroy(error))

  const limits = { files: 1, fields: FIELDS, fieldSize: FIELD_BYTES, fieldNameSize: 100, headerSize: 16 * 1024 }
  const busboy = parserOf(type, limits)
  const finished = new Promise<void>((resolve) => busboy.on('finish', resolve))
  // The types do not say that names may be missing.
  busboy.on('file', (name: string | undefined, stream, filename, _, mime) => {
    if (name === undefined) {
      fail(nameless())
      return
    }
    if (name !== fileField) {
      fail(invalid(`The form has a file "${name.slice(0, 40)}"; only "${fileField}" is expected`, 'invalid_body'))
      return
    }
    file = { name: filename ?? '', type: mime, stream }
    // It may fail before it is read; without a listener that would end the process.
    stream.on('error', () => undefined)
    if (!streamed) {
      file.spooled = spool(stream, limit, tooLarge)
      file.spooled.catch(fail)
    }
    begin()
  })
  busboy.on('field', (name: string | undefined, value, nameCut, valueCut) => {
    if (name === undefined) {
      fail(nameless())
      return
    }
    if (nameCut || valueCut) fail(invalid('A field of the form is too long', 'invalid_body'))
    if (streamed && file) fail(invalid(`The field "${name.slice(0, 40)}" must stand before the file`, 'invalid_body'))
    texts.set(name, [...(texts.get(name) ?? []), value])
  })
  busboy.on('filesLimit', () => fail(invalid('The form has more than one file', 'invalid_body')))
  busboy.on('fieldsLimit', () => fail(invalid('The form has too many fields', 'invalid_body')))
  // Its own message is kept as the cause, such as "Unexpected end of multipart data".
  busboy.on('error', (cause) => fail(cutShort(cause)))

  const receive = async (): Promise<void> => {
    let bytes = 0
    for await (const piece of received(exchange.body())) {
      bytes += piece.length
      if (bytes > limit + OVERHEAD) throw tooLarge()
      await Promise.race([new Promise((taken) => busboy.write(piece, taken)), failed])
    }
    busboy.end()
    await Promise.race([finished, failed])
    if (!file) throw invalid(`The form has no file "${fileField}"`, 'invalid_body')
  }
  const whole = receive()
  whole.catch(fail)
  try {
    await (streamed ? Promise.race([begun, whole]) : whole)
    const { spooled, stream, ...named } = file!
    const fields = Object.fromEntries<unknown>([...texts].map(([name, all]) => [name, all.length > 1 ? all : all[0]]))
    if (!spooled) {
      fields[fileField] = { ...named, body: arriving(stream, limit, tooLarge, whole) }
      return {
        fields,
        async dispose() {
          fail(new Error('The rest of the form was not read'))
          await whole.catch(() => undefined)
        },
      }
    }
    const { size, read, dispose } = await spooled
    fields[fileField] = { ...named, size, read }
    return { fields, dispose }
  } catch (error) {
    fail(error)
    await file?.spooled?.then(
      ({ dispose }) => dispose(),
      () => undefined,
    )
    throw error
  }
}
