import { replaceUnseen } from '@turnpike/core/helpers'

/** Characters as their escapes. */
const escaped = (characters: string): string =>
  Array.from(characters, (one) => `\\u{${one.codePointAt(0)!.toString(16)}}`).join('')

/**
 * A text that is shown as it is: characters that are not seen, or reorder text, such as U+202E, are written as their escapes. What somebody is asked to
 * allow must not look like something else.
 */
export const visible = (text: string): string => replaceUnseen(text, escaped)

/** Tag characters stand for ASCII. */
const shownOf = (character: string): string => {
  const ascii = character.codePointAt(0)! - 0xe0000
  return ascii >= 0x20 && ascii < 0x7f ? String.fromCharCode(ascii) : escaped(character)
}

/** One that may belong to a word, such as a soft hyphen: no tag character, and none that reverses the order of letters. */
const OF_A_WORD = /^[^\u{E0020}-\u{E007E}\u202D\u202E]$/u

/** A text that is only read, with what models read of it besides: tag characters as the ASCII that they stand for, and several others as their escapes. */
export const withUnseen = (text: string): string =>
  replaceUnseen(text, (characters) =>
    OF_A_WORD.test(characters) ? characters : Array.from(characters, shownOf).join(''),
  )
