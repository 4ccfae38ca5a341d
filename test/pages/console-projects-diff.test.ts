import { describe, expect, it } from 'vitest'
import type { Block } from '../../examples/console/src/projects/diff.js'
import { diff, MOST_LINES } from '../../examples/console/src/projects/diff.js'

/** A diff with `-` and `+` lines, in which `[…]` is what changed. */
const shown = (before: string, after: string): string[] =>
  diff(before, after).blocks.flatMap((block) =>
    'same' in block
      ? block.same.map((line) => `  ${line}`)
      : [...lines('- ', block.removed), ...lines('+ ', block.added)],
  )
const lines = (sign: string, of: readonly { text: string; changed: boolean }[][]): string[] =>
  of.map((pieces) => sign + pieces.map(({ text, changed }) => (changed ? `[${text}]` : text)).join(''))

/** The text that one side of a diff shows. */
const sideOf = (blocks: Block[], side: 'removed' | 'added'): string =>
  blocks
    .flatMap((block) =>
      'same' in block ? block.same : block[side].map((pieces) => pieces.map(({ text }) => text).join('')),
    )
    .join('\n')

describe('the diff of two texts', () => {
  it('has lines that are the same, removed and added', () => {
    expect(shown('one\ntwo\nthree', 'one\nthree\nfour')).toEqual(['  one', '- [two]', '  three', '+ [four]'])
  })

  it('tells the words of a line that changed', () => {
    expect(shown('A fine headline for us.', 'A bold headline for us!')).toEqual([
      '- A [fine] headline for us[.]',
      '+ A [bold] headline for us[!]',
    ])
    expect(shown('Grüße aus Köln', 'Grüße aus Bonn')).toEqual(['- Grüße aus [Köln]', '+ Grüße aus [Bonn]'])
  })

  it('tells no words of lines that have nothing to do with each other', () => {
    expect(shown('the cat sat', 'quarterly figures, the rest')).toEqual([
      '- [the cat sat]',
      '+ [quarterly figures, the rest]',
    ])
  })

  it('of empty texts, of the same and of other line ends has no changes that are none', () => {
    expect(diff('', '')).toEqual({ blocks: [], removed: 0, added: 0, isCut: false })
    expect(shown('', 'new')).toEqual(['+ [new]'])
    expect(shown('a\r\nb', 'a\nb')).toEqual(['  a', '  b'])
  })

  it('is the shortest, and has both texts whole', () => {
    let seed = 7
    const random = (below: number): number => (seed = (seed * 48_271) % 2_147_483_647) % below
    for (let round = 0; round < 300; round++) {
      const text = (): string => Array.from({ length: random(9) }, () => 'abc'[random(3)]!).join('\n')
      const [before, after] = [text(), text()]
      const { blocks } = diff(before, after)
      expect([sideOf(blocks, 'removed'), sideOf(blocks, 'added')]).toEqual([before, after])
      const same = blocks.reduce((sum, block) => sum + ('same' in block ? block.same.length : 0), 0)
      expect(same).toBe(longestCommon(before, after))
    }
  })

  it('of long texts keeps what is around the change, without comparing all pairs', () => {
    const many = Array.from({ length: 40_000 }, (_, i) => `line ${i}`)
    expect(shown(many.join('\n'), many.with(20_000, 'another').join('\n')).filter((line) => line[0] !== ' ')).toEqual([
      '- [line 20000]',
      '+ [another]',
    ])
    const others = many.map((line) => `${line}!`)
    const { blocks, ...counts } = diff(many.join('\n'), others.join('\n'))
    expect(counts).toEqual({ removed: 40_000, added: 40_000, isCut: true })
    expect(blocks).toHaveLength(1)
    expect(sideOf(blocks, 'removed')).toBe(many.slice(0, MOST_LINES).join('\n'))
    expect(sideOf(blocks, 'added')).toBe(others.slice(0, MOST_LINES).join('\n'))
  })

  it('is not cut where the last line that it may have is the last that changed', () => {
    const lines = Array.from({ length: MOST_LINES }, (_, i) => `line ${i}`)
    const { blocks, isCut } = diff([...lines, 'end'].join('\n'), 'end')
    expect([blocks.length, isCut]).toEqual([2, false])
    expect(diff([...lines, 'x', 'end'].join('\n'), 'end').isCut).toBe(true)
  })

  it('compares the words of the first long lines only, so that a megabyte of text is compared at once', () => {
    const before = Array.from({ length: 200 }, (_, line) =>
      Array.from({ length: 990 }, (_, i) => `w${line * 990 + i}`).join(' '),
    ).join('\n')
    const after = before.replaceAll(/w(\d*[02468])\b/g, 'x$1')
    const { blocks } = diff(before, after)
    expect([sideOf(blocks, 'removed'), sideOf(blocks, 'added')]).toEqual([before, after])
    const pieces = blocks.flatMap((block) => ('same' in block ? [] : block.removed.map((line) => line.length)))
    expect(pieces).toHaveLength(200)
    expect(pieces[0]).toBeGreaterThan(900)
    expect(pieces.filter((count) => count > 1).length).toBeLessThan(20)
  })
})

/** Of lines of one letter, by trying all subsequences of the shorter text. */
function longestCommon(before: string, after: string): number {
  const [a, b] = [before, after].map((text) => text.split('\n').filter(Boolean)) as [string[], string[]]
  let most = 0
  for (let chosen = 0; chosen < 1 << a.length; chosen++) {
    const some = a.filter((_, i) => chosen & (1 << i))
    let at = 0
    for (const one of b) if (one === some[at]) at++
    if (at === some.length) most = Math.max(most, at)
  }
  return most
}
