import type { Token } from 'markdown-it'
import { cutOf } from '../pieces.js'
import type { References } from './parser.js'
import { hidesText, isTooDeep, parseBlocks, parseInline } from './parser.js'
import { clearPartOf, withEnds } from './unfinished.js'

/** Most characters of a block; a longer one is cut at a line and goes on as the next. Bounds what one step parses. */
const MOST_CHARACTERS = 10_000

/** What one step looks at: a block that is too long, or several. */
const WINDOW = 2 * MOST_CHARACTERS

/** Most parts of a document that are laid out; what follows is shown as its source. Some 600 kB of dense text have as many. */
const MOST_TOKENS = 200_000

/** Most pictures of a document; more are links. Each that comes, or is not there, moves what stands behind it. */
const MOST_PICTURES = 100

/** A block that stands by itself, such as a paragraph, a list or a table. */
export interface Block {
  source: string
  /** As markdown-it has them; none where the block is shown as its source. */
  tokens: readonly Token[]
  /** How many definitions of links were known when it was parsed. */
  known: number
}

interface Range {
  from: number
  to: number
  tokens: Token[]
}

/** The top-level blocks with their places in the source, in characters. */
function rangesOf(tokens: readonly Token[], source: string): Range[] {
  const ranges: Range[] = []
  let [line, at] = [0, 0]
  const placeOf = (wanted: number): number => {
    for (; line < wanted; line++) {
      const end = source.indexOf('\n', at)
      if (end < 0) return source.length
      at = end + 1
    }
    return at
  }
  for (const token of tokens) {
    if (token.level === 0 && token.nesting >= 0)
      ranges.push({ from: placeOf(token.map![0]), to: placeOf(token.map![1]), tokens: [] })
    ranges.at(-1)!.tokens.push(token)
  }
  return ranges
}

/** A token with other values, and what it can do. */
const copyOf = (token: Token, change: Partial<Token> = {}): Token =>
  Object.assign(Object.create(Object.getPrototypeOf(token) as object) as Token, token, change)

/** Lines that the rest of a block that is cut begins with: the head of a table, the fence of code. */
function carryOf({ from, tokens: [{ type }] }: Range & { tokens: [Token, ...Token[]] }, source: string): string {
  const lines = type === 'fence' ? 1 : type === 'table_open' ? 2 : 0
  const head = source.slice(from, from + 1_000).split('\n', lines + 1)
  return head.length > lines
    ? head
        .slice(0, lines)
        .map((line) => `${line}\n`)
        .join('')
    : ''
}

/** The `meta` of an item of a list that is a task. */
export interface Task {
  isDone: boolean
}

/** Finds the items that are tasks. */
function findTasks(tokens: readonly Token[]): void {
  for (const [i, token] of tokens.entries()) {
    const item = tokens[i - 2]
    const box =
      token.type === 'inline' && item?.type === 'list_item_open' && /^\[([ xX])\](?:\s+|$)/.exec(token.content)
    if (!box) continue
    item.meta = { isDone: box[1] !== ' ' } satisfies Task
    token.content = token.content.slice(box[0].length)
  }
}

/**
 * A text of Markdown that may be growing. A block is parsed when it has ended, and the open one at the end each time; a long text is read in steps.
 * So the time that it takes is linear in its length, and no step takes long.
 */
export class MarkdownDocument {
  /** What is read so far; a block that does not change stays the same object. */
  blocks: readonly Block[] = []
  #text = ''
  #isFinished = false
  #finished: Block[] = []
  /** Where what is not finished begins, and the lines that it begins with besides. */
  #at = 0
  #carry = ''
  #references: References = Object.create(null) as References
  #tokens = 0
  #pictures = 0
  #resolved = 0

  /** Whether a text is the one that was read, or goes on from one that was growing. */
  isOf(text: string): boolean {
    return this.#isFinished ? text === this.#text : text.startsWith(this.#text)
  }

