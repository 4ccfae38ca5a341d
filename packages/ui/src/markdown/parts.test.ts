import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { MarkdownDocument } from './document.js'
import type { Part } from './parts.js'
import { partsOf } from './parts.js'

beforeAll(() => vi.stubGlobal('location', new URL('https://turnpike.example/console')))
afterAll(() => vi.unstubAllGlobals())

/** The parts of a text, each as its source. */
function sourcesOf(text: string): string[] {
  const document = new MarkdownDocument()
  document.read(text, false, Infinity)
  return partsOf(document.blocks).map((part) => part.map(({ source }) => source).join(''))
}

describe('the parts of a text', () => {
  it('are one where it is not long', () => {
    expect(sourcesOf('# A title\n\nSome words.\n\n'.repeat(20))).toHaveLength(1)
    expect(sourcesOf('')).toEqual([])
  })

  it('have few blocks, or long ones, and all of the text', () => {
    for (const text of ['a\n\n', '- a\n', '# a\n', '***\n', 'Some words.\n'].map((one) => one.repeat(10_000))) {
      const sources = sourcesOf(text)
      expect(sources.length).toBeGreaterThan(3)
      for (const source of sources) expect(source.length).toBeLessThan(30_000)
      expect(sources.join('').replaceAll('\n', '')).toBe(text.replaceAll('\n', ''))
    }
  })

  it('do not end with a heading or a rule, where something follows', () => {
    for (const end of ['# A title\n\n', '***\n\n'])
      for (let before = 90; before < 110; before++) {
        const [first] = sourcesOf('a\n\n'.repeat(before) + end.repeat(3) + 'a\n\n'.repeat(50))
        expect(first!.endsWith(end)).toBe(false)
      }
  })
})

it('threat 81: short paragraphs are looked at anew only where they change', () => {
  const document = new MarkdownDocument()
  const text = 'a\n\n'.repeat(60_000)
  const parts = new Set<Part>()
  while (!document.read(text, false, 0)) for (const part of partsOf(document.blocks)) parts.add(part)
  const blocks = [...parts].reduce((sum, part) => sum + part.length, 0)
  expect(document.blocks.length).toBeGreaterThan(40_000)
  expect(blocks).toBeLessThan(1.1 * document.blocks.length)
})
