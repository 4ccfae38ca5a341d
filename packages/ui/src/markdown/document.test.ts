import type { Token } from 'markdown-it'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { MarkdownDocument } from './document.js'
import { leavesOf } from './leaves.js'
import { sourceOf } from './parser.js'

beforeAll(() => vi.stubGlobal('location', new URL('https://turnpike.example/console')))
afterAll(() => vi.unstubAllGlobals())

/** Reads a text as if it was written at once. */
function read(text: string): MarkdownDocument {
  const document = new MarkdownDocument()
  expect(document.read(text, false, Infinity)).toBe(true)
  return document
}

/** What tokens mean: their kinds, contents and addresses. */
const meaning = (tokens: readonly Token[]): unknown =>
  tokens.map(({ type, content, children, attrs, meta }) => [type, children ? meaning(children) : content, attrs, meta])
const meaningOf = ({ blocks }: MarkdownDocument): unknown => blocks.map(({ tokens }) => meaning(tokens))

/** The text that a document shows. */
const textOf = ({ blocks }: MarkdownDocument): string =>
  blocks
    .flatMap(leavesOf)
    .map(({ marker = '', runs }) => [marker, ...runs.map(({ text }) => text)].join(' ').trim())
    .join('\n')

const parts = [
  '# A **bold** title\n\n',
  'Words with `code`, *emphasis*, ~~what is gone~~ and a [link](https://a.example).\nThe next line.\n\n',
  '- one\n- two\n  - within\n\n    more\n- [x] done\n\n',
  '1. first\n2. second\n\n',
  '| a | b |\n|---|--:|\n| 1 | **2** |\n| 3 | 4 |\n\n',
  '```ts\nconst a = 1\n\nconst b = 2\n```\n\n',
  '> quoted\n> > twice\n\n',
  'See [the docs][docs], and [that].\n\n',
  '[docs]: https://docs.example\n\n[that]: https://that.example "Title"\n\n',
  'A title\n-------\n\n***\n\n',
  '    code by indentation\n\n',
]

let seed = 7
const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
const randomText = (length: number): string => Array.from({ length }, () => parts[random(parts.length)]!).join('')

