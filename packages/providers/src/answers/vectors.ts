import type { EmbeddingAnswer, EmbeddingRequest } from '@turnpike/core'
import { fromBase64, toBase64 } from '@turnpike/core/helpers'

type Encoding = EmbeddingRequest['encoding_format']

const BYTES = 4
/** Most numbers of a vector: those of known models have up to 4,096. */
const DIMENSIONS = 65_536

/** Encodes a vector as little-endian 32-bit floats in base64. */
function pack(vector: number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * BYTES))
  for (const [i, value] of vector.entries()) view.setFloat32(i * BYTES, value, true)
  return toBase64(new Uint8Array(view.buffer))
}

/** Decodes a base64 vector to its bytes. @throws for invalid base64 and for an invalid length */
function unpack(text: string): DataView {
  if (text.length > DIMENSIONS * 6) throw new TypeError('The vector is too long')
  const { buffer, length } = fromBase64(text)
  if (length === 0 || length % BYTES !== 0) throw new TypeError('The vector is cut short')
  return new DataView(buffer)
}

function toNumbers(view: DataView): number[] {
  const numbers: number[] = []
  for (let at = 0; at < view.byteLength; at += BYTES) numbers.push(view.getFloat32(at, true))
  return numbers
}

/** Checks that a value is a vector. @throws TypeError if it is not */
export function toVector(value: unknown): number[] {
  if (
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= DIMENSIONS &&
    value.every((number) => Number.isFinite(number))
  )
    return value as number[]
  throw new TypeError('An embedding is no vector')
}

/** What makes a vector in the requested encoding, from one in either. @throws if it is not a vector */
export function vectorMaker(vector: unknown, encoding: Encoding): () => number[] | string {
  if (typeof vector !== 'string') {
    const numbers = toVector(vector)
    return encoding === 'base64' ? () => pack(numbers) : () => numbers
  }
  const view = unpack(vector)
  if (encoding === 'base64') return () => vector
  toVector(toNumbers(view))
  return () => toNumbers(view)
}

/** An embedding whose vector is made when it is read. */
export const embeddingOf = (index: number, make: () => number[] | string): EmbeddingAnswer['data'][number] => ({
  object: 'embedding',
  index,
  get embedding() {
    return make()
  },
})

/** Scales a vector to length 1, so that similarities are comparable; a zero vector is returned unchanged. */
export function normalise(vector: number[]): number[] {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}
