import type { Price, Units } from '@turnpike/core'
import { cost, ratesFor } from '@turnpike/core'
import { unitClasses } from '@turnpike/core/internal'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { openPage, runExample } from './support/page.js'

const { text: page, blocks } = openPage('pricing.md')
const vectors = [...page.matchAll(/^\| `(\{.*?\})` +\| `(\{.*?\})` +\| +(\S+) \|$/gm)].map(
  ([, price, units, told]) => ({
    price: JSON.parse(price!) as Price,
    units: JSON.parse(units!) as Units,
    nano: told === 'unknown' ? null : Number(told!.replaceAll(',', '')),
  }),
)

afterEach(() => vi.restoreAllMocks())

describe('docs/pricing.md', () => {
  it('has examples that were all found', () => {
    expect(blocks).toHaveLength(3)
    expect(vectors).toHaveLength(14)
  })

  it.each(vectors)('has the correct cost of $units at $price', ({ price, units, nano }) => {
    expect(cost(units, ratesFor(price, units))).toBe(nano)
  })

  it.each(blocks.map((code, i) => [i, code] as const))(
    'has examples with the documented output: %i',
    async (_, code) => {
      const models = { 'gpt-4o': { cost: { input: 2.4, output: 9 } } }
      vi.spyOn(globalThis, 'fetch').mockImplementation(async () => Response.json({ openai: { models } }))
      await runExample(code)
    },
  )

  it('has a row for every class', () => {
    expect([...page.matchAll(/^\| `(\w+)` +\|/gm)].map((match) => match[1])).toEqual([...unitClasses])
  })
})
