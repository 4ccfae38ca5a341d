import type { Block } from '@turnpike/ui/markdown/document'
import type { Leaf, Mark } from '@turnpike/ui/markdown/leaves'

/** A piece of a sentence; absent `change` = both texts have it. */
export interface Piece {
  text: string
  marks: readonly Mark[]
  change?: 'removed' | 'added'
}

/** A paragraph, an item, a row or a line of code, by its sentences. */
export interface Line {
  leaf: Leaf
  sentences: Piece[][]
}

/** Blocks that both texts have, or lines that tell how they differ. */
export type Part = { same: readonly Block[] } | { lines: readonly Line[] }

/** How two texts differ. */
export interface Diff {
  /** All of both texts; undefined where more than {@link MOST_SENTENCES} differ, too many for a page to mark. */
  parts: Part[] | undefined
  /** How many sentences are changed, taken off and put in. */
  changed: number
  removed: number
  added: number
}

/** Most sentences that differ which are marked. */
const MOST_SENTENCES = 1_000

/** Most pairs of blocks, sentences and words that a diff compares: they take some 20 ms and 16 MB. */
const MOST_PAIRS = 4_000_000

/** Most characters of blocks that differ which a diff splits into sentences and words. */
const MOST_CHARACTERS = 100_000

/** From which share of their words on two sentences are one that was changed. */
const ALIKE = 0.4

/** What a diff may still do. */
interface Budget {
  pairs: number
  characters: number
  /** Numbers for what words are marked with, such as the address of a link, which each of them would be compared by. */
  marks: Map<string, number>
}

/** A run of items that both lists have, or one in which they differ: where it is in the one and in the other. */
interface Run {
  same: boolean
  before: { from: number; to: number }
  after: { from: number; to: number }
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
  let [i, j] = [0, 0]
  /** Adds what comes next, some of the one list and some of the other. */
  const push = (same: boolean, ofBefore: number, ofAfter: number): void => {
    if (ofBefore + ofAfter === 0) return
    let last = runs.at(-1)
    if (last?.same !== same) runs.push((last = { same, before: { from: i, to: i }, after: { from: j, to: j } }))
    last.before.to = i += ofBefore
    last.after.to = j += ofAfter
  }
  let start = 0
  while (start < a.length && start < b.length && a[start] === b[start]) start++
  let end = 0
  while (end < Math.min(a.length, b.length) - start && a.at(-1 - end) === b.at(-1 - end)) end++
  const [endA, endB] = [a.length - end, b.length - end]
  push(true, start, start)
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
    for (let [x, y] = [start, start]; x < endA && y < endB; [x, y] = [i, j])
      if (a[x] === b[y]) push(true, 1, 1)
      else if (lengths[at(x + 1, y)]! >= lengths[at(x, y + 1)]!) push(false, 1, 0)
      else push(false, 0, 1)
  }
  push(false, endA - i, endB - j)
  push(true, end, end)
  return runs
}

interface Word {
  text: string
  marks: readonly Mark[]
  /** What it is compared by. */
  key: string
}

interface Sentence {
  leaf: Leaf
  words: readonly Word[]
  /** Its words without spaces and signs. */
  told: readonly string[]
  /** Of the leaf, without the number of an item. */
  shape: string
  key: string
}

const splitters = {
  sentence: new Intl.Segmenter('en', { granularity: 'sentence' }),
  word: new Intl.Segmenter('en', { granularity: 'word' }),
}

/** The words of a leaf, and the spaces and signs between them. @param whole whether each run of text is one of them */
const wordsOf = ({ runs }: Leaf, whole: boolean, numbers: Budget['marks']): Word[] =>
  runs.flatMap(({ text, marks }) => {
    const words = whole ? [text] : Array.from(splitters.word.segment(text), ({ segment }) => segment)
    const by = marks.map(({ tag, href = '' }) => `${tag} ${href}`).join(' ')
    const number = numbers.get(by) ?? numbers.size
    numbers.set(by, number)
    return words.map((text) => ({ text, marks, key: by === '' ? text : `\0${number}\0${text}\0` }))
  })

