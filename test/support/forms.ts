/** Forms to the byte, as clients send them, and as no client should. */

export const BOUNDARY = 'form-boundary'
export const formType = (boundary = BOUNDARY): string => `multipart/form-data; boundary=${boundary}`

/** A part: the lines of its head, and what follows them. */
export interface Part {
  head: string[]
  body: string | Uint8Array
}

export const field = (name: string, value: string | Uint8Array): Part => ({
  head: [`Content-Disposition: form-data; name="${name}"`],
  body: value,
})

/** @param name as it stands in the quotes */
export const filePart = (body: string | Uint8Array, name = 'speech.mp3', type = 'audio/mpeg', of = 'file'): Part => ({
  head: [`Content-Disposition: form-data; name="${of}"; filename="${name}"`, `Content-Type: ${type}`],
  body,
})

const partHead = ({ head }: Part, boundary: string): string => `--${boundary}\r\n${head.join('\r\n')}\r\n\r\n`

/** A whole form. */
export const formBytes = (parts: Part[], boundary = BOUNDARY): Buffer =>
  Buffer.concat([
    ...parts.flatMap((part) => [partHead(part, boundary), part.body, '\r\n']).map((piece) => Buffer.from(piece)),
    Buffer.from(`--${boundary}--\r\n`),
  ])

/** Bytes in which every value comes at every place, and that hold line breaks and what looks like boundaries. */
export function noise(size: number): Buffer {
  const bytes = Buffer.alloc(size)
  let state = 1
  for (let i = 0; i < size; i++) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    bytes[i] = state >>> 24
  }
  for (const [at, text] of ['\r\n', `\r\n--${BOUNDARY.slice(0, -1)}`, '\r\n--', '\r\n\r\n'].entries())
    bytes.write(text, Math.floor((size * (at + 1)) / 6))
  return bytes
}

/** A body in pieces of `size` bytes. */
export const inChunks = (bytes: Uint8Array, size: number): Uint8Array[] =>
  Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
