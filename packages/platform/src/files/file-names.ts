import { FILE_NAME_BYTES } from '../conventions.js'

const utf8 = new TextEncoder()

/** Characters of a name that are looked at: normal form C of many marks takes the square of their number. */
const MOST = 4 * FILE_NAME_BYTES
/** Of them, those at the end, in which the extension is. */
const END = 20

/**
 * The display name of an upload, made from the file name that a client sends: in normal form C, without control characters, and no longer than
 * {@link FILE_NAME_BYTES}; the extension is kept. `file` where nothing is left.
 */
export function displayNameOf(fileName: string): string {
  // Lone surrogates become U+FFFD.
  const whole = new TextDecoder()
    .decode(utf8.encode(fileName.length > MOST ? fileName.slice(0, MOST - END) + fileName.slice(-END) : fileName))
    .normalize('NFC')
    .replace(/\p{Cc}/gu, '')
    .trim()
  if (utf8.encode(whole).length <= FILE_NAME_BYTES) return whole || 'file'
  const extension = /\.[^.\s]{1,16}$/u.exec(whole)?.[0] ?? ''
  let name = ''
  let room = FILE_NAME_BYTES - utf8.encode(extension).length
  for (const char of whole.slice(0, whole.length - extension.length)) {
    room -= utf8.encode(char).length
    if (room < 0) break
    name += char
  }
  return name + extension
}
