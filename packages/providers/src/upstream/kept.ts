import type { Memory } from '@turnpike/core'

/** Bytes, or characters, of an answer that are kept without being taken from the memory of its request: most have fewer. */
export const UNCOUNTED = 64 * 1024

/** Counts what of an answer is kept: each time that it is more than before, and than {@link UNCOUNTED}, the rest is taken from the memory of its request. */
export function keptOf(memory: Memory | undefined): (kept: number) => void {
  let counted = UNCOUNTED
  return (kept) => {
    if (kept <= counted) return
    memory?.take(kept - counted)
    counted = kept
  }
}