  /**
   * Reads on, for some milliseconds.
   * @param text with line ends `\n`; begins with what was given before
   * @param isGrowing whether more of it is expected: then what is open at its end, such as bold text, ends with it
   * @returns whether all has been read
   */
  read(text: string, isGrowing: boolean, milliseconds: number): boolean {
    this.#text = text
    this.#isFinished ||= !isGrowing
    const until = performance.now() + milliseconds
    let hasMore = true
    while (hasMore && this.#tokens <= MOST_TOKENS) {
      hasMore = this.#step(isGrowing)
      if (hasMore && performance.now() > until) break
    }
    if (this.#tokens > MOST_TOKENS) {
      const source = text.slice(this.#at)
      this.blocks = [...this.#finished, ...(source === '' ? [] : [{ source, tokens: [], known: 0 }])]
      return true
    }
    if (hasMore || !isGrowing) {
      const isResolved = !hasMore && this.#resolve(until)
      this.blocks = [...this.#finished]
      return isResolved
    }
    this.#showOpen()
    return true
  }

  /** Finishes blocks. @returns whether there may be more */
  #step(isGrowing: boolean): boolean {
    const isLast = this.#at + WINDOW >= this.#text.length
    const isAll = isLast && !isGrowing
    const some = this.#carry + this.#text.slice(this.#at, this.#at + WINDOW)
    // A line that is not whole may yet go on with what seems to have ended before it: `1` as `1. an item`.
    const source = isAll ? some : some.slice(0, some.lastIndexOf('\n') + 1) || some
    const ranges = rangesOf(parseBlocks(source, Object.create(this.#references) as References), source)
    const long = ranges.findIndex(({ from, to }) => to - from > MOST_CHARACTERS)
    const first = ranges[0] as Parameters<typeof carryOf>[0]
    let until = isAll ? source.length : (ranges.at(-1)?.from ?? 0)
    if (long === 0) until = cutOf(source, first.from, MOST_CHARACTERS)
    else if (long > 0) until = ranges[long]!.from
    // Nothing but empty lines follows.
    else if (until === 0 && !isLast) until = source.lastIndexOf('\n') + 1 || source.length
    if (until > 0) {
      const known = this.#tokens
      this.#finished = this.#appended(source.slice(0, until), this.#references)
      this.#at += until - this.#carry.length
      this.#carry = long === 0 && this.#tokens > known ? carryOf(first, source) : ''
    }
    return long >= 0 || !isLast
  }

  /** The finished blocks with those of a source, which may go on with the code of the last one. @param change changes their tokens first */
  #appended(source: string, references: References, change?: (tokens: readonly Token[]) => void): Block[] {
    const blocks = [...this.#finished]
    const tokens = parseBlocks(source, references)
    const ranges = rangesOf(tokens, source)
    const isAsSource = ({ from, to, tokens }: Range) => isTooDeep(tokens) || hidesText(tokens, source.slice(from, to))
    const asSource = new Set(ranges.filter(isAsSource))
    findTasks(tokens)
    change?.(tokens)
    const known = Object.keys(this.#references).length
    for (const range of ranges) {
      const block: Block = { source: source.slice(range.from, range.to), tokens: [], known }
      if (!asSource.has(range)) {
        block.tokens = range.tokens
        for (const token of range.tokens) {
          if (token.type === 'inline') this.#parseInline(token, references)
          this.#tokens += 1 + (token.children?.length ?? 0)
        }
      }
      const [token] = block.tokens
      const before = this.#carry !== '' && range.from === 0 && token?.type === 'fence' ? blocks.pop() : undefined
      if (before) {
        block.source = before.source + block.source.slice(this.#carry.length)
        block.tokens = [copyOf(token!, { content: before.tokens[0]!.content + token!.content })]
      }
      blocks.push(block)
    }
    return blocks
  }

  /** Parses a text, maybe again. Of the pictures beyond the limit, `hidden` is set. */
  #parseInline(token: Token, references: References): void {
    const pictures = (): Token[] => token.children?.filter(({ type, hidden }) => type === 'image' && !hidden) ?? []
    this.#pictures -= pictures().length
    parseInline(token, references)
    for (const picture of pictures().slice(Math.max(0, MOST_PICTURES - this.#pictures))) picture.hidden = true
    this.#pictures += pictures().length
  }

  /** Parses texts again in which links may be that are defined after them. @returns whether that is done */
  #resolve(until: number): boolean {
    const known = Object.keys(this.#references).length
    while (this.#resolved < this.#finished.length) {
      const at = this.#resolved++
      const { source, tokens: before, known: knownBefore } = this.#finished[at]!
      if (knownBefore === known || !source.includes('[')) continue
      const tokens = before.map((token) => copyOf(token))
      for (const token of tokens) if (token.type === 'inline') this.#parseInline(token, this.#references)
      this.#finished[at] = { source, tokens, known }
      if (performance.now() > until) break
    }
    return this.#resolved === this.#finished.length
  }

  /** Shows what is open at the end as if it ended there. */
  #showOpen(): void {
    const source = this.#carry + this.#text.slice(this.#at)
    const [tokens, pictures] = [this.#tokens, this.#pictures]
    this.blocks = this.#appended(clearPartOf(source), Object.create(this.#references) as References, (tokens) => {
      const last = tokens.findLast(({ nesting }) => nesting === 0)
      if (last?.type === 'inline') last.content = withEnds(last.content)
    })
    this.#tokens = tokens
    this.#pictures = pictures
  }
}
