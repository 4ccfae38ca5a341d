/** Most characters that are laid out, or highlighted, at once: for some texts browsers and grammars need the square of their length, which is 0.2 s here. */
const PIECE = 4_000

/** Where a text that goes on for more than `most` characters is cut: at a line, best one that is not indented; else at a space. */
export function cutOf(text: string, from: number, most: number): number {
  const half = from + most / 2
  const later = text.slice(half, from + most)
  const places = [/\n(?=\S)/g, /\n/g, /\s/g].map((pattern) => [...later.matchAll(pattern)].at(-1)?.index)
  const place = places.find((one) => one !== undefined)
  if (place !== undefined) return half + place + 1
  // No character is cut in two.
  return from + most - (/[\uD800-\uDBFF]$/.test(later) ? 1 : 0)
}

/** A text in pieces, of which only the last one changes while it grows. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let at = 0
  while (text.length - at > PIECE) {
    const end = cutOf(text, at, PIECE)
    pieces.push(text.slice(at, end))
    at = end
  }
  return [...pieces, text.slice(at)]
}
