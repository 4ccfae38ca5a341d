import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Part, Piece } from '../../examples/console/src/projects/diff.js'
import { diff } from '../../examples/console/src/projects/diff.js'
import { MarkdownDocument } from '../../packages/ui/src/markdown/document.js'
import { leavesOf } from '../../packages/ui/src/markdown/leaves.js'

beforeAll(() => vi.stubGlobal('location', new URL('https://turnpike.example/console')))
afterAll(() => vi.unstubAllGlobals())

const blocksOf = (text: string) => {
  const document = new MarkdownDocument()
  document.read(text, false, Infinity)
  return document.blocks
}
const diffOf = (before: string, after: string) => diff(blocksOf(before), blocksOf(after), leavesOf)

const signs = { removed: ['[-', '-]'], added: ['{+', '+}'] } as const
const shownPiece = ({ text, change }: Piece): string => (change ? signs[change].join(text) : text)

/** The lines of a diff, in which `[-…-]` was taken off and `{+…+}` put in; `=` is a block that both have. */
const shown = (before: string, after: string): string[] =>
  diffOf(before, after).parts!.flatMap((part) =>
    'same' in part
      ? part.same.map(() => '=')
      : part.lines.map(({ leaf: { marker }, sentences }) =>
          [...(marker ? [marker, ' '] : []), ...sentences.flat().map(shownPiece)].join(''),
        ),
  )

/** The text that one side of a diff shows. */
const sideOf = (parts: Part[], side: 'removed' | 'added'): string =>
  parts
    .flatMap((part) =>
      'same' in part
        ? part.same.flatMap(leavesOf).map(({ runs }) => runs.map(({ text }) => text).join(''))
        : part.lines.map(({ sentences }) =>
            sentences
              .flat()
              .filter(({ change }) => !change || change === side)
              .map(({ text }) => text)
              .join(''),
          ),
    )
    .join(' ')
    .replaceAll(/\s+/g, ' ')
    .trim()

