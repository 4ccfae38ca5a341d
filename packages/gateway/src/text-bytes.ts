/** Bytes of a text in UTF-8. */
export function utf8Bytes(text: string): number {
  let bytes = text.length
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i)
    // A pair of surrogates has four bytes.
    if (unit > 0x7f) bytes += unit < 0x800 || (unit >= 0xd800 && unit < 0xe000) ? 1 : 2
  }
  return bytes
}

/** Bytes of everything in a part of a request or answer, names included, about as many as its JSON has. */
export function bytesIn(value: unknown): number {
  if (typeof value === 'string') return utf8Bytes(value)
  if (value === undefined) return 0
  if (typeof value !== 'object' || value === null) return String(value).length
  let sum = 0
  if (Array.isArray(value)) for (const item of value) sum += bytesIn(item) + 1
  else
    for (const [name, inner] of Object.entries(value))
      if (inner !== undefined) sum += utf8Bytes(name) + bytesIn(inner) + 2
  return sum
}

/** Bytes of text per token that are expected: those of English, and about those of other languages (ruling 28). */
const TYPICAL = 4
/** The fewest bytes per token that are reckoned with: those of rare words, codes and emoji (docs/decisions/034). */
const FEWEST = 2

/** Tokens that are expected of so many bytes of text. */
export const expectedTokens = (bytes: number): number => Math.ceil(bytes / TYPICAL)

/** Tokens that so many bytes of text have at most. */
export const mostTokens = (bytes: number): number => Math.ceil(bytes / FEWEST)
