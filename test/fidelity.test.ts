import { readFileSync, writeFileSync } from 'node:fs'
import { anthropic, google, openai } from '@turnpike/providers'
import { expect, it } from 'vitest'

/** The table of docs/providers.md. `UPDATE=1` writes it anew; otherwise it must be what the page says. */
const page = new URL('../docs/providers.md', import.meta.url)
const begin = '<!-- table: test/fidelity.test.ts -->'
const end = '<!-- end -->'

const apiKey = 'none'
const columns = [
  [openai({ apiKey }), 'gpt-4o'],
  [anthropic({ apiKey }), 'claude-sonnet-4-5'],
  [anthropic({ apiKey }), 'claude-opus-4-8'],
  [google({ apiKey }), 'gemini-2.5-flash'],
  [google({ apiKey }), 'gemini-3-flash-preview'],
] as const

const row = (cells: string[]): string => `| ${cells.join(' | ')} |`

it('says in docs/providers.md what becomes of each field', () => {
  const outcomes = columns.map(([provider, model]) => provider.fidelity!(model))
  const table = [
    row(['Field', ...columns.map(([, model]) => `\`${model}\``)]),
    row(['---', ...columns.map(() => '---')]),
    ...Object.keys(outcomes[0]!).map((field) => row([field, ...outcomes.map((outcome) => outcome[field]!)])),
  ].join('\n')
  const text = readFileSync(page, 'utf8')
  const [before, rest] = text.split(begin) as [string, string]
  const [given, after] = rest.split(end) as [string, string]
  if (process.env['UPDATE']) writeFileSync(page, `${before}${begin}\n\n${table}\n\n${end}${after}`)
  else expect(given.trim()).toBe(table)
})
