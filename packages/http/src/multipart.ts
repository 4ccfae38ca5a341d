import type { BusboyFileStream } from '@fastify/busboy'
import { Busboy } from '@fastify/busboy'
import { ApiError } from '@turnpike/core'
import { cutShort, invalid, requireIdentity } from './body.js'
import type { Exchange } from './exchange.js'
import type { FormOptions } from './operation.js'
import type { Spooled } from './spool.js'
import { spool } from './spool.js'

/** Bytes of all that is around the file: other fields, heads, boundaries. */
const OVERHEAD = 1024 * 1024
/** Fields besides the file, and bytes of each. */
const FIELDS = 64
const FIELD_BYTES = 64 * 1024

/** A form whose fields are checked next. */
export interface Form {
  /** Texts by name, in an array where a name comes more than once, and under its own name the file. */
  fields: Record<string, unknown>
  /** Gives back what its file takes up. */
  dispose(): Promise<void>
}

const wrongType = (): ApiError => invalid('Content-Type must be multipart/form-data with a boundary', 'invalid_body')

/** @throws ApiError 400 where there is no boundary, or one that nobody may use */
function parserOf(type: string, limits: object) {
  try {
    return new Busboy({ headers: { 'content-type': type }, limits })
  } catch {
    throw wrongType()
  }
}

/** A body whose end before its end is the fault of the client; what else fails is ours, such as a full disk. */
async function* received(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    throw ApiError.is(cause) ? cause : cutShort(cause)
  }
}

const nameless = (): ApiError => invalid('A part of the form has no name', 'invalid_body')

/**
 * Reads a multipart/form-data body with one file, which may be read again afterwards.
 * @throws ApiError 400 for a body that is no such form, is cut short, or has a file over `limit` bytes
 * @throws what a temporary file fails with
 */
export async function readForm(exchange: Exchange, { file: fileField, limit }: FormOptions): Promise<Form> {
  const type = exchange.header('content-type') ?? ''
  if (!/^\s*multipart\/form-data\s*;/i.test(type)) throw wrongType()
  requireIdentity(exchange.header('content-encoding'))
  const tooLarge = (): ApiError =>
    new ApiError(400, 'invalid_request_error', `The file is larger than ${limit} bytes`, { code: 'request_too_large' })
  if (Number(exchange.header('content-length')) > limit + OVERHEAD) throw tooLarge()

  const texts = new Map<string, string[]>()
  let file: { name: string; type: string; spooled: Promise<Spooled> } | undefined
  let fail!: (error: unknown) => void
  const failed = new Promise<never>((_, reject) => (fail = reject))
  failed.catch(() => undefined)

  const limits = { files: 1, fields: FIELDS, fieldSize: FIELD_BYTES, fieldNameSize: 100, headerSize: 16 * 1024 }
  const busboy = parserOf(type, limits)
  const finished = new Promise<void>((resolve) => busboy.on('finish', resolve))
  let streaming: BusboyFileStream | undefined
  // The types do not tell of names that are missing.
  busboy.on('file', (name: string | undefined, stream, filename, _, mime) => {
    if (name === undefined) {
      fail(nameless())
      return
    }
    if (name !== fileField) {
      fail(invalid(`The form has a file "${name.slice(0, 40)}"; only "${fileField}" is expected`, 'invalid_body'))
      return
    }
    streaming = stream
    file = { name: filename ?? '', type: mime, spooled: spool(stream, limit, tooLarge) }
    file.spooled.catch(fail)
  })
  busboy.on('field', (name: string | undefined, value, nameCut, valueCut) => {
    if (name === undefined) {
      fail(nameless())
      return
    }
    if (nameCut || valueCut) fail(invalid('A field of the form is too long', 'invalid_body'))
    texts.set(name, [...(texts.get(name) ?? []), value])
  })
  busboy.on('filesLimit', () => fail(invalid('The form has more than one file', 'invalid_body')))
  busboy.on('fieldsLimit', () => fail(invalid('The form has too many fields', 'invalid_body')))
  // Its own words tell of what it was doing, such as "Unexpected end of multipart data".
  busboy.on('error', (cause) => fail(cutShort(cause)))

  const pump = async (): Promise<void> => {
    let bytes = 0
    for await (const piece of received(exchange.body())) {
      bytes += piece.length
      if (bytes > limit + OVERHEAD) throw tooLarge()
      await Promise.race([new Promise((taken) => busboy.write(piece, taken)), failed])
    }
    busboy.end()
    await Promise.race([finished, failed])
  }
  try {
    await pump()
    if (!file) throw invalid(`The form has no file "${fileField}"`, 'invalid_body')
    const { spooled, ...named } = file
    const { size, read, dispose } = await spooled
    const fields = Object.fromEntries<unknown>([...texts].map(([name, all]) => [name, all.length > 1 ? all : all[0]]))
    fields[fileField] = { ...named, size, read }
    return { fields, dispose }
  } catch (error) {
    streaming?.destroy(error as Error)
    await file?.spooled.then(
      ({ dispose }) => dispose(),
      () => undefined,
    )
    throw error
  }
}
