import type { Token } from 'markdown-it'
import MarkdownIt from 'markdown-it'
import { visible, withUnseen } from '../visible.js'
import { isLinkable } from './links.js'

/** Levels of quotes and lists within each other; markdown-it leaves out what is deeper, so that such a block is shown as its source. */
const MOST_LEVELS = 20

// CommonMark lets a renderer show the ends of lines; people and models type them.
const parser = new MarkdownIt({ html: false, linkify: true, maxNesting: MOST_LEVELS })
parser.validateLink = isLinkable
// Addresses are shown as they are written: what is decoded may be unseen, or look like the address of somebody else, and a long host would be left out.
parser.normalizeLink = parser.normalizeLinkText = (url) => url

/** Most cells of a table, and most tokens before one: a short row has as many cells as the head, so that few characters make many. */
const MOST_CELLS = 10_000
const [table] = parser.block.ruler.getRules('')
parser.block.ruler.at(
  'table',
  (state, start, end, silent) => {
    if (silent) return table!(state, start, end, silent)
    if (state.tokens.length > 3 * MOST_CELLS) return false
    const columns = state.getLines(start + 1, Math.min(start + 2, end), 0, false).split('|').length
    return table!(state, start, Math.min(end, start + 2 + Math.floor(MOST_CELLS / columns)), silent)
  },
  { alt: ['paragraph', 'reference'] },
)

const ENTITY = /&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});/gi

/** What is parsed of a text: what models read of it and browsers do not show is in it as text. So are entities that stand for such characters. */
export const sourceOf = (text: string): string =>
  withUnseen(text.replaceAll(/\r\n?/g, '\n'))
    .replaceAll('\0', '\uFFFD')
    .replaceAll(ENTITY, (entity) => {
      const meant = parser.utils.unescapeAll(entity)
      return visible(meant) === meant ? entity : `${entity.slice(0, -1)}&#59;`
    })

/** Definitions of links, such as `[docs]: https://docs.example`, by their label. */
export type References = NonNullable<Parameters<typeof parser.parse>[1]>['references'] & {}

/** The blocks of a text, with the texts in them not parsed yet. @param references those before it; those of the text are added */
export function parseBlocks(source: string, references: References): Token[] {
  const tokens: Token[] = []
  parser.block.parse(source, parser, { references }, tokens)
  return tokens
}

/** Parses the text of a paragraph, heading or cell into the `children` of its token. */
export function parseInline(token: Token, references: References): void {
  token.children = []
  parser.inline.parse(token.content, parser, { references }, token.children)
}

/** Whether something of a block may be missing, since it was too deep. */
export const isTooDeep = (tokens: readonly Token[]): boolean => tokens.some(({ level }) => level >= MOST_LEVELS - 1)

/** An attribute of a token, such as the `href` of a link. */
export const attribute = (token: Token, name: string): string => String(token.attrGet(name) ?? '')

/** The language of a block of code, and what stands behind it. */
export function infoOf({ info }: Token): { language: string; more: string } {
  const [language = '', ...more] = info.trim().split(/\s+/)
  return { language, more: more.join(' ') }
}

/** How many characters of a text are neither spaces nor marks of ASCII, which may be syntax. */
const lettersIn = (text: string): number => text.replace(/[\s!-/:-@[-`{-~]+/g, '').length

/**
 * Whether a block has text that is not laid out, such as a definition of a link, cells of a table beyond those of its head, or numbers of items that are
 * neither in order nor all the same. It is shown as its source, so that nobody approves what they have not seen.
 */
export function hidesText(tokens: readonly Token[], source: string): boolean {
  let shown = 0
  /** Of the lists around, the number of the first item and of the next one. */
  const lists: { first: number; next: number }[] = []
  for (const token of tokens) {
    const { type, content, info } = token
    if (type === 'ordered_list_open' || type === 'bullet_list_open') {
      const first = Number(attribute(token, 'start') || 1)
      lists.push({ first, next: first })
    } else if (type === 'ordered_list_close' || type === 'bullet_list_close') lists.pop()
    else if (type === 'list_item_open') {
      const list = lists.at(-1)!
      if ([list.first, list.next++].includes(Number(info))) shown += lettersIn(info)
    } else if (type !== 'reference_definition') shown += lettersIn(content) + lettersIn(info)
  }
  return lettersIn(source) > shown
}
