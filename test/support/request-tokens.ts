/** Tokens of a request without media, by the bytes of its JSON: four each are expected, and two each are the most. */
export const requestTokens = (request: object, bytesPerToken: 2 | 4): number =>
  Math.ceil(Buffer.byteLength(JSON.stringify(request)) / bytesPerToken)
