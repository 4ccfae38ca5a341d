import { invalid } from '@turnpike/core/internal'

/** The media of a `data:` URL. */
export interface Media {
  /** In lower case, without parameters; `text/plain` if the URL has none (RFC 2397). */
  type: string
  /** In base64. */
  data: string
}

/** Decodes percent-encoded bytes, one character each. */
function decodePercent(escaped: string): string {
  try {
    if (/%(?![\da-f]{2})/i.test(escaped)) throw new URIError()
    const ascii = escaped.replace(/[\u0080-\uffff]+/g, encodeURIComponent)
    return ascii.replace(/%(..)/g, (_, byte: string) => String.fromCharCode(parseInt(byte, 16)))
  } catch {
    throw invalid('A data URL is malformed')
  }
}

/**
 * Parses a `data:` URL; undefined for any other. Data that is not base64 is converted to it, and base64 may be percent-encoded (URL standard).
 * @throws ApiError 400 for an invalid escape
 */
export function parseDataUrl(url: string): Media | undefined {
  if (!/^data:/i.test(url)) return undefined
  const comma = url.indexOf(',')
  if (comma === -1) return undefined
  const [given = '', ...parameters] = url.slice('data:'.length, comma).toLowerCase().split(';')
  const base64 = parameters.includes('base64')
  const type = given.trim() || 'text/plain'
  let data = url.slice(comma + 1)
  if (!base64) data = btoa(decodePercent(data))
  else if (data.includes('%')) data = decodePercent(data).replace(/\s+/g, '')
  return {
    // Clients use the unregistered name image/jpg.
    type: type === 'image/jpg' ? 'image/jpeg' : type,
    data,
  }
}
