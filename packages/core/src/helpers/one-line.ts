/** Control characters, marks that have no width, and halves of surrogate pairs, which no log or database has to take. */
const unprintable = /[\p{Cc}\p{Cf}\p{Cs}]+/gu

/** The begin of somebody's text as one line of so many characters at most, fit for a log. */
export const oneLine = (text: string, length: number): string => text.slice(0, length).replace(unprintable, ' ')
