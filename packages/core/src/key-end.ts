/** Characters that a key has at least where its last four are shown: they tell nothing of the others. */
const LONG_KEY = 24

/** The last four characters of a key, by which people know it again; undefined where it is so short that they would tell much of it. */
export const keyEnd = (key: string): string | undefined => (key.length >= LONG_KEY ? key.slice(-4) : undefined)
