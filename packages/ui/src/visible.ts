/** Characters as their escapes. */
const escaped = (characters: string): string =>
  Array.from(characters, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`).join('')

/**
 * A text that is shown as it is: characters that hide or reorder text, such as U+202E, are written as their escapes. What somebody is asked to allow
 * must not look like something else.
 */
export const visible = (text: string): string => text.replaceAll(/[\p{Cf}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/gu, escaped)

/** A flag, such as Scotland's: its region is written in tag characters, which end with one of their own. */
const FLAG = /\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{1,6}\u{E007F}/gu

/** Tag characters, several variation selectors, of which a letter has one at most, and what reverses the order of letters. */
const UNSEEN = /[\u{E0020}-\u{E007E}]|[\u{FE00}-\u{FE0F}\u{E0100}-\u{E01EF}]{2,}|[\u202D\u202E]/gu

/** Tag characters stand for ASCII. */
const shownOf = (characters: string): string => {
  const ascii = characters.codePointAt(0)! - 0xe0000
  return ascii >= 0x20 && ascii < 0x7f ? String.fromCharCode(ascii) : escaped(characters)
}

/**
 * A text with what browsers do not show of it and models read: tag characters as the ASCII that they stand for, but for those of flags; others as their
 * escapes.
 */
export function withUnseen(text: string): string {
  if (text.search(UNSEEN) === -1) return text
  const flags = text.match(FLAG) ?? []
  const others = text.split(FLAG).map((part) => part.replace(UNSEEN, shownOf))
  return others.map((part, i) => part + (flags[i] ?? '')).join('')
}
