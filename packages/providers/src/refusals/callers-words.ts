const decoder = new TextDecoder()

/** The letters and digits of ASCII in a text, in lower case. */
export const plain = (text: string): string => text.replace(/[^a-z0-9]+/gi, '').toLowerCase()

/** For each character of ASCII, what {@link plain} leaves of it; 0 for nothing. */
const letters = Uint8Array.from({ length: 128 }, (_, code) => plain(String.fromCharCode(code)).charCodeAt(0))

/** The value of a hexadecimal digit; NaN for any other character. */
function hex(code: number): number {
  const lower = code | 32
  return code <= 57 ? (code >= 48 ? code - 48 : NaN) : lower >= 97 && lower <= 102 ? lower - 87 : NaN
}

/** Whether a character is an escape of JSON by itself: `n`, `r`, `t`, `b`, `f`. */
const isEscape = (code: number): boolean => code === 110 || code === 114 || code === 116 || code === 98 || code === 102

/**
 * {@link plain} of the texts in JSON, as they are and decoded, where they are percent-encoded or JSON themselves, in one pass over the characters: a body may have
 * 20 million.
 */
function lettersOf(json: string): string[] {
  const given = new Uint8Array(json.length)
  const decoded = json.includes('%') || json.includes('\\\\') ? new Uint8Array(json.length) : undefined
  let length = 0
  let decodedLength = 0
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at)
    // An escape of JSON, of which none stands for a letter: `\n`, `\u0000`.
    if (code === 92 && decoded && json.charCodeAt(at + 1) === 92) {
      // An escape of the JSON in a text.
      const next = json.charCodeAt(++at + 1)
      const digits = next === 117 ? [2, 3, 4, 5].map((i) => hex(json.charCodeAt(at + i))) : []
      const value = digits.reduce((sum, digit) => sum * 16 + digit, 0)
      const isEncoded = digits.length > 0 && value >= 0
      if (isEncoded && value < 128 && letters[value]) decoded[decodedLength++] = letters[value]
      if (!isEncoded && !isEscape(next)) continue
      for (let left = isEncoded ? 5 : 1; left > 0; left--) {
        const letter = letters[json.charCodeAt(++at)]!
        if (letter !== 0) given[length++] = letter
      }
    } else if (code === 92) at += json[at + 1] === 'u' ? 5 : 1
    else if (decoded && code === 37) {
      const value = hex(json.charCodeAt(at + 1)) * 16 + hex(json.charCodeAt(at + 2))
      if (!(value >= 0)) continue
      if (letters[value]) decoded[decodedLength++] = letters[value]
      given[length++] = letters[json.charCodeAt(++at)]!
      given[length++] = letters[json.charCodeAt(++at)]!
    } else if (code < 128) {
      const letter = letters[code]!
      if (letter === 0) continue
      given[length++] = letter
      if (decoded) decoded[decodedLength++] = letter
    }
  }
  return [given.subarray(0, length), ...(decoded ? [decoded.subarray(0, decodedLength)] : [])].map((bytes) =>
    decoder.decode(bytes),
  )
}

/** Most texts that are looked for, each in the whole request: an answer that refuses one parameter has a few. */
const MOST_TEXTS = 32

/** Letters of each that are looked for: V8 finds longer ones by comparing them at each place, where they end in many of the same. */
const MOST_LETTERS = 250

/**
 * Whether a request contains the beginning of one of some texts, or there are more of them than are looked for, as it is or percent-encoded, with
 * whatever between the letters and digits: upstreams repeat a caller's text in their errors, and quote it in their own way.
 */
export function isOfCaller(texts: readonly string[], request: object): boolean {
  const wanted = Array.from(new Set(texts), (text) => plain(text).slice(0, MOST_LETTERS))
  if (wanted.length > MOST_TEXTS) return true
  return lettersOf(JSON.stringify(request)).some((all) => wanted.some((text) => all.includes(text)))
}
