/**
 * Reads `application/vnd.amazon.eventstream` (AWS, "Event stream encoding"). Ours, because `@smithy/eventstream-codec` needs `@smithy/core` since
 * 4.5, some 8 MB installed, and reads whole frames only (docs/decisions/050).
 * @module
 */
import { concat, PIECE_COST } from '@turnpike/core/helpers'

/** One frame: its headers, of which only texts are read, and its payload. */
export interface Frame {
  headers: Record<string, string>
  payload: Uint8Array
}

/** Bytes of the lengths and their checksum, which come first, and of the checksum of the frame, which comes last. */
const PRELUDE = 12
const CHECKSUM = 4
/** Most bytes of a payload and of the headers, which AWS sets. */
const MOST_PAYLOAD = 16 * 1024 * 1024
const MOST_HEADERS = 128 * 1024

/** CRC-32 of each byte (RFC 1952, section 8). */
const table = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1
  return crc
})

function crc32(bytes: Uint8Array): number {
  let crc = -1
  for (const byte of bytes) crc = table[(crc ^ byte) & 255]! ^ (crc >>> 8)
  return ~crc >>> 0
}

/** Bytes of a header's value by its type; types 6 and 7, bytes and texts, have their length before them. */
const sizes = [0, 0, 1, 2, 4, 8, undefined, undefined, 8, 16]
const TEXT = 7

const utf8 = new TextDecoder()
const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView =>
  new DataView(buffer, byteOffset, byteLength)

function headersOf(bytes: Uint8Array): Frame['headers'] {
  const headers: Frame['headers'] = {}
  const view = viewOf(bytes)
  for (let at = 0; at < bytes.length;) {
    const name = utf8.decode(bytes.subarray(at + 1, at + 1 + view.getUint8(at)))
    at += 1 + view.getUint8(at)
    const type = view.getUint8(at++)
    const isSized = type === 6 || type === TEXT
    const size = isSized ? view.getUint16(at) : sizes[type]
    if (size === undefined) throw new TypeError('A header of a frame is of no known type')
    if (isSized) at += 2
    if (type === TEXT) headers[name] = utf8.decode(bytes.subarray(at, at + size))
    at += size
  }
  return headers
}

/** Reads the frames of a body in pieces. */
export function frameReader() {
  let pieces: Uint8Array[] = []
  let size = 0
  /** Bytes that are needed to go on: those of the lengths, or of the whole frame. */
  let needed = PRELUDE

  return {
    /** The frames that a piece completes. @throws TypeError for one that is too large, or whose checksum is wrong */
    take(piece: Uint8Array): Frame[] {
      pieces.push(piece)
      size += piece.length
      const frames: Frame[] = []
      if (size < needed) return frames
      let rest = concat(pieces, size)
      for (;;) {
        needed = PRELUDE
        if (rest.length < needed) break
        const view = viewOf(rest)
        const [total, headers] = [view.getUint32(0), view.getUint32(4)]
        if (view.getUint32(8) !== crc32(rest.subarray(0, 8)))
          throw new TypeError('The checksum of the lengths of a frame is wrong')
        const payload = total - headers - PRELUDE - CHECKSUM
        if (headers > MOST_HEADERS || payload < 0 || payload > MOST_PAYLOAD)
          throw new TypeError('The lengths of a frame are wrong')
        needed = total
        if (rest.length < needed) break
        const end = total - CHECKSUM
        if (view.getUint32(end) !== crc32(rest.subarray(0, end)))
          throw new TypeError('The checksum of a frame is wrong')
        frames.push({
          headers: headersOf(rest.subarray(PRELUDE, PRELUDE + headers)),
          payload: rest.subarray(PRELUDE + headers, end),
        })
        rest = rest.subarray(total)
      }
      pieces = [rest]
      size = rest.length
      return frames
    },
    /** Bytes that a frame takes that is not complete. */
    size: () => size + Math.max(0, pieces.length - 1) * PIECE_COST,
  }
}
