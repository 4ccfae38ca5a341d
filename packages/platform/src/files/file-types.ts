/** How many of a file's first bytes {@link mayShow} needs. */
export const HEAD_BYTES = 512

const at =
  (offset: number, text: string) =>
  (head: Uint8Array): boolean =>
    [...text].every((char, i) => head[offset + i] === char.charCodeAt(0))

const allOf =
  (...tests: ((head: Uint8Array) => boolean)[]) =>
  (head: Uint8Array): boolean =>
    tests.every((test) => test(head))

const anyOf =
  (...tests: ((head: Uint8Array) => boolean)[]) =>
  (head: Uint8Array): boolean =>
    tests.some((test) => test(head))

/** Whether it is UTF-8 without NUL; a character that the end cuts is let pass. */
function isText(head: Uint8Array): boolean {
  try {
    return !new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true }).includes('\0')
  } catch {
    return false
  }
}

/** An MPEG audio frame, or the ID3 tag before it. */
const isMp3 = anyOf(at(0, 'ID3'), (head) => head[0] === 0xff && (head[1]! & 0xe6) === 0xe2)

/**
 * The types that browsers may show in place, and what the first bytes of such a file are. None of them can run scripts in a page. PDF is not among
 * them, because Chromium shows none in a sandbox.
 */
const inlineTypes = new Map<string, (head: Uint8Array) => boolean>(
  Object.entries({
    'image/png': at(0, '\x89PNG\r\n\x1a\n'),
    'image/jpeg': at(0, '\xff\xd8\xff'),
    'image/gif': anyOf(at(0, 'GIF87a'), at(0, 'GIF89a')),
    'image/webp': allOf(at(0, 'RIFF'), at(8, 'WEBP')),
    'image/avif': allOf(at(4, 'ftyp'), anyOf(at(8, 'avif'), at(8, 'avis'))),
    'audio/mpeg': isMp3,
    'audio/wav': allOf(at(0, 'RIFF'), at(8, 'WAVE')),
    'audio/webm': at(0, '\x1aE\xdf\xa3'),
    'video/mp4': at(4, 'ftyp'),
    'video/webm': at(0, '\x1aE\xdf\xa3'),
    'text/plain': isText,
  }),
)

/** Whether browsers may show a file in place: its type is one of few, and its first bytes are those of the type. Otherwise it is a download. */
export const mayShow = (type: string, head: Uint8Array): boolean => inlineTypes.get(type)?.(head) ?? false

/** Tells of bytes, chunk by chunk and at their end, whether all so far are UTF-8 without NUL. */
export function utf8Check(): (chunk?: Uint8Array) => boolean {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  let isText = true
  return (chunk) => {
    try {
      isText &&= !decoder.decode(chunk, { stream: chunk !== undefined }).includes('\0')
    } catch {
      isText = false
    }
    return isText
  }
}

/** A media type as a client gives it, without parameters and in lower case; `application/octet-stream` for what is none. */
export function mediaTypeOf(given: string): string {
  const type = given.split(';', 1)[0]!.trim().toLowerCase()
  return /^[\w!#$&^.+-]{1,100}\/[\w!#$&^.+-]{1,100}$/.test(type) ? type : 'application/octet-stream'
}

/** Types that a page runs or applies by `<script>` or `<link>`, wherever they come from: not even a download may have them. */
const RUN_BY_PAGES = /script|css|wasm|manifest/

/** The content type that a file is sent with. @param isShown whether browsers may show it in place */
export function contentTypeOf(type: string, isShown: boolean): string {
  if (RUN_BY_PAGES.test(type)) return 'application/octet-stream'
  return isShown && type === 'text/plain' ? 'text/plain; charset=utf-8' : type
}
