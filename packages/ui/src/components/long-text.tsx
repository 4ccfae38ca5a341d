/** Most characters that are laid out at once. For some texts the browser needs the square of their length, which is 0.2 s here. */
const PIECE = 4_000

/** A text in pieces of whole lines, of which only the last one changes while it grows. */
export function piecesOf(text: string): string[] {
  const pieces: string[] = []
  let at = 0
  while (text.length - at > PIECE) {
    const end = text.lastIndexOf('\n', at + PIECE - 1) + 1
    const next = end > at ? end : at + PIECE
    pieces.push(text.slice(at, next))
    at = next
  }
  return [...pieces, text.slice(at)]
}

/** A text that may be long, within an element that keeps its spaces and lines. */
export function LongText({ text }: { text: string }) {
  const pieces = piecesOf(text)
  if (pieces.length === 1) return <>{text}</>
  return (
    <>
      {pieces.map((piece, i) => (
        <span key={i} class="piece">
          {piece}
        </span>
      ))}
    </>
  )
}
