/** A text as a segment of a path; a lone surrogate, which cannot be in one, becomes U+FFFD. */
export const escaped = (text: string): string => encodeURIComponent(Buffer.from(text).toString())
