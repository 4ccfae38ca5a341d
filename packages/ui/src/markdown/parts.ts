import type { Block } from './document.js'

/** Characters of a full part, and those that each block counts for besides its own: it is an element, however short. */
const FULL = 10_000
const PER_BLOCK = 100

export type Part = readonly [Block, ...Block[]]

const known = new WeakMap<Block, Part>()

/** The object that a part was before, where it has not changed. */
function kept(part: Part): Part {
  const before = known.get(part[0])
  if (before?.length === part.length && part.every((block, i) => block === before[i])) return before
  known.set(part[0], part)
  return part
}

/**
 * The blocks of a text in parts, as the browser takes long for the styles of very many in one; a part that does not change stays the same object.
 * Where a part begins depends on what stands before it, so that only the last one changes while a text grows.
 */
export function partsOf(blocks: readonly Block[]): Part[] {
  const parts: [Block, ...Block[]][] = []
  let size = 0
  for (const block of blocks) {
    const part = parts.at(-1)
    // What follows a heading or a rule has a margin of its own, so it is not parted from it; but there may be nothing else.
    const isOpen = ['heading_open', 'hr'].includes(part?.at(-1)!.tokens[0]?.type ?? '')
    if (part && size < (isOpen ? 2 * FULL : FULL)) part.push(block)
    else {
      parts.push([block])
      size = 0
    }
    size += PER_BLOCK + block.source.length
  }
  return parts.map(kept)
}
