import type { Token } from 'markdown-it'
import type { Block, Task } from './document.js'
import { attribute } from './parser.js'

/** How a run of text is set off: emphasis, code, a link or a picture, with its address. */
export interface Mark {
  tag: 'strong' | 'em' | 's' | 'code' | 'a'
  href?: string
}

/** Text with the same marks. */
export interface Run {
  text: string
  marks: readonly Mark[]
}

/** A part of a document that is text: a paragraph, a heading, an item, a row of a table, a line of code, or the rule between parts. */
export interface Leaf {
  kind: 'paragraph' | 'heading' | 'item' | 'row' | 'code' | 'rule'
  /** Of a heading its level; of others, in how many lists and quotes they are. */
  depth: number
  /** What stands before an item: `•`, `3.`, `☐` or `☑`. */
  marker?: string
  /** Of the first item of a list, its number. */
  start?: number
  runs: readonly Run[]
}

/** The text of a token that has texts within it. */
function runsOf({ children, content }: Token): Run[] {
  const runs: Run[] = []
  const marks: Mark[] = []
  const push = (text: string, ...more: Mark[]): void => void runs.push({ text, marks: [...marks, ...more] })
  const links: { href: string; title: string; at: number }[] = []
  const pushTitle = (title = ''): void => void (title && push(` (${title})`))
  for (const token of children ?? []) {
    if (token.nesting === -1) {
      const link = token.type === 'link_close' ? links.pop() : undefined
      if (link?.at === runs.length) push(link.href)
      marks.pop()
      pushTitle(link?.title)
    } else if (token.type === 'link_open') {
      const href = attribute(token, 'href')
      marks.push({ tag: 'a', href })
      links.push({ href, title: attribute(token, 'title'), at: runs.length })
    } else if (token.nesting === 1) marks.push({ tag: token.tag as Mark['tag'] })
    else if (token.type === 'code_inline') push(token.content, { tag: 'code' })
    else if (token.type === 'image') {
      push(token.content || 'Picture', { tag: 'a', href: attribute(token, 'src') })
      pushTitle(attribute(token, 'title'))
    } else push(token.type === 'softbreak' || token.type === 'hardbreak' ? '\n' : token.content)
  }
  return children ? runs : [{ text: content, marks: [] }]
}

/** The leaves of a block; one that is shown as its source is one. */
export function leavesOf({ tokens, source }: Block): Leaf[] {
  if (tokens.length === 0) return [{ kind: 'paragraph', depth: 0, runs: [{ text: source, marks: [] }] }]
  const leaves: Leaf[] = []
  /** The markers of the lists around: how the next item begins. */
  const lists: (number | undefined)[] = []
  let depth = 0
  let marker: string | undefined
  let start: number | undefined
  let heading = 0
  let row: Run[] | undefined
  for (const token of tokens) {
    const { type, nesting } = token
    if (type === 'ordered_list_open') lists.push((start = Number(attribute(token, 'start') || 1)))
    if (type === 'bullet_list_open') lists.push(undefined)
    if (type === 'ordered_list_close' || type === 'bullet_list_close') lists.pop()
    if (/^(?:ordered_list|bullet_list|blockquote)_/.test(type)) depth += nesting
    if (type === 'list_item_open') {
      const number = lists.at(-1)
      const task = token.meta as Task | null
      marker = task ? (task.isDone ? '☑' : '☐') : number === undefined ? '•' : `${number}.`
      if (number !== undefined) lists[lists.length - 1] = number + 1
    }
    if (type === 'heading_open') heading = Number(token.tag[1])
    if (type === 'tr_open') row = []
    if (type === 'tr_close') {
      leaves.push({ kind: 'row', depth, runs: row! })
      row = undefined
    }
    if (type === 'hr') leaves.push({ kind: 'rule', depth, runs: [] })
    if (type === 'fence' || type === 'code_block') {
      const info = token.info.trim()
      if (info !== '') leaves.push({ kind: 'paragraph', depth, runs: [{ text: info, marks: [] }] })
      for (const line of token.content.replace(/\n$/, '').split('\n'))
        leaves.push({ kind: 'code', depth, runs: [{ text: line, marks: [] }] })
    }
    if (type !== 'inline') continue
    const runs = runsOf(token)
    if (row) row.push(...(row.length > 0 ? [{ text: ' | ', marks: [] }] : []), ...runs)
    else if (heading > 0) leaves.push({ kind: 'heading', depth: heading, runs })
    else if (marker !== undefined)
      leaves.push({ kind: 'item', depth, marker, ...(start !== undefined && { start }), runs })
    else leaves.push({ kind: 'paragraph', depth, runs })
    marker = undefined
    start = undefined
    heading = 0
  }
  return leaves
}
