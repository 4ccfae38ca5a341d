/** Sequences in which characters that are not seen have a meaning: of emoji, the three flags of regions, Arabic signs, and joiners between letters without case. */
const MEANT = [
  String.raw`\u{1F3F4}\u{E0067}\u{E0062}(?:\u{E0065}\u{E006E}\u{E0067}|\u{E0073}\u{E0063}\u{E0074}|\u{E0077}\u{E006C}\u{E0073})\u{E007F}`,
  String.raw`[#*0-9]\uFE0F\u20E3`,
  String.raw`\p{Extended_Pictographic}[\uFE0E\uFE0F\p{Emoji_Modifier}]?(?:\u200D\p{Extended_Pictographic}[\uFE0F\p{Emoji_Modifier}]?)*`,
  String.raw`[\u0600-\u0605\u06DD\u070F\u0890\u0891\u08E2]`,
  String.raw`(?<=[\p{Lo}\p{M}])[\u200C\u200D](?=\p{Lo})`,
].join('|')

/** Such as zero-width spaces, variation selectors, tag characters, and what changes the order of letters. */
const UNSEEN = String.raw`(?:[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Zl}\p{Zp}]|(?![\n\t])\p{Cc})`

const any = new RegExp(UNSEEN, 'u')
const all = new RegExp(`(${MEANT})|${UNSEEN}+`, 'gu')

/**
 * Replaces the characters of a text that people do not see and models read, but for those of emoji and joiners between letters.
 * @param replace gets one or several that stand together
 */
export const replaceUnseen = (text: string, replace: (characters: string) => string): string =>
  any.test(text) ? text.replace(all, (found, meant?: string) => meant ?? replace(found)) : text
