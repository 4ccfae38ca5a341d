/** A part of a text, and whether the other text has it. */
export interface Piece {
  text: string
  changed: boolean
}

/** Lines that both texts have, or lines of the one in place of lines of the other. A line is its pieces. */
export type Block = { same: readonly string[] } | { removed: readonly Piece[][]; added: readonly Piece[][] }

/** How two texts differ. */
export interface Diff {
  /** From their beginning, up to {@link MOST_LINES} changed lines of either side. */
  blocks: Block[]
  /** How many lines are taken off and put in, all of them. */
  removed: number
  added: number
  /** Whether the blocks are not all. */
  isCut: boolean
}

/** Most changed lines of either side that a diff has. */
export const MOST_LINES = 1_000

/** Most pairs of lines and of words that a diff compares: they take some 20 ms and 16 MB. */
const MOST_PAIRS = 4_000_000

/** Most characters of changed lines that a diff splits into words. */
const MOST_CHARACTERS = 100_000

/** What a diff may still do. */
interface Budget {
  pairs: number
  characters: number
}

/** A run of items that both lists have, or one in which they differ. */
interface Run {
  same: boolean
  before: string[]
  after: string[]
}

/** Numbers for the items of two lists, the same for the same text: numbers are compared faster than long texts. */
function numbered(before: readonly string[], after: readonly string[]): [Uint32Array, Uint32Array] {
  const numbers = new Map<string, number>()
  const numberOf = (text: string): number => {
    const known = numbers.get(text)
    if (known === undefined) numbers.set(text, numbers.size)
    return known ?? numbers.size - 1
  }
  return [Uint32Array.from(before, numberOf), Uint32Array.from(after, numberOf)]
}

/**
 * The runs of two lists by their longest common subsequence. Where the budget does not allow to compare them, all that is between their common
 * beginning and end differs.
 */
function runsOf(before: readonly string[], after: readonly string[], budget: Budget): Run[] {
  const [a, b] = numbered(before, after)
  const runs: Run[] = []
  const push = (same: boolean, fromBefore: readonly string[], fromAfter: readonly string[]): void => {
    if (fromBefore.length === 0 && fromAfter.length === 0) return
    let last = runs.at(-1)
    if (last?.same !== same) runs.push((last = { same, before: [], after: [] }))
    for (const one of fromBefore) last.before.push(one)
    for (const one of fromAfter) last.after.push(one)
  }
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let [endA, endB] = [a.length, b.length]
  while (endA > start && endB > start && a[endA - 1] === b[endB - 1]) {
    endA--
    endB--
  }
  push(true, before.slice(0, start), after.slice(0, start))
  let [i, j] = [start, start]
  const pairs = (endA - start) * (endB - start)
  if (pairs > 0 && pairs <= budget.pairs) {
    budget.pairs -= pairs
    // Of i and j, the length of the longest common subsequence of what follows i in `a` and j in `b`.
    const width = endB - start + 1
    const lengths = new Uint32Array((endA - start + 1) * width)
    const at = (i: number, j: number): number => (i - start) * width + j - start
    for (let i = endA - 1; i >= start; i--)
      for (let j = endB - 1; j >= start; j--)
        lengths[at(i, j)] =
          a[i] === b[j] ? lengths[at(i + 1, j + 1)]! + 1 : Math.max(lengths[at(i + 1, j)]!, lengths[at(i, j + 1)]!)
    while (i < endA && j < endB) {
      if (a[i] === b[j]) push(true, [before[i++]!], [after[j++]!])
      else if (lengths[at(i + 1, j)]! >= lengths[at(i, j + 1)]!) push(false, [before[i++]!], [])
      else push(false, [], [after[j++]!])
    }
  }
  push(false, before.slice(i, endA), after.slice(j, endB))
  push(true, before.slice(endA), after.slice(endB))
  return runs
}

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []

/** A line all of which differs. */
const whole = (text: string): Piece[] => [{ text, changed: true }]

/** The pieces of two lines: what they share, if that is a third at least and the budget allows to find it. */
function piecesOf(before: string, after: string, budget: Budget): [Piece[], Piece[]] {
  const characters = before.length + after.length
  if (characters > budget.characters) return [whole(before), whole(after)]
  budget.characters -= characters
  const runs = runsOf(wordsOf(before), wordsOf(after), budget)
  const shared = runs.reduce((sum, run) => sum + (run.same ? run.before.join('').trim().length : 0), 0)
  if (shared * 3 < Math.max(before.trim().length, after.trim().length)) return [whole(before), whole(after)]
  const side = (words: 'before' | 'after'): Piece[] =>
    runs.map((run) => ({ text: run[words].join(''), changed: !run.same })).filter(({ text }) => text !== '')
  return [side('before'), side('after')]
}

/** The lines of a text; none of an empty one. */
const linesOf = (text: string): string[] => (text === '' ? [] : text.replaceAll('\r\n', '\n').split('\n'))

/** Lines of the one text in place of lines of the other. */
function changed(before: readonly string[], after: readonly string[], budget: Budget): Block {
  const removed = before.map(whole)
  const added = after.map(whole)
  for (let i = 0; i < Math.min(removed.length, added.length); i++)
    [removed[i], added[i]] = piecesOf(before[i]!, after[i]!, budget)
  return { removed, added }
}

/**
 * How two texts differ: by lines and, in lines that take each other's place, by words. Long texts are compared as far as about 50 ms allow; what
 * is left differs as whole lines.
 */
export function diff(before: string, after: string): Diff {
  const budget: Budget = { pairs: MOST_PAIRS, characters: MOST_CHARACTERS }
  const found: Diff = { blocks: [], removed: 0, added: 0, isCut: false }
  let left = MOST_LINES
  for (const run of runsOf(linesOf(before), linesOf(after), budget)) {
    if (run.same ? !found.isCut : left > 0)
      found.blocks.push(
        run.same ? { same: run.before } : changed(run.before.slice(0, left), run.after.slice(0, left), budget),
      )
    if (run.same) continue
    const lines = Math.max(run.before.length, run.after.length)
    found.isCut ||= lines > left
    found.removed += run.before.length
    found.added += run.after.length
    left -= lines
  }
  return found
}
