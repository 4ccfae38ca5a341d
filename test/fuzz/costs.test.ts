import type { Rates, UnitClass, Units } from '@turnpike/core'
import { cost, priceTable, ratesFor, unitsOf } from '@turnpike/core'
import { unitClasses } from '@turnpike/core/internal'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parameters } from './parameters.js'

const tokens = fc.nat(2_000_000)
/** What an upstream may say of a part, right or wrong. */
const told = fc.oneof(tokens, fc.double(), fc.string(), fc.constant(null))
const usages = fc
  .record({
    prompt_tokens: tokens,
    completion_tokens: tokens,
    prompt_tokens_details: fc.option(
      fc.record(
        {
          cached_tokens: told,
          cache_write_tokens: told,
          cache_write_1h_tokens: told,
          audio_tokens: told,
          image_tokens: told,
        },
        { requiredKeys: [] },
      ),
    ),
    completion_tokens_details: fc.option(
      fc.record({ reasoning_tokens: told, audio_tokens: told, image_tokens: told }, { requiredKeys: [] }),
    ),
  })
  .map((usage) => ({ ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens }))

const classes = <T>(value: fc.Arbitrary<T>, requiredKeys: UnitClass[]) =>
  fc.record(Object.fromEntries(unitClasses.map((name) => [name, value])) as Record<UnitClass, typeof value>, {
    requiredKeys,
  })
const units: fc.Arbitrary<Units> = classes(tokens, [])
/** Rates as prices are told: decimals of up to five digits behind the point. */
const rate = fc.nat(200_000_000).map((n) => n / 1e5)
/** Rates that know every class of tokens. */
const rates: fc.Arbitrary<Rates> = classes(rate, ['input', 'output'])

const sum = (all: Units, names: readonly UnitClass[]): number =>
  names.reduce((total, name) => total + (all[name] ?? 0), 0)

describe('for any usage', () => {
  it('the classes add up to the totals, and none is negative or empty', () => {
    fc.assert(
      fc.property(usages, (usage) => {
        const found = unitsOf(usage)
        expect(sum(found, ['input', 'input_audio', 'input_image', 'cache_read', 'cache_write', 'cache_write_1h'])).toBe(
          usage.prompt_tokens,
        )
        expect(sum(found, ['output', 'reasoning', 'output_audio', 'output_image'])).toBe(usage.completion_tokens)
        for (const count of Object.values(found)) expect(Number.isSafeInteger(count) && count > 0).toBe(true)
      }),
      parameters,
    )
  })
})

describe('for any usage and price', () => {
  it('the cost is an integer, not negative, and within a nano-dollar of the floating-point result', () => {
    fc.assert(
      fc.property(units, rates, (used, price) => {
        const flat: Rates = {
          ...price,
          ...Object.fromEntries(unitClasses.map((name) => [name, price[name] ?? price.input])),
        }
        const nano = cost(used, flat)
        if (sum(used, unitClasses) === 0) return expect(nano).toBe(0)
        expect(Number.isInteger(nano) && nano! >= 0).toBe(true)
        const floats = unitClasses.reduce((all, name) => all + (used[name] ?? 0) * flat[name]! * 1000, 0)
        expect(Math.abs(nano! - floats)).toBeLessThanOrEqual(1 + floats * 1e-12)
      }),
      parameters,
    )
  })

  it('more of a class never costs less', () => {
    fc.assert(
      fc.property(units, rates, fc.constantFrom(...unitClasses), tokens, (used, price, name, more) => {
        const before = cost(used, price)
        const after = cost({ ...used, [name]: (used[name] ?? 0) + more }, price)
        if (before !== null) expect(after).toBeGreaterThanOrEqual(before)
      }),
      parameters,
    )
  })

  it('the cost of a class does not depend on the others', () => {
    fc.assert(
      fc.property(units, rates, (used, price) => {
        const known = unitClasses.filter((name) => (used[name] ?? 0) > 0 && cost({ [name]: 1 }, price) !== null)
        if (known.length === 0) return
        const apart = known.reduce((all, name) => all + cost({ [name]: used[name]! }, price)!, 0)
        // Each is rounded by itself, to within half a nano-dollar.
        expect(Math.abs(cost(used, price)! - apart)).toBeLessThanOrEqual(known.length / 2 + 0.5)
      }),
      parameters,
    )
  })

  it('a change of the price does not affect earlier costs', () => {
    fc.assert(
      fc.property(units, rates, rates, (used, before, after) => {
        const row = { ...before, cache_read: 0 }
        const table = priceTable({ 'a/b': row })
        const frozen = ratesFor(table.price('a', 'b')!, used)
        const [rates, nano] = [JSON.stringify(frozen), cost(used, frozen)]
        Object.assign(row, after)
        expect(JSON.stringify(ratesFor(table.price('a', 'b')!, used))).toBe(rates)
        expect(JSON.stringify(frozen)).toBe(rates)
        expect(cost(used, frozen)).toBe(nano)
      }),
      parameters,
    )
  })
})
