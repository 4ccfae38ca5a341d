import { invalid, toBase64 } from '@turnpike/core/internal'

/** The media of a `data:` URL. */
export interface Media {
  /** In lower case, without parameters; `text/plain` if the URL has none (RFC 2397). */
  type: string
  /** In base64. */
  data: string
}

/** Decodes percent-encoded text to bytes. */
function toBytes(escaped: string): Uint8Array {
  try {
    return new TextEncoder().encode(decodeURIComponent(escaped))
  } catch {
    throw invalid('A data URL is malformed')
  }
}

/** Parses a `data:` URL; undefined for any other. Data that is not base64 is converted to it. @throws ApiError 400 for an invalid escape */
export function parseDataUrl(url: string): Media | undefined {
  if (!url.startsWith('data:')) return undefined
  const comma = url.indexOf(',')
  if (comma === -1) return undefined
  const [given = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';')
  const type = given.trim() || 'text/plain'
  const data = url.slice(comma + 1)
  return {
    // Clients use the unregistered name image/jpg.
    type: type === 'image/jpg' ? 'image/jpeg' : type,
    data: parameters.includes('base64') ? data : toBase64(toBytes(data)),
  }
}
