import type { ApiError, FileInput } from '@turnpike/core'
import type { Exchange } from '../../packages/http/src/shells/exchange.js'
import type { Form } from '../../packages/http/src/body/multipart.js'
import { readForm } from '../../packages/http/src/body/multipart.js'
import { formType } from './forms.js'

/** An exchange whose body comes in these pieces; an error among them breaks it off. */
export function exchangeOf(
  pieces: Iterable<Uint8Array | Error>,
  headers: Record<string, string> = { 'content-type': formType() },
): Exchange & { taken: number } {
  const exchange = {
    method: 'POST',
    path: '/',
    query: '',
    header: (name: string) => headers[name],
    async *body() {
      for (const piece of pieces) {
        if (piece instanceof Error) throw piece
        exchange.taken++
        yield piece
      }
    },
    bytes: async () => new Uint8Array(),
    onDisconnect: () => undefined,
    ip: () => '',
    origin: () => '',
    optional: false,
    taken: 0,
  }
  return exchange
}

/** All bytes of a file. */
export async function bytesOf(file: Pick<FileInput, 'read'>): Promise<Buffer> {
  const pieces: Uint8Array[] = []
  for await (const piece of file.read()) pieces.push(piece)
  return Buffer.concat(pieces)
}

const LIMIT = 1024 * 1024

export const read = (
  pieces: Iterable<Uint8Array | Error>,
  headers?: Record<string, string>,
  limit = LIMIT,
): Promise<Form> => readForm(exchangeOf(pieces, headers), { file: 'file', limit })

/** What is in a form, its file as bytes. */
export async function contents(form: Form): Promise<Record<string, unknown>> {
  const { name, type, size, ...file } = form.fields['file'] as FileInput
  const bytes = await bytesOf(file)
  await form.dispose()
  return { ...form.fields, file: { name, type, size, bytes: bytes.toString('latin1') } }
}

/** What a form is refused with, as `status code message`; `none` where it is taken. */
export const refusalOf = (form: Promise<Form>): Promise<string> =>
  form.then(
    async ({ dispose }) => {
      await dispose()
      return 'none'
    },
    (error: ApiError) => `${error.status} ${error.code} ${error.message}`,
  )
