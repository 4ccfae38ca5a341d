const decoder = new TextDecoder()

/** The letters and digits of ASCII in a text, in lower case. */
export const plain = (text: string): string => text.replace(/[^a-z0-9]+/gi, '').toLowerCase()

const isAlphanumeric = (code: number): boolean => (code >= 97 && code <= 122) || (code >= 48 && code <= 57)

/** The value of a hexadecimal digit; NaN for any other character. */
function hex(code: number): number {
  const lower = code | 32
  return code <= 57 ? (code >= 48 ? code - 48 : NaN) : lower >= 97 && lower <= 102 ? lower - 87 : NaN
}

/** {@link plain} of the texts in JSON, in one pass over its characters: a body may have 20 million. */
function lettersOf(json: string, decodes: boolean): string {
  const letters = new Uint8Array(json.length)
  let length = 0
  for (let at = 0; at < json.length; at++) {
    let code = json.charCodeAt(at)
    if (code === 92) {
      // An escape of JSON, of which none stands for a letter: `\n`, `\u0000`.
      at += json[at + 1] === 'u' ? 5 : 1
      continue
    }
    if (code === 37 && decodes) {
      const decoded = hex(json.charCodeAt(at + 1)) * 16 + hex(json.charCodeAt(at + 2))
      if (decoded >= 0) {
        code = decoded
        at += 2
      }
    }
    if (code >= 65 && code <= 90) code += 32
    if (isAlphanumeric(code)) letters[length++] = code
  }
  return decoder.decode(letters.subarray(0, length))
}

/**
 * Whether a request contains one of some texts, as it is or percent-encoded, with whatever between the letters and digits: upstreams repeat a caller's
 * text in their errors, and quote it in their own way.
 */
export function isOfCaller(texts: readonly string[], request: object): boolean {
  const json = JSON.stringify(request)
  const wanted = Array.from(new Set(texts), plain)
  const isIn = (letters: string): boolean => wanted.some((text) => letters.includes(text))
  return isIn(lettersOf(json, false)) || (json.includes('%') && isIn(lettersOf(json, true)))
}
