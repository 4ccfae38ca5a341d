/** A text as one word of a shell, in single quotes. */
export const inShell = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