describe('the diff of two texts', () => {
  it('marks the words of a sentence that changed, in their places', () => {
    expect(shown('A fine headline for us. It stays.', 'A bold headline for us! It stays.')).toEqual([
      'A [-fine-]{+bold+} headline for us[-.-]{+!+} It stays.',
    ])
    expect(shown('Grüße aus Köln', 'Grüße aus Bonn')).toEqual(['Grüße aus [-Köln-]{+Bonn+}'])
    expect(shown('我喜欢红色。', '我喜欢蓝色。')).toEqual(['我喜欢[-红色-]{+蓝色+}。'])
  })

  it('has sentences that are new or gone whole', () => {
    expect(shown('One is here. Two is there.', 'One is here. Something else comes. Two is there.')).toEqual([
      'One is here. {+Something else comes. +}Two is there.',
    ])
    expect(shown('the cat sat', 'quarterly figures, the rest')).toEqual([
      '[-the cat sat-]',
      '{+quarterly figures, the rest+}',
    ])
  })

  it('has items, headings, rows and lines of code as such, and blocks that are the same as one', () => {
    const before = '# Title\n\n1. one\n2. two\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n```\nx = 1\ny = 2\n```\n'
    const after = '# New title\n\n1. one\n2. and\n3. two\n\n| a | b |\n|---|---|\n| 1 | 3 |\n\n```\nx = 1\ny = 3\n```\n'
    expect(shown(`Begin.\n\n${before}`, `Begin.\n\n${after}`)).toEqual([
      '=',
      '[-Title-]',
      '{+New title+}',
      '1. one',
      '2. {+and+}',
      '3. two',
      'a | b',
      '1 | [-2-]{+3+}',
      'x = 1',
      'y = [-2-]{+3+}',
    ])
  })

  it('marks words whose look or address changed', () => {
    expect(shown('It is so good.', 'It is **so** good.')).toEqual(['It is [-so-]{+so+} good.'])
    expect(shown('See [it](https://a.example).', 'See [it](https://b.example).')).toEqual(['See [-it-]{+it+}.'])
  })

  it('threat 209: does not take one text for another: numbers behind links, languages of code, first numbers of lists', () => {
    const links = Array.from({ length: 12 }, (_, n) => `[a](https://a.example/${n})`).join(' ')
    const pay = (n: number, amount: string) => `${links}. Pay [us](https://a.example/${n})${amount} now.`
    expect(shown(pay(0, '2500'), pay(11, '500')).join('')).toContain('{+us')
    expect(shown('```js\nx\n```\n', '```sh\nx\n```\n')).toEqual(['[-js-]', '{+sh+}', 'x'])
    expect(shown('3. days\n4. b\n', '30. days\n31. b\n')).toEqual(['3. [-days-]', '30. {+days+}', '31. b'])
  })

  it('of texts that read the same has no changes', () => {
    for (const [before, after] of [
      ['', ''],
      ['a\n\nb', 'a\n\n\n\nb'],
      ['*a*', '_a_'],
      ['- a\n- b', '* a\n* b'],
    ] as const) {
      const { changed, removed, added } = diffOf(before, after)
      expect([changed, removed, added]).toEqual([0, 0, 0])
    }
  })

  it('has both texts whole', () => {
    let seed = 7
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
    const word = (): string => ['a', 'bee', '**see**', 'dee,', 'end.', '[ef](https://a.example)'][random(6)]!
    const text = (): string =>
      Array.from(
        { length: 1 + random(4) },
        () => ['- ', '', '', '# '][random(4)] + Array.from({ length: 1 + random(8) }, word).join(' '),
      ).join('\n\n')
    const plain = (text: string): string => sideOf([{ same: blocksOf(text) }], 'added')
    for (let round = 0; round < 300; round++) {
      const [before, after] = [text(), text()]
      const { parts } = diffOf(before, after)
      expect([sideOf(parts!, 'removed'), sideOf(parts!, 'added')]).toEqual([plain(before), plain(after)])
    }
  })

  it('of long texts keeps what is around the change', () => {
    const many = Array.from({ length: 10_000 }, (_, i) => `Paragraph ${i}.`)
    expect(
      shown(many.join('\n\n'), many.with(5_000, 'Another one.').join('\n\n')).filter((line) => line !== '='),
    ).toEqual(['[-Paragraph 5000.-]', '{+Another one.+}'])
  })

  it('of texts that differ all over counts what does, and marks nothing of it', () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `Line ${i}.`)
    expect(diffOf(many.join('\n\n'), many.map((line) => `New ${line}`).join('\n\n'))).toEqual({
      parts: undefined,
      changed: 0,
      removed: 5_000,
      added: 5_000,
    })
  })

  it('threat 227: leaves out nothing of what it marks', () => {
    const items = (name: string, of: number): string =>
      Array.from({ length: of }, (_, i) => `- ${name}${i}.\n`).join('')
    const before = items('old', 400) + items('same', 1_000) + items('last', 100)
    const after = items('new', 400) + items('same', 1_000) + items('final', 100)
    const { parts } = diffOf(before, after)
    expect([sideOf(parts!, 'removed'), sideOf(parts!, 'added')]).toEqual(
      [before, after].map((text) => text.replaceAll('- ', '').replaceAll('\n', ' ').trim()),
    )
    // The last item was not among the marked ones: what was removed, and what both have, took its room.
    expect(diffOf(before, `${after}- one more.\n`).parts).toBeUndefined()
  })

  it('compares the words of so many characters only, so that a megabyte is compared at once', () => {
    const before = Array.from({ length: 200 }, (_, n) =>
      Array.from({ length: 990 }, (_, i) => `w${n * 990 + i}`).join(' '),
    ).join('\n\n')
    const after = before.replaceAll(/w(\d*[02468])\b/g, 'x$1')
    const { parts, removed, added } = diffOf(before, after)
    expect([removed, added]).toEqual([200, 200])
    expect([sideOf(parts!, 'removed'), sideOf(parts!, 'added')].map(({ length }) => length)).toEqual(
      [before.length, after.length].map((length) => length - 199),
    )
  })

  it('threat 86: parts without words, which are no less work to compare, do not freeze the page', () => {
    // Some 24 KB each, which took 8 s.
    const begun = performance.now()
    const { removed, added } = diffOf('---\n\n#\n\n'.repeat(3_000), '#\n\n---\n\n'.repeat(3_000))
    expect([removed, added]).toEqual([6_000, 6_000])
    const row = '| |\n'
    const rows = diffOf(`| a |\n|-|\n${row.repeat(5_000)}`, `| b |\n|-|\n${row.repeat(4_000)}| c |\n`)
    expect([rows.removed, rows.added]).toEqual([5_003, 4_003])
    expect(performance.now() - begun).toBeLessThan(3_000)
  })
})
