import type { BusboyFileStream } from '@fastify/busboy'
import { Busboy } from '@fastify/busboy'
import type { Memory } from '@turnpike/core'
import { ApiError } from '@turnpike/core'
import { invalid } from '@turnpike/core/internal'
import { cutShort, requireIdentity } from './body.js'
import { BODY_COPIES, FORM_FIELD_BYTES, FORM_FIELDS, FORM_NAME_BYTES, FORM_OVERHEAD } from '../conventions.js'
import type { Exchange } from '../shells/exchange.js'
import type { FileStream, FormOptions } from '../operation.js'
import type { Spooled } from './spool.js'
import { spool } from './spool.js'

/** A received form. Its fields are not validated. */
export interface Form {
  /** Text fields by name, an array if a name is repeated, and the file under its field name. */
  fields: Record<string, unknown>
  /** Releases the file. */
  dispose(): Promise<void>
}

const wrongType = (): ApiError => invalid('Content-Type must be multipart/form-data with a boundary')

/**
 * Bytes that the parser gets at once, and that it keeps of a part: more than it gets. It waits for a reader of what it keeps where that is as much
 * as it may, and a part that it skips has none any more once it has ended: one that ended in the same piece was waited for for ever.
 */
const PIECE = 32 * 1024
const KEPT = 2 * PIECE

/** Most characters of the type of a form, with its boundary, which has 70 by RFC 2046: V8 needs long to look for one of more than 250. */
const TYPE_LENGTH = 250

/** @throws ApiError 400 if the boundary is missing, invalid or too long */
function parserOf(type: string, limits: object) {
  if (type.length > TYPE_LENGTH) throw wrongType()
  try {
    return new Busboy({ headers: { 'content-type': type }, limits, fileHwm: KEPT })
  } catch {
    throw wrongType()
  }
}

/** Converts read errors of the request body to 400 (cut short), so that they differ from server errors such as a full disk. */
async function* readBody(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* body
  } catch (cause) {
    throw ApiError.is(cause) ? cause : cutShort(cause)
  }
}

/** What browsers write in a name in place of quotation marks and line breaks (WHATWG HTML, multipart/form-data). The parser leaves it.
 * It decodes a `filename*`, which browsers do not send, so that these three are decoded twice in one. */
const ESCAPES: Record<string, string> = { '%22': '"', '%0D': '\r', '%0A': '\n' }
const decodeName = (name: string): string => name.replace(/%22|%0D|%0A/g, (escape) => ESCAPES[escape]!)

const unnamedPart = (): ApiError => invalid('A part of the form has no name')

/** Streams the file as it arrives; ends once the rest of the form has been received. */
async function* streamFile(
  stream: AsyncIterable<Uint8Array>,
  limit: number,
  tooLarge: () => ApiError,
  whole: Promise<void>,
): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const chunk of readBody(stream)) {
    size += chunk.length
    if (size > limit) throw tooLarge()
    yield chunk
  }
  await whole
}

/**
 * Reads a multipart/form-data body with one file. By default the whole form is received, and the file can be read repeatedly. With
 * `streamed` only the fields before the file are, and the file is a stream.
 * @param check validates the fields once a streamed form is complete
 * @param memory what the fields are taken from, and the bytes of a file that is received whole
 * @throws ApiError 400 for an invalid or truncated form, and status `overLimit` for a file over `limit` bytes
 * @throws file system errors of the temporary file
 */
