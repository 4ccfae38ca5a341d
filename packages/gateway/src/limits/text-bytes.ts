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

/** Bytes of the JSON of a value; 0 for undefined. */
export const jsonBytes = (value: unknown): number => (value === undefined ? 0 : utf8Bytes(JSON.stringify(value)))

/** Bytes of text per token that are expected: those of English, and about those of other languages. */
const TYPICAL = 4
/** The fewest bytes per token that are reckoned with: those of rare words, codes and emoji (docs/decisions/034). */
const FEWEST = 2

/** Tokens that are expected of so many bytes of text. */
export const expectedTokens = (bytes: number): number => Math.ceil(bytes / TYPICAL)

/** Tokens that so many bytes of text have at most. */
export const mostTokens = (bytes: number): number => Math.ceil(bytes / FEWEST)
