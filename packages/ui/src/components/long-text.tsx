import { piecesOf } from '../pieces.js'

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
