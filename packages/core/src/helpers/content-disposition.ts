/** What would separate, hide or reorder parts of a name: path separators, control characters and bidirectional controls. */
const UNSAFE = /[/\\\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** A `Content-Disposition` header with any file name (RFC 6266; the exact name by RFC 8187). */
export function contentDisposition(type: 'inline' | 'attachment', filename: string): string {
  // Lone surrogates, which encodeURIComponent refuses, become U+FFFD.
  const name = new TextDecoder().decode(new TextEncoder().encode(filename)).replace(UNSAFE, '_')
  const plain = name.replace(/[^ -~]|["%]/g, '_')
  const exact = encodeURIComponent(name).replace(
    /['()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `${type}; filename="${plain}"; filename*=UTF-8''${exact}`
}
