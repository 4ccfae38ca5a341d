/** Writes `application/vnd.amazon.eventstream`, as AWS's "Event stream encoding" describes it. @module */
import { concat } from '@turnpike/core/helpers'

const utf8 = new TextEncoder()

/** CRC-32 by its definition, bit by bit (RFC 1952, section 8). */
function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff
  for (const byte of bytes)
    for (let bit = 0; bit < 8; bit++) {
      const isSet = ((crc ^ (byte >>> bit)) & 1) === 1
      crc = (crc >>> 1) ^ (isSet ? 0xedb88320 : 0)
    }
  return (crc ^ 0xffffffff) >>> 0
}

const joined = (...pieces: Uint8Array[]): Uint8Array =>
  concat(
    pieces,
    pieces.reduce((size, { length }) => size + length, 0),
  )

function number(value: number, bytes: 1 | 2 | 4): Uint8Array {
  const view = new DataView(new ArrayBuffer(bytes))
  if (bytes === 1) view.setUint8(0, value)
  else if (bytes === 2) view.setUint16(0, value)
  else view.setUint32(0, value)
  return new Uint8Array(view.buffer)
}

/** A frame with headers that are texts. */
export function frame(headers: Record<string, string>, payload: object): Uint8Array {
  const head = joined(
    ...Object.entries(headers).flatMap(([name, value]) => {
      const [key, text] = [utf8.encode(name), utf8.encode(value)]
      return [number(key.length, 1), key, number(7, 1), number(text.length, 2), text]
    }),
  )
  const body = utf8.encode(JSON.stringify(payload))
  const lengths = joined(number(16 + head.length + body.length, 4), number(head.length, 4))
  const begun = joined(lengths, number(crc32(lengths), 4), head, body)
  return joined(begun, number(crc32(begun), 4))
}
