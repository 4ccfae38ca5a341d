import type { Price, Units } from '@turnpike/core'
import { cost, ratesFor, unitClasses } from '@turnpike/core'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'

const page = readFileSync(fileURLToPath(new URL('../docs/pricing.md', import.meta.url)), 'utf8')
const folder = fileURLToPath(new URL('.pricing-page', import.meta.url))

const blocks = [...page.matchAll(/^```ts\n([^]*?)^```/gm)].map((match) => match[1]!)
const vectors = [...page.matchAll(/^\| `(\{.*?\})` +\| `(\{.*?\})` +\| +(\S+) \|$/gm)].map(
  ([, price, units, told]) => ({
    price: JSON.parse(price!) as Price,
    units: JSON.parse(units!) as Units,
    nano: told === 'unknown' ? null : Number(told!.replaceAll(',', '')),
  }),
)

beforeAll(() => mkdirSync(folder, { recursive: true }))
afterAll(() => rmSync(folder, { recursive: true }))
afterEach(() => vi.restoreAllMocks())

describe('docs/pricing.md', () => {
  it('has all its examples read', () => {
    expect(blocks).toHaveLength(3)
    expect(vectors).toHaveLength(14)
  })

  it.each(vectors)('is right about $units at $price', ({ price, units, nano }) => {
    expect(cost(units, ratesFor(price, units))).toBe(nano)
  })

  it.each(blocks.map((code, i) => [i, code] as const))('has examples that print what they say: %i', async (i, code) => {
    const models = { 'gpt-4o': { cost: { input: 2.4, output: 9 } } }
    vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ openai: { models } }))
    const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
    writeFileSync(join(folder, `block-${i}.ts`), code)
    await import(join(folder, `block-${i}.ts`))
    const expected = [...code.matchAll(/^console\.log\(.*\) \/\/ (.*)$/gm)].map((match) => match[1])
    expect(expected).not.toEqual([])
    expect(printed.mock.calls.map(([value]) => JSON.stringify(value))).toEqual(expected)
  })

  it('has a row for every class', () => {
    expect([...page.matchAll(/^\| `(\w+)` +\|/gm)].map((match) => match[1])).toEqual([...unitClasses])
  })
})
