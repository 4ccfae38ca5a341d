import { toBase64 } from '@turnpike/core/helpers'
import { invalid } from '@turnpike/core/internal'

/** The media of a `data:` URL. */
export interface Media {
  /** In lower case, without parameters; `text/plain` if the URL has none (RFC 2397). */
  type: string
  /** In base64. */
  data: string
}

/** Most characters before the comma: media types have at most 127 in each half (RFC 6838), and few have parameters. */
const HEAD_LENGTH = 400

const malformed = () => invalid('A data URL is malformed')

const PERCENT = 0x25
const SPACE = 0x20

/** The value of a hexadecimal digit; NaN for any other byte. */
function digit(byte = 0): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30
  const letter = byte | 0x20
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : NaN
}

/**
 * The bytes of a text in UTF-8, with percent-encoded ones decoded in place: media of many megabytes may be written so.
 * @param above leaves out bytes up to this one
 */
function decodePercent(escaped: string, above = -1): Uint8Array {
  if (/\p{Surrogate}/u.test(escaped)) throw malformed()
  const bytes = new TextEncoder().encode(escaped)
  let end = 0
  for (let i = 0; i < bytes.length; i++) {
    let byte = bytes[i]!
    if (byte === PERCENT) {
      byte = digit(bytes[++i]) * 16 + digit(bytes[++i])
      if (Number.isNaN(byte)) throw malformed()
    }
    if (byte > above) bytes[end++] = byte
  }
  return bytes.subarray(0, end)
}

/**
 * Parses a `data:` URL; undefined for any other. Data that is not base64 is converted to it, and base64 may be percent-encoded (URL standard).
 * @throws ApiError 400 for an invalid escape, or a head that no media type has
 */
export function parseDataUrl(url: string): Media | undefined {
  if (!/^data:/i.test(url)) return undefined
  const comma = url.indexOf(',')
  if (comma === -1) return undefined
  if (comma > HEAD_LENGTH) throw malformed()
  const [given = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';')
  const base64 = parameters.includes('base64')
  const type = given.trim() || 'text/plain'
  let data = url.slice(comma + 1)
  if (!base64) data = toBase64(decodePercent(data))
  else if (data.includes('%')) data = new TextDecoder().decode(decodePercent(data, SPACE))
  return {
    // Clients use the unregistered name image/jpg.
    type: type === 'image/jpg' ? 'image/jpeg' : type,
    data,
  }
}
