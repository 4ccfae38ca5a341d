import { readFileSync, writeFileSync } from 'node:fs'
import { anthropic, createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import { expect, it } from 'vitest'

/** The table of docs/providers.md. `UPDATE=1` writes it anew; otherwise it must be what the page says. */
const page = new URL('../docs/providers.md', import.meta.url)
const begin = '<!-- table: test/fidelity.test.ts -->'
const end = '<!-- end -->'

const apiKey = 'none'
const endpoints = googleEndpoints()
const router = createRouter({ providers: [openai({ apiKey }), anthropic({ apiKey }), google({ apiKey, endpoints })] })
const models = [
  'gpt-4o',
  'gpt-5.5',
  'claude-sonnet-4-5',
  'claude-sonnet-5',
  'claude-opus-5',
  'claude-sonnet-5-5',
  'gemini-3.8-flash',
  'gemini-3-pro-image-preview',
]

const row = (cells: string[]): string => `| ${cells.join(' | ')} |`

it('docs/providers.md has the fidelity of each field', async () => {
  const outcomes = await Promise.all(models.map(async (model) => (await router.model(model))!.fidelity!))
  const table = [
    row(['Field', ...models.map((model) => `\`${model}\``)]),
    row(['---', ...models.map(() => '---')]),
    ...Object.keys(outcomes[0]!).map((field) => row([field, ...outcomes.map((outcome) => outcome[field]!)])),
  ].join('\n')
  const text = readFileSync(page, 'utf8')
  const [before, rest] = text.split(begin) as [string, string]
  const [given, after] = rest.split(end) as [string, string]
  if (process.env['UPDATE']) writeFileSync(page, `${before}${begin}\n\n${table}\n\n${end}${after}`)
  else expect(given.trim()).toBe(table)
})