describe('a document of Markdown', () => {
  it('threat 81: has a hundred pictures at most, and links in place of more, also where they are defined later or are written', () => {
    const address = `/api/user-files/${'0'.repeat(36)}/content`
    const pictures = ({ blocks }: MarkdownDocument): [shown: number, all: number] => {
      const all = blocks.flatMap(({ tokens }) => tokens.flatMap((token) => token.children ?? []))
      const images = all.filter(({ type }) => type === 'image')
      return [images.filter(({ hidden }) => !hidden).length, images.length]
    }
    expect(pictures(read(`![a](${address})\n\n`.repeat(150)))).toEqual([100, 150])
    expect(pictures(read(`${'![a] ![b] '.repeat(75)}\n\n[a]: ${address}\n\n![a]\n\n[b]: ${address}`))).toEqual([
      100, 151,
    ])
    const growing = new MarkdownDocument()
    for (let count = 1; count <= 150; count++) {
      growing.read(`![a](${address})\n`.repeat(count), true, Infinity)
      expect(pictures(growing)).toEqual([Math.min(count, 100), count])
    }
  })

  it('has the same blocks however it was written', () => {
    for (let round = 0; round < 100; round++) {
      const text = randomText(12)
      const growing = new MarkdownDocument()
      for (let at = 0; at < text.length; at += 1 + random(30)) {
        expect(growing.isOf(text.slice(0, at))).toBe(true)
        expect(growing.read(text.slice(0, at), true, Infinity)).toBe(true)
      }
      growing.read(text, false, Infinity)
      expect(meaningOf(growing)).toEqual(meaningOf(read(text)))
    }
  })

  it('finds links whose definition comes later', () => {
    const { blocks } = read('See [the docs][docs].\n\n- [docs]\n\n[docs]: https://docs.example\n')
    expect(blocks.flatMap(leavesOf).map(({ runs }) => runs.map(({ text, marks }) => [text, marks[0]?.href]))).toEqual([
      [
        ['See ', undefined],
        ['the docs', 'https://docs.example'],
        ['.', undefined],
      ],
      [['docs', 'https://docs.example']],
      [['[docs]: https://docs.example\n', undefined]],
    ])
  })

  it('threat 209: shows what would not be laid out as its source: definitions, and cells beyond those of the head of a table', () => {
    const table = (row: string) => `| a | b |\n|---|---|\n${row}\n`
    const shown = (text: string) => read(text).blocks.map(({ tokens }) => tokens.length > 0)
    const nests = [
      (text: string) => text,
      (text: string) => text.replaceAll(/^/gm, '> '),
      (text: string) => `- ${text.replaceAll('\n', '\n  ')}`,
    ]
    expect(shown('A\n\n[n]: https://n.example "Send the key"\n')).toEqual([true, false])
    for (const row of ['| 1 | 2 |', '1 | 2', '| 1 |', '| 1 | \\| |', '| 1 | 2 | '])
      expect([row, shown(table(row))]).toEqual([row, [true]])
    for (const row of ['| 1 | 2 | Send the key |', '1 | 2 | Send', '| 1 | 2 | 3', '| 1 | 2 |\n| 1 | 2 | 3 |'])
      for (const nest of nests) expect([row, shown(nest(table(row)))]).toEqual([row, [false]])
    for (const text of ['> [n]: https://n.example "Send"\n', '- A\n\n  [n]: https://n.example "Send"\n'])
      expect([text, shown(text)]).toEqual([text, [false]])
    for (const text of ['1. A\n99. B\n', '7. A\n   1. b\n   3. c\n8. D\n'])
      expect([text, shown(text)]).toEqual([text, [false]])
    for (const text of [
      '7. A\n9) B\n',
      '7. A\n   - b\n8. C\n   1. d\n   1. e\n9. F\n',
      '- [x] A\n- [ ] x\n',
      '> 1. `a`\n>\n>    ```js b\n>    x\n>    ```\n',
      '    a\n\tb\n',
      'A\n===\n',
      '\\é &amp; ~~*b*~~\n',
    ])
      expect([text, shown(text)]).toEqual([text, shown(text).map(() => true)])
  })

  it('threat 209: compares titles of links and pictures, and the language of code with what stands behind it', () => {
    const text =
      '[](https://c.example/send) [a](https://a.example "Send") ![b](https://b.example "it")\n\n```js the key\nx\n```\n'
    const texts = read(text)
      .blocks.flatMap(leavesOf)
      .map(({ runs }) => runs.map(({ text }) => text).join(''))
    expect(texts).toEqual(['https://c.example/send a (Send) b (it)', 'js the key', 'x'])
  })

  it('threat 209: has addresses as they are written, also of hosts that are longer than one may be', () => {
    const host = `${'send-the-key.'.repeat(30)}example`
    const runs = read(`[a](https://${host}/b) <https://${host}/c>\n`)
      .blocks.flatMap(leavesOf)
      .flatMap(({ runs }) => runs)
    expect(runs.flatMap(({ marks }) => marks.map(({ href }) => href))).toEqual(
      ['b', 'c'].map((path) => `https://${host}/${path}`),
    )
    expect(runs.map(({ text }) => text).join('')).toBe(`a https://${host}/c`)
  })

  it('threat 209: has entities of what is not seen as text, and others as what they stand for', () => {
    const textOf = (text: string): string =>
      read(sourceOf(text))
        .blocks.flatMap(leavesOf)
        .flatMap(({ runs }) => runs.map(({ text }) => text))
        .join('')
    for (const entity of ['&#xE0041;', '&#8238;', '&ZeroWidthSpace;', '&zwnj;'])
      expect(textOf(`a${entity}b [c](d "e${entity}")`)).toContain(`a${entity}b`)
    expect(textOf('[c](d "e&#x202e;f")')).toContain('e&#x202e;f')
    expect(textOf('<https://a.example/%E2%80%AEb> https://b.example/%F3%A0%81%81 https://xn--pple-43d.example/é')).toBe(
      'https://a.example/%E2%80%AEb https://b.example/%F3%A0%81%81 https://xn--pple-43d.example/é',
    )
    expect(textOf('a &amp; b &eacute; &nosuch; &#65;')).toBe('a & b é &nosuch; A')
    expect(textOf('a\r\nb\0')).toBe('a\nb\uFFFD')
  })

  it('lays out lists and tables with links that are defined far behind them', () => {
    const text = `3. See [docs].\n\n| [docs] |\n|:-|\n| a |\n\n${'Words. '.repeat(5_000)}\n\n[docs]: https://docs.example\n`
    const { blocks } = read(text)
    expect(leavesOf(blocks[0]!)[0]).toMatchObject({ marker: '3.', start: 3 })
    for (const { tokens } of blocks) for (const token of tokens) expect(token.attrGet('none')).toBeNull()
    expect(leavesOf(blocks[1]!)[0]!.runs[0]!.marks).toEqual([{ tag: 'a', href: 'https://docs.example' }])
  })

  it('does not take the beginning of an address for the address', () => {
    const growing = new MarkdownDocument()
    growing.read('[docs]: https://docs.ex', true, Infinity)
    growing.read('[docs]: https://docs.example/a\n\nSee [docs].\n\n', true, Infinity)
    growing.read('[docs]: https://docs.example/a\n\nSee [docs].\n\nEnd', false, Infinity)
    expect(leavesOf(growing.blocks[1]!)[0]!.runs[1]!.marks).toEqual([{ tag: 'a', href: 'https://docs.example/a' }])
  })

  it('keeps the blocks that have ended, and parses only what is open', () => {
    const growing = new MarkdownDocument()
    const text = randomText(60)
    let kept = 0
    for (let at = 0; at < text.length; at += 7) {
      const before = growing.blocks
      growing.read(text.slice(0, at), true, Infinity)
      const same = before.findIndex((block, i) => block !== growing.blocks[i])
      expect(same === -1 || same >= before.length - 2).toBe(true)
      kept = Math.max(kept, same)
    }
    expect(kept).toBeGreaterThan(50)
  })

  it('is another one where the text does not go on', () => {
    const growing = new MarkdownDocument()
    growing.read('Some te', true, Infinity)
    expect([growing.isOf('Some text'), growing.isOf('Some'), growing.isOf('Another')]).toEqual([true, false, false])
    growing.read('Some text', false, Infinity)
    expect([growing.isOf('Some text'), growing.isOf('Some text and more')]).toEqual([true, false])
  })

  it('is read in steps', () => {
    const text = 'A paragraph of some words.\n\n'.repeat(10_000)
    const document = new MarkdownDocument()
    let steps = 1
    while (!document.read(text, false, 0)) {
      expect(document.blocks.length).toBeGreaterThan(0)
      steps++
    }
    expect(steps).toBeGreaterThan(5)
    expect(document.blocks).toHaveLength(10_000)
  })

  it('has code of any length in one piece, and cuts a list between its items', () => {
    const code = Array.from({ length: 10_000 }, (_, i) => `  line ${i}`).join('\n')
    expect(read(`\`\`\`js\n${code}\n\`\`\`\n`).blocks.map(({ tokens }) => tokens[0]!.content)).toEqual([`${code}\n`])
    const items = Array.from({ length: 3_000 }, (_, i) => `${i + 1}. item ${i}\n   goes on\n`)
    const list = read(items.join(''))
    expect(list.blocks.length).toBeGreaterThan(2)
    expect(list.blocks.flatMap(leavesOf).map(({ marker }) => marker)).toEqual(items.map((_, i) => `${i + 1}.`))
    const growing = new MarkdownDocument()
    for (let at = 0; at < code.length; at += 1_000) growing.read(`\`\`\`\n${code.slice(0, at)}`, true, Infinity)
    expect(growing.blocks).toHaveLength(1)
  })

  it('cuts a long table with its head', () => {
    const rows = Array.from({ length: 3_000 }, (_, i) => `| ${i} | value |\n`)
    const { blocks } = read(`| n | v |\n|--:|---|\n${rows.join('')}`)
    expect(blocks.length).toBeGreaterThan(1)
    for (const { tokens } of blocks) expect(tokens[0]!.type).toBe('table_open')
    const texts = blocks.flatMap(leavesOf).map(({ runs }) => runs[0]!.text)
    expect(texts.filter((text) => text !== 'n')).toEqual(rows.map((_, i) => String(i)))
  })
})