/** The sentences of a leaf. Rows and lines of code are one. */
function sentencesOf(leaf: Leaf, whole: boolean, marks: Budget['marks']): Sentence[] {
  const { kind, depth, marker, start, runs } = leaf
  // The number of another item than the first says only where it is.
  const shape = `${kind} ${depth} ${marker?.replace(/\d+/, '')} ${start}\0`
  const isOne = whole || kind === 'row' || kind === 'code' || runs.length === 0
  const ends = isOne
    ? []
    : Array.from(splitters.sentence.segment(runs.map(({ text }) => text).join('')), ({ index }) => index).slice(1)
  const sentences: Word[][] = [[]]
  let at = 0
  for (const word of wordsOf(leaf, whole, marks)) {
    if (at >= (ends[0] ?? Infinity)) {
      sentences.push([])
      while (at >= (ends[0] ?? Infinity)) ends.shift()
    }
    sentences.at(-1)!.push(word)
    at += word.text.length
  }
  return sentences.map((words) => ({
    leaf,
    words,
    told: words.filter((word) => !isBlank(word)).map(({ text }) => text),
    shape,
    key:
      shape +
      words
        .map(({ key }) => key)
        .join('')
        .trimEnd(),
  }))
}

const isBlank = ({ text }: { text: string }): boolean => !/[\p{L}\p{N}\p{S}]/u.test(text)

/** Which share of their words two sentences have in common, from 0 to 1; 0 where the one is an item and the other none. */
function likeness(a: Sentence, b: Sentence): number {
  if (a.shape !== b.shape || a.told.length === 0 || b.told.length === 0) return 0
  const counts = new Map<string, number>()
  for (const word of a.told) counts.set(word, (counts.get(word) ?? 0) + 1)
  let common = 0
  for (const word of b.told) {
    const left = counts.get(word) ?? 0
    if (left > 0) common++
    counts.set(word, left - 1)
  }
  return (2 * common) / (a.told.length + b.told.length)
}

type Pair = [Sentence | undefined, Sentence | undefined]

/** Sentences of the one text with those of the other that they became: the pairs, in order, that are most alike in all. */
function pairsOf(before: readonly Sentence[], after: readonly Sentence[], budget: Budget): Pair[] {
  // A rule or an empty row has no words, and is compared as well.
  const words = (sentences: readonly Sentence[]): number =>
    sentences.reduce((sum, one) => sum + one.words.length + 1, 0)
  const cost = before.length * words(after) + after.length * words(before)
  if (cost > budget.pairs)
    return [...before.map((one): Pair => [one, undefined]), ...after.map((one): Pair => [undefined, one])]
  budget.pairs -= cost
  const alike = before.map((one) => after.map((other) => likeness(one, other)))
  // Of i and j, the greatest sum of what follows i in `before` and j in `after`.
  const best = Array.from({ length: before.length + 1 }, () => new Float64Array(after.length + 1))
  const paired = (i: number, j: number): number => (alike[i]![j]! < ALIKE ? -1 : alike[i]![j]! + best[i + 1]![j + 1]!)
  for (let i = before.length - 1; i >= 0; i--)
    for (let j = after.length - 1; j >= 0; j--) best[i]![j] = Math.max(best[i + 1]![j]!, best[i]![j + 1]!, paired(i, j))
  const pairs: Pair[] = []
  let [i, j] = [0, 0]
  while (i < before.length || j < after.length) {
    if (i < before.length && j < after.length && paired(i, j) === best[i]![j]) pairs.push([before[i++], after[j++]])
    else if (i < before.length && (j === after.length || best[i + 1]![j] === best[i]![j]))
      pairs.push([before[i++], undefined])
    else pairs.push([undefined, after[j++]])
  }
  return pairs
}

/** Words as pieces, each as long as what becomes of them and their marks are the same. */
function piecesOf(words: readonly Word[], change?: Piece['change']): Piece[] {
  const pieces: Piece[] = []
  for (const { text, marks } of words) {
    const last = pieces.at(-1)
    if (last?.marks === marks) last.text += text
    else pieces.push({ text, marks, ...(change && { change }) })
  }
  return pieces
}

