import type { EmbeddingRequest } from '@turnpike/core'

type Encoding = EmbeddingRequest['encoding_format']

const BYTES = 4

/** Little-endian 32-bit floats in base64. */
function toBase64(vector: number[]): string {
  const view = new DataView(new ArrayBuffer(vector.length * BYTES))
  for (const [i, value] of vector.entries()) view.setFloat32(i * BYTES, value, true)
  let binary = ''
  for (let i = 0; i < view.byteLength; i++) binary += String.fromCharCode(view.getUint8(i))
  return btoa(binary)
}

/** @throws TypeError where the text is no vector */
function fromBase64(text: string): number[] {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
  if (bytes.length === 0 || bytes.length % BYTES !== 0) throw new TypeError('The vector is cut short')
  const view = new DataView(bytes.buffer)
  return Array.from({ length: bytes.length / BYTES }, (_, i) => view.getFloat32(i * BYTES, true))
}

const isVector = (value: unknown): value is number[] =>
  Array.isArray(value) && value.length > 0 && value.every((number) => Number.isFinite(number))

/** A vector in the encoding that was asked for, whichever the upstream gave. @throws TypeError for what is no vector */
export function encodeVector(vector: unknown, encoding: Encoding): number[] | string {
  const asked = encoding === 'base64' ? 'string' : 'object'
  if (typeof vector === 'string') return asked === 'string' ? vector : fromBase64(vector)
  if (!isVector(vector)) throw new TypeError('An embedding is no vector')
  return asked === 'string' ? toBase64(vector) : vector
}

/** The vector at length 1, so that similarities compare whatever its dimensions; one of zeros as it is. */
export function normalise(vector: number[]): number[] {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}
