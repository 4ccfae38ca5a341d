import type { FileInput } from '@turnpike/core'
import { toStream } from '@turnpike/core/helpers'

/** Quotes and escapes a name (WHATWG HTML, multipart/form-data). */
const quoted = (name: string): string =>
  `"${name.replaceAll('\n', '%0A').replaceAll('\r', '%0D').replaceAll('"', '%22')}"`

/** Encodes text fields and a file as multipart/form-data. The file comes last and is read with backpressure. */
export function formData(
  fields: Record<string, unknown>,
  file: FileInput,
): { type: string; body: ReadableStream<Uint8Array> } {
  const boundary = `turnpike-${crypto.randomUUID()}`
  const part = (head: string): string => `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\n`
  async function* pieces(): AsyncGenerator<string | Uint8Array> {
    let head = ''
    for (const [name, value] of Object.entries(fields))
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined) head += `${part(`name=${quoted(name)}`)}${String(one)}\r\n`
    head += part(`name="file"; filename=${quoted(file.name)}\r\nContent-Type: ${file.type}`)
    yield head
    yield* file.read()
    yield `\r\n--${boundary}--\r\n`
  }
  return { type: `multipart/form-data; boundary=${boundary}`, body: toStream(pieces()) }
}
