/** Concatenates the pieces of a body; `size` is the sum of their lengths. */
export function concat(pieces: Uint8Array[], size: number): Uint8Array {
  if (pieces.length === 1) return pieces[0]!
  const whole = new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    whole.set(piece, at)
    at += piece.length
  }
  return whole
}

/** Reads a body of at most `most` bytes, the rest of which is not read. @throws what `tooLarge` makes */
export async function readAtMost(
  body: AsyncIterable<Uint8Array> | null,
  most: number,
  tooLarge: () => Error,
): Promise<Uint8Array> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.length
    if (size > most) throw tooLarge()
    pieces.push(piece)
  }
  return concat(pieces, size)
}
