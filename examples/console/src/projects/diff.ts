/** A part of a text, and whether the other text has it. */
export interface Piece {
  text: string
  changed: boolean
}

/** Lines that both texts have, or lines of the one in place of lines of the other. A line is its pieces. */
export type Block = { same: readonly string[] } | { removed: readonly Piece[][]; added: readonly Piece[][] }

/** Most pairs of lines that are compared: 4 million take a few milliseconds and 16 MB. */
const MOST_PAIRS = 4_000_000

/** A run of items that both lists have, or one in which they differ. */
interface Run<T> {
  same: boolean
  before: T[]
  after: T[]
}

/**
 * The runs of two lists by their longest common subsequence. Where the lists are too long to be compared, all that is between their common
 * beginning and end differs.
 */
function runsOf<T>(before: readonly T[], after: readonly T[]): Run<T>[] {
  let start = 0
  while (start < before.length && start < after.length && before[start] === after[start]) start++
  let end = 0
  while (
    end < Math.min(before.length, after.length) - start &&
    before[before.length - 1 - end] === after[after.length - 1 - end]
  )
    end++
  const a = before.slice(start, before.length - end)
  const b = after.slice(start, after.length - end)
  const runs: Run<T>[] = []
  const push = (same: boolean, x: readonly T[], y: readonly T[]): void => {
    if (x.length === 0 && y.length === 0) return
    let last = runs.at(-1)
    if (last?.same !== same) runs.push((last = { same, before: [], after: [] }))
    for (const one of x) last.before.push(one)
    for (const one of y) last.after.push(one)
  }
  push(true, before.slice(0, start), after.slice(0, start))
  if (a.length * b.length > MOST_PAIRS) push(false, a, b)
  else {
    // Cell (i, j) is the length of the longest common subsequence of what follows i in `a` and j in `b`.
    const width = b.length + 1
    const lengths = new Uint32Array((a.length + 1) * width)
    for (let i = a.length - 1; i >= 0; i--)
      for (let j = b.length - 1; j >= 0; j--)
        lengths[i * width + j] =
          a[i] === b[j]
            ? lengths[(i + 1) * width + j + 1]! + 1
            : Math.max(lengths[(i + 1) * width + j]!, lengths[i * width + j + 1]!)
    let i = 0
    let j = 0
    while (i < a.length && j < b.length) {
      if (a[i] === b[j]) push(true, [a[i++]!], [b[j++]!])
      else if (lengths[(i + 1) * width + j]! >= lengths[i * width + j + 1]!) push(false, [a[i++]!], [])
      else push(false, [], [b[j++]!])
    }
    push(false, a.slice(i), b.slice(j))
  }
  push(true, before.slice(before.length - end), after.slice(after.length - end))
  return runs
}

const wordsOf = (line: string): string[] => line.match(/[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu) ?? []

/** The pieces of two lines: what they share, if that is a third at least. */
function piecesOf(before: string, after: string): [Piece[], Piece[]] {
  const runs = runsOf(wordsOf(before), wordsOf(after))
  const shared = runs.reduce((sum, run) => sum + (run.same ? run.before.join('').trim().length : 0), 0)
  if (shared * 3 < Math.max(before.trim().length, after.trim().length))
    return [[{ text: before, changed: true }], [{ text: after, changed: true }]]
  const side = (words: 'before' | 'after'): Piece[] =>
    runs.map((run) => ({ text: run[words].join(''), changed: !run.same })).filter(({ text }) => text !== '')
  return [side('before'), side('after')]
}

/** The lines of a text; none of an empty one. */
const linesOf = (text: string): string[] => (text === '' ? [] : text.replaceAll('\r\n', '\n').split('\n'))

/** How two texts differ: by lines and, in lines that take each other's place, by words. */
export function diff(before: string, after: string): Block[] {
  return runsOf(linesOf(before), linesOf(after)).map((run) => {
    if (run.same) return { same: run.before }
    const removed: Piece[][] = run.before.map((text) => [{ text, changed: true }])
    const added: Piece[][] = run.after.map((text) => [{ text, changed: true }])
    for (let i = 0; i < Math.min(removed.length, added.length); i++)
      [removed[i], added[i]] = piecesOf(run.before[i]!, run.after[i]!)
    return { removed, added }
  })
}
