import type { EmbeddingRequest } from '@turnpike/core'
import { fromBase64, toBase64 } from '@turnpike/core/internal'

type Encoding = EmbeddingRequest['encoding_format']

const BYTES = 4

/** Encodes a vector as little-endian 32-bit floats in base64. */
function pack(vector: number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * BYTES))
  for (const [i, value] of vector.entries()) view.setFloat32(i * BYTES, value, true)
  return toBase64(new Uint8Array(view.buffer))
}

/** Decodes a base64 vector to its bytes. @throws for invalid base64 and for an invalid length */
function unpack(text: string): DataView {
  const { buffer, length } = fromBase64(text)
  if (length === 0 || length % BYTES !== 0) throw new TypeError('The vector is cut short')
  return new DataView(buffer)
}

const toNumbers = (view: DataView): number[] =>
  Array.from({ length: view.byteLength / BYTES }, (_, i) => view.getFloat32(i * BYTES, true))

/** Checks that a value is a vector. @throws TypeError if it is not */
export function toVector(value: unknown): number[] {
  if (Array.isArray(value) && value.length > 0 && value.every((number) => Number.isFinite(number)))
    return value as number[]
  throw new TypeError('An embedding is no vector')
}

/** Converts a vector to the requested encoding, from either one. @throws if it is not a vector */
export function encodeVector(vector: unknown, encoding: Encoding): number[] | string {
  if (typeof vector !== 'string') return encoding === 'base64' ? pack(toVector(vector)) : toVector(vector)
  const view = unpack(vector)
  return encoding === 'base64' ? vector : toVector(toNumbers(view))
}

/** Scales a vector to length 1, so that similarities are comparable; a zero vector is returned unchanged. */
export function normalise(vector: number[]): number[] {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}