const many = (text: string, length = 300_000): string => text.repeat(Math.ceil(length / text.length)).slice(0, length)

/** Texts that cost some parsers the square of their length, or the stack. */
const bombs: Record<string, string> = {
  'open brackets': many('['),
  'open pictures': many('!['),
  'nested links': many('[', 150_000) + many(']', 150_000),
  'unfinished links': many('[a](<b'),
  stars: many('*'),
  'emphasis that crosses': many('*a _b **c __'),
  'emphasis that never ends': many('a**b'),
  'inline code of all lengths': Array.from({ length: 750 }, (_, i) => '`'.repeat(i + 1)).join(' '),
  'quotes in quotes': many('>'),
  'quotes with spaces': many('> '),
  'lists in lists': many('- '),
  'lists by indentation': Array.from({ length: 700 }, (_, i) => `${' '.repeat(i * 2)}- a`).join('\n'),
  'numbers of lists': many('1. '),
  'a table of one row': `${many('|a')}\n${many('|-')}\n${many('|a')}`,
  'a table of empty cells': `${many('|a', 900)}\n${many('|-', 900)}\n${many('a\n')}`,
  'many such tables': many(`${many('|a', 600)}\n${many('|-', 600)}\n${many('a\n', 400)}\n`),
  'a long table': `| a | b |\n|---|---|\n${many('| one | two |\n', 1_000_000)}`,
  definitions: Array.from({ length: 15_000 }, (_, i) => `[a${i}]: /u`).join('\n'),
  'uses of one definition': `${many('[a] ')}\n\n[a]: https://a.example`,
  'short lines': many('a\n'),
  'empty lines': many('\n'),
  spaces: `a${many(' ')}b`,
  'addresses in addresses': many('http://'),
  comments: many('<!--'),
  entities: many('&#x'),
  backslashes: many('\\'),
}

describe('threat 81: Markdown that freezes the page', () => {
  it.each(Object.entries(bombs))('%s are read in small steps', (_, text) => {
    const document = new MarkdownDocument()
    let [tokens, steps, isWhole] = [0, 0, false]
    while (!isWhole) {
      isWhole = document.read(text, false, -1)
      const now = document.blocks.reduce((sum, { tokens }) => sum + tokens.length, 0)
      expect(now - tokens).toBeLessThan(100_000)
      tokens = now
      expect(++steps).toBeLessThan(text.length / 1_000)
    }
    expect(tokens).toBeLessThan(300_000)
    for (const { source, tokens } of document.blocks) {
      if (tokens.length > 0) expect(source.length).toBeLessThan(11_000)
      expect(tokens.every(({ level }) => level < 20)).toBe(true)
    }
  })

  it('loses no character of what is too deep or too much', () => {
    for (const text of [
      many('> ', 30_000) + 'the end',
      `${many('- ', 5_000)}the end`,
      `${many('|a\n|-\n|b\n\n')}the end`,
    ])
      expect(textOf(read(text)).endsWith('the end')).toBe(true)
  })
})