/** A sentence with the words that changed: those that were, then those that are. */
function changedPieces(before: readonly Word[], after: readonly Word[], budget: Budget): Piece[] {
  const keys = (words: readonly Word[]): string[] => words.map(({ key }) => key)
  const runs = runsOf(keys(before), keys(after), budget)
  const pieces: Piece[] = []
  let [from, to] = [
    { before: 0, after: 0 },
    { before: 0, after: 0 },
  ]
  const flush = (): void => {
    pieces.push(...piecesOf(before.slice(from.before, to.before), 'removed'))
    pieces.push(...piecesOf(after.slice(from.after, to.after), 'added'))
  }
  for (const [n, run] of runs.entries()) {
    const next = { before: run.before.to, after: run.after.to }
    const words = after.slice(run.after.from, run.after.to)
    // Spaces and signs between two changes belong to them.
    const isWithin = n > 0 && n < runs.length - 1 && words.every(isBlank) && words.length < 3
    if (run.same && !isWithin) {
      flush()
      pieces.push(...piecesOf(words))
      from = next
    }
    to = next
  }
  flush()
  return pieces
}

/** The lines of two runs of blocks. Counts the sentences that differ. */
function linesOf(before: readonly Leaf[], after: readonly Leaf[], budget: Budget, counts: Omit<Diff, 'parts'>): Line[] {
  const characters = [...before, ...after].reduce(
    (sum, { runs }) => runs.reduce((sum, { text }) => sum + text.length, sum),
    0,
  )
  const whole = characters > budget.characters
  if (!whole) budget.characters -= characters
  const [a, b] = [before, after].map((leaves) => leaves.flatMap((leaf) => sentencesOf(leaf, whole, budget.marks))) as [
    Sentence[],
    Sentence[],
  ]
  const lines: Line[] = []
  let last: [Leaf | undefined, Leaf | undefined] = [undefined, undefined]
  const add = ([was, is]: Pair, pieces: Piece[]): void => {
    const isGoingOn = (was && was.leaf === last[0]) || (is && is.leaf === last[1] && last[1] !== undefined)
    // A paragraph that was split goes on as a line of its own.
    const isSplit = is && last[1] && is.leaf !== last[1]
    if (isGoingOn && !isSplit) lines.at(-1)!.sentences.push(pieces)
    else lines.push({ leaf: (is ?? was)!.leaf, sentences: [pieces] })
    last = isGoingOn && !isSplit ? [was?.leaf ?? last[0], is?.leaf ?? last[1]] : [was?.leaf, is?.leaf]
  }
  const keys = (sentences: readonly Sentence[]): string[] => sentences.map(({ key }) => key)
  for (const { same, before: x, after: y } of runsOf(keys(a), keys(b), budget))
    if (same) for (let i = x.from; i < x.to; i++) add([a[i], b[y.from + i - x.from]], piecesOf(a[i]!.words))
    else
      for (const pair of pairsOf(a.slice(x.from, x.to), b.slice(y.from, y.to), budget)) {
        const [was, is] = pair
        counts[was && is ? 'changed' : was ? 'removed' : 'added']++
        add(
          pair,
          was && is
            ? changedPieces(was.words, is.words, budget)
            : piecesOf((is ?? was)!.words, is ? 'added' : 'removed'),
        )
      }
  return lines
}

/**
 * How two texts differ: by blocks, in those that differ by sentences, and in those by words. Long texts are compared as far as about 50 ms allow;
 * what is left differs as whole paragraphs.
 * @param leavesOf the leaves of a block
 */
export function diff(
  before: readonly Block[],
  after: readonly Block[],
  leavesOf: (block: Block) => readonly Leaf[],
): Diff {
  const budget: Budget = { pairs: MOST_PAIRS, characters: MOST_CHARACTERS, marks: new Map() }
  const parts: Part[] = []
  const counts = { changed: 0, removed: 0, added: 0 }
  const sources = (blocks: readonly Block[]): string[] => blocks.map(({ source }) => source.trimEnd())
  for (const { same, ...run } of runsOf(sources(before), sources(after), budget)) {
    const was = before.slice(run.before.from, run.before.to)
    const is = after.slice(run.after.from, run.after.to)
    if (same) parts.push({ same: is })
    else parts.push({ lines: linesOf(was.flatMap(leavesOf), is.flatMap(leavesOf), budget, counts) })
  }
  const isMarked = counts.changed + counts.removed + counts.added <= MOST_SENTENCES
  return { parts: isMarked ? parts : undefined, ...counts }
}
