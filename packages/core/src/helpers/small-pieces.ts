/** Not shown: bytes of memory that each piece of a body is reckoned with, besides those in it. */
export const PIECE_COST = 256

/** Not shown: pieces of a body, of less than `SMALL_PIECE` bytes on average, at most. Each costs as much CPU as a large one. */
const SMALL_PIECES = 10_000
const SMALL_PIECE = 32

/** Whether a body comes in pieces that cost far more than what is in them. */
export const inSmallPieces = (pieces: number, bytes: number): boolean =>
  pieces > SMALL_PIECES && bytes < pieces * SMALL_PIECE
