import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { MarkdownDocument } from './document.js'
import { leavesOf } from './leaves.js'
import { withEnds } from './unfinished.js'

beforeAll(() => vi.stubGlobal('location', new URL('https://turnpike.example/console')))
afterAll(() => vi.unstubAllGlobals())

/** The text of a document with the kinds of its parts, as it is shown while it is written. A link is a text until its address is known. */
const shownOf = (text: string, isGrowing: boolean): string => {
  const document = new MarkdownDocument()
  document.read(text, isGrowing, Infinity)
  return document.blocks
    .flatMap(leavesOf)
    .map(({ kind, depth, marker = '', runs }) =>
      [
        `<${kind} ${depth}>${marker}`,
        ...runs.flatMap(({ text, marks }) =>
          text === '' ? [] : [[...marks.map(({ tag }) => (tag === 'a' ? '' : `<${tag}>`)), text].join('')],
        ),
      ]
        .join('')
        .trimEnd(),
    )
    .join('\n')
}

it('shows nothing that turns into something else with the next words', () => {
  const text = [
    'A **bold** and *fine* word, `code`, ~~gone~~, ***both*** and a [link](https://a.example/b).',
    '## A heading',
    '- one **item**\n- [x] two\n  1. within\n  2. next',
    'Words\n- that a list follows',
    '| a | b |\n|---|:-:|\n| 1 | `2` |\n| 3 | 4 |',
    '## With a table\n| a | b |\n|---|---|\n| 1 | 2 |',
    '```ts\nconst a = 1\n```',
    '> quoted **words**\n> and more',
    '***',
    'The end: __bold__ and ![a picture](https://a.example/c.png)!',
  ].join('\n\n')
  const whole = shownOf(text, false)
  const wrong: string[] = []
  for (let at = 1; at <= text.length; at++) {
    const shown = shownOf(text.slice(0, at), true)
    if (!whole.startsWith(shown)) wrong.push(`${text.slice(Math.max(0, at - 20), at)} => ${shown.slice(-60)}`)
  }
  expect(wrong).toEqual([])
})

it.each([
  ['a **bold', 'a **bold**'],
  ['a **bold*', 'a **bold**'],
  ['a **bold _and', 'a **bold _and_**'],
  ['a **', 'a'],
  ['`a *b', '`a *b`'],
  ['2 * 3', '2 * 3'],
  ['snake_case_name', 'snake_case_name'],
  ['a [link](https://a.exa', 'a link'],
  ['**a [link](https://a.exa', '**a link**'],
  ['![a picture](https://', 'a picture'],
  ['a \\*star', 'a \\*star'],
  ['a **bold** word', 'a **bold** word'],
])('ends %j as %j', (text, ended) => {
  expect(withEnds(text)).toBe(ended)
})

it('threat 81: marks that end nothing take no time', () => {
  const begun = performance.now()
  for (const mark of '*_~`') expect(withEnds(`${mark.repeat(50_000)}a`).length).toBeGreaterThan(50_000)
  // With the square of the length, each took twenty times as long.
  expect(performance.now() - begun).toBeLessThan(2_000)
  expect(['a**', 'a\\**', 'a\\*', 'a\\', '**', ''].map(withEnds)).toEqual(['a', 'a\\*', 'a\\*', 'a\\', '', ''])
})
