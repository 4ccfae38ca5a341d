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

/** The bytes of a vector, a character for each. @throws TypeError where the text is no vector */
function unpack(text: string): string {
  const binary = atob(text)
  if (binary.length === 0 || binary.length % BYTES !== 0) throw new TypeError('The vector is cut short')
  return binary
}

function fromBytes(binary: string): number[] {
  const view = new DataView(Uint8Array.from(binary, (character) => character.charCodeAt(0)).buffer)
  return Array.from({ length: binary.length / BYTES }, (_, i) => view.getFloat32(i * BYTES, true))
}

/** @throws TypeError for what is no vector */
export function toVector(value: unknown): number[] {
  if (Array.isArray(value) && value.length > 0 && value.every((number) => Number.isFinite(number)))
    return value as number[]
  throw new TypeError('An embedding is no vector')
}

/** A vector in the encoding that was asked for, whichever the upstream gave. @throws where it is none */
export function encodeVector(vector: unknown, encoding: Encoding): number[] | string {
  if (typeof vector !== 'string') return encoding === 'base64' ? toBase64(toVector(vector)) : toVector(vector)
  const binary = unpack(vector)
  return encoding === 'base64' ? vector : toVector(fromBytes(binary))
}

/** The vector at length 1, so that similarities compare whatever its dimensions; one of zeros as it is. */
export function normalise(vector: number[]): number[] {
  const length = Math.hypot(...vector)
  return length === 0 ? vector : vector.map((value) => value / length)
}
