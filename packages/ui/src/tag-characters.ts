/** A flag, such as Scotland's: its region is written in tag characters, which end with one of their own. */
const FLAG = /\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{1,6}\u{E007F}/gu

/**
 * A text with its tag characters (U+E0020 to U+E007E) as the ASCII that they stand for: browsers show nothing of them, and models read them. Those of
 * flags stay.
 */
export function withTagCharacters(text: string): string {
  // Their first half, as most texts have none.
  if (!text.includes('\uDB40')) return text
  const flags = text.match(FLAG) ?? []
  const others = text
    .split(FLAG)
    .map((part) =>
      part.replace(/[\u{E0020}-\u{E007E}]/gu, (tag) => String.fromCodePoint(tag.codePointAt(0)! - 0xe0000)),
    )
  return others.map((part, i) => part + (flags[i] ?? '')).join('')
}