export async function readForm(
  exchange: Exchange,
  options: FormOptions,
  check: (fields: Record<string, unknown>) => void = () => undefined,
  memory?: Memory,
): Promise<Form> {
  const { file: fileField, limit, overLimit = 413, streamed = false } = options
  const type = exchange.header('content-type') ?? ''
  if (!/^\s*multipart\/form-data\s*;/i.test(type)) throw wrongType()
  requireIdentity(exchange.header('content-encoding'))
  const tooLarge = (): ApiError =>
    new ApiError(overLimit, 'invalid_request_error', `The file is larger than ${limit} bytes`, {
      code: 'request_too_large',
    })
  const length = Number(exchange.header('content-length') ?? NaN)
  if (length > limit + FORM_OVERHEAD) throw tooLarge()

  const texts = new Map<string, string[]>()
  let file: { name: string; type: string; stream: BusboyFileStream; spooled?: Promise<Spooled> } | undefined
  let onFile!: () => void
  const fileBegun = new Promise<void>((resolve) => (onFile = resolve))
  let failure: { error: unknown } | undefined
  /** Ends what is waited for. */
  let interrupt: (error: unknown) => void = () => undefined
  const fail = (error: unknown): void => {
    failure ??= { error }
    interrupt(error)
    file?.stream.destroy(error as Error)
  }
  /** Waits for what the parser calls back, until the form has failed. A race with a promise would keep a reaction of each chunk. */
  const orFailure = (wait: (done: () => void) => void): Promise<void> =>
    new Promise((resolve, reject) => {
      if (failure) return reject(failure.error as Error)
      interrupt = reject
      wait(resolve)
    })

  const limits = {
    files: 1,
    fields: FORM_FIELDS,
    // Parts without a name count too.
    parts: FORM_FIELDS + 1,
    fieldSize: FORM_FIELD_BYTES,
    fieldNameSize: FORM_NAME_BYTES,
    headerSize: 16 * 1024,
  }
  const busboy = parserOf(type, limits)
  const finished = new Promise<void>((resolve) => busboy.on('finish', resolve))
  // The type declarations omit that `name` may be undefined.
  busboy.on('file', (name: string | undefined, stream, filename, _, mime) => {
    if (name === undefined) {
      fail(unnamedPart())
      return
    }
    if (name !== fileField) {
      fail(invalid(`The form has a file "${name.slice(0, 40)}"; only "${fileField}" is expected`))
      return
    }
    file = { name: decodeName(filename ?? ''), type: mime, stream }
    // An error before the first read would otherwise be an uncaught exception.
    stream.on('error', () => undefined)
    if (!streamed) {
      file.spooled = spool(stream, limit, tooLarge, memory)
      file.spooled.catch(fail)
    }
    onFile()
  })
  busboy.on('field', (name: string | undefined, value, nameCut, valueCut) => {
    if (name === undefined) {
      fail(unnamedPart())
      return
    }
    if (nameCut || valueCut) fail(invalid('A field of the form is too long'))
    try {
      memory?.take(BODY_COPIES * value.length)
    } catch (error) {
      fail(error)
      return
    }
    texts.set(name, [...(texts.get(name) ?? []), value])
  })
  busboy.on('filesLimit', () => fail(invalid('The form has more than one file')))
  for (const limit of ['fieldsLimit', 'partsLimit'] as const)
    busboy.on(limit, () => fail(invalid('The form has too many fields')))
  // The parser's message, such as "Unexpected end of multipart data", is kept as the cause.
  busboy.on('error', (cause) => fail(cutShort(cause)))

  const receive = async (): Promise<void> => {
    let bytes = 0
    for await (const chunk of readBody(exchange.body())) {
      bytes += chunk.length
      if (bytes > limit + FORM_OVERHEAD) throw tooLarge()
      for (let at = 0; at < chunk.length; at += PIECE)
        await orFailure((taken) => void busboy.write(chunk.subarray(at, at + PIECE), taken))
    }
    busboy.end()
    await orFailure((done) => void finished.then(done))
    if (!file) throw invalid(`The form has no file "${fileField}"`)
  }
  // What a form has taken is given back with its client, whatever the parser waits for.
  exchange.onDisconnect(() => fail(cutShort()))
  const whole = receive()
  whole.catch(fail)
  try {
    await (streamed ? Promise.race([fileBegun, whole]) : whole)
    const { spooled, stream, ...named } = file!
    const received = () =>
      Object.fromEntries<unknown>([...texts].map(([name, all]) => [name, all.length > 1 ? all : all[0]]))
    const fields = received()
    if (!spooled) {
      const input: FileStream = {
        ...named,
        least: Math.max(0, (length || 0) - FORM_OVERHEAD),
        ...(length >= 0 && { most: length }),
        body: streamFile(stream, limit, tooLarge, whole),
        async fields() {
          await whole
          const all = { ...received(), [fileField]: input }
          check(all)
          return all
        },
      }
      fields[fileField] = input
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
