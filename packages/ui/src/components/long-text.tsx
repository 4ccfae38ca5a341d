import { piecesOf } from '../pieces.js'
import { withUnseen } from '../visible.js'

/** A text that may be long, within an element that keeps its spaces and lines. */
export function LongText({ text: written }: { text: string }) {
  const pieces = piecesOf(withUnseen(written))
  if (pieces.length === 1) return <>{pieces}</>
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
