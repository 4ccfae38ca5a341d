/**
 * A text that is shown as it is: characters that hide or reorder text, such as U+202E, are written as their escapes. What somebody is asked to allow
 * must not look like something else.
 */
export const visible = (text: string): string =>
  text.replaceAll(
    /[\p{Cf}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc}/gu,
    (character) => `\\u{${character.codePointAt(0)!.toString(16)}}`,
  )
