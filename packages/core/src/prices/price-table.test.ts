import { describe, expect, it } from 'vitest'
import type { Price } from './price.js'
import { priceTable } from './price-table.js'

describe('a price table', () => {
  const table = priceTable({
    'openai/gpt-x': { input: 1 },
    'openai/gpt-x-2024-05-13': { input: 5 },
    'acme/models/y': { input: 3 },
    '*/llama': { input: 7 },
    '*/meta/llama:1b': { input: 8 },
    'acme/llama': { input: 9 },
  })

  it.each<[string, string, Price | undefined]>([
    ['openai', 'gpt-x', { input: 1 }],
    ['openai', 'gpt-x-20250929', { input: 1 }],
    ['openai', 'gpt-x-2024-08-06', { input: 1 }],
    ['openai', 'gpt-x-latest', { input: 1 }],
    ['openai', 'gpt-x@20250929', { input: 1 }],
    ['openai', 'gpt-x@default', { input: 1 }],
    ['openai', 'gpt-x-001', { input: 1 }],
    ['openai', 'gpt-x-default', undefined],
    ['openai', 'gpt-x-2024-05-13', { input: 5 }],
    ['acme', 'models/y', { input: 3 }],
    ['openai', 'gpt-x-mini', undefined],
    ['openai', 'gpt-x-2024', undefined],
    ['openai', 'gpt-x-2024-08-06-preview', undefined],
    ['anthropic', 'gpt-x', undefined],
    ['local', 'llama', { input: 7 }],
    ['local', 'llama:latest', { input: 7 }],
    ['acme', 'llama:latest', { input: 9 }],
    ['local', 'meta/llama:1b', { input: 8 }],
    ['local', 'llama:1b', undefined],
    ['*', '*', undefined],
    ['__proto__', '__proto__', undefined],
    ['', 'constructor', undefined],
  ])('returns for %s/%s: %j', (provider, model, price) => {
    expect(table.price(provider, model)).toEqual(price)
  })

  it.each<[string, string, Price | undefined]>([
    ['x', 'flex', { input: 0.5 }],
    ['x-2024-08-06', 'flex', { input: 0.5 }],
    ['x-2024-05-13', 'flex', undefined],
    ['x-2024-05-13', 'priority', { input: 9 }],
    ['x', 'priority', undefined],
    ['x', 'constructor', undefined],
    ['none', 'flex', undefined],
  ])('returns the price of a service tier, for %s %s: %j', (model, tier, price) => {
    const tiered = priceTable({
      'a/x': { input: 1, service_tiers: { flex: { input: 0.5 } } },
      'a/x-2024-05-13': { input: 5, service_tiers: { priority: { input: 9 } } },
    })
    expect(tiered.price('a', model, tier)).toEqual(price)
    expect(tiered.price('a', 'x')).toEqual({ input: 1 })
    expect(tiered.version).not.toBe(priceTable({ 'a/x': { input: 1 }, 'a/x-2024-05-13': { input: 5 } }).version)
  })

  it('has a version that depends on its rows and not on their order', () => {
    const version = (rows: Record<string, Price>) => priceTable(rows).version
    const one = version({
      'a/x': { input: 1, output: 2, tiers: [{ above: 10, input: 3 }] },
      'b/y': { characters: 15 },
    })
    // FNV-1a of {"a/x":{"input":1,"output":2,"tiers":[{"above":10,"input":3}]},"b/y":{"characters":15}}
    expect(one).toBe('895d6df2031908a5')
    expect(
      version({ 'b/y': { characters: 15 }, 'a/x': { tiers: [{ input: 3, above: 10 }], output: 2, input: 1 } }),
    ).toBe(one)
    expect(
      version({ 'b/y': { characters: 15 }, 'a/x': { tiers: [{ input: 4, above: 10 }], output: 2, input: 1 } }),
    ).not.toBe(one)
  })

  it('does not change when the given rows change', () => {
    const rows = { 'a/x': { input: 1, tiers: [{ above: 10, input: 3 }] } }
    const frozen = priceTable(rows)
    rows['a/x'].input = 9
    rows['a/x'].tiers[0]!.input = 9
    expect(frozen.price('a', 'x')).toEqual({ input: 1, tiers: [{ above: 10, input: 3 }] })
  })

  it('reports the origin of each price', () => {
    const own = { source: 'own.json', since: '2026-02-03T04:05:06.000Z' }
    const builtIn = { source: 'built-in', since: '2026-01-02' }
    const rows = { 'a/x': { input: 1 }, 'a/y': { input: 2 } }
    const one = priceTable(rows, own)
    expect([one.origin, one.originOf('a', 'y-20260101'), one.originOf('a', 'z')]).toEqual([own, own, undefined])
    const two = priceTable(rows, own, (id) => (id === 'a/x' ? own : builtIn))
    expect([two.originOf('a', 'x-latest'), two.originOf('a', 'y')]).toEqual([own, builtIn])
    expect(two.version).toBe(one.version)
  })

  it('has the origin host and its creation time by default', () => {
    const { source, since } = priceTable({ 'a/x': { input: 1 } }).origin
    expect([source, Date.now() - Date.parse(since) < 10_000]).toEqual(['host', true])
  })

  it('refuses an invalid row', () => {
    expect(() => priceTable({ 'a/x': { input: -1 } })).toThrow('Price of a/x: input is -1')
  })
})
