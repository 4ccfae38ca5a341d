/** Tokens of a request without media, by the bytes of its JSON: four each are expected, and two each are the most. */
export const requestTokens = (request: object, bytesPerToken: 2 | 4): number =>
  Math.ceil(Buffer.byteLength(JSON.stringify(request)) / bytesPerToken)

const hi = { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }

/** The same of the small chat request of the tests, with these fields. */
export const chatTokens = (fields: object, bytesPerToken: 2 | 4): number =>
  requestTokens({ ...hi, ...fields }, bytesPerToken)
