import { expect, it } from 'vitest'
import { laterUsage } from './later-usage.js'

it('reports of an answer are joined: the larger count, and the later of other values', () => {
  const earlier = {
    input_tokens: 9,
    output_tokens: 1,
    service_tier: 'auto',
    details: { cached: 2 },
    iterations: [{ a: 1 }],
  }
  const later = {
    input_tokens: 0,
    output_tokens: 3,
    service_tier: 'priority',
    details: { cached: 0, written: 1 },
    x: null,
  }
  expect(laterUsage<object>(earlier, later)).toEqual({
    input_tokens: 9,
    output_tokens: 3,
    service_tier: 'priority',
    details: { cached: 2, written: 1 },
    iterations: [{ a: 1 }],
  })
})

it('threat 190: of reports without end, some thousand values of 200 characters are kept', () => {
  let joined: object | undefined
  for (let event = 0; event < 50; event++) {
    const text = (of: string) => of.repeat(200)
    const many = Array.from({ length: 100 }, (_, i) => [
      `f${event}-${i}`,
      { [`g${event}`]: text('x'), list: Array(100).fill(text('y')) },
    ])
    joined = laterUsage<object>(joined, {
      prompt_tokens: event,
      long: text('xx'),
      [text('zz')]: 1,
      ...Object.fromEntries(many),
    })
  }
  expect(joined).toMatchObject({ prompt_tokens: 49 })
  expect(Object.keys(joined!).length).toBeLessThanOrEqual(64)
  const kept = JSON.stringify(joined)
  expect(kept.length).toBeLessThan(300_000)
  for (const long of ['xx', 'zz']) expect(kept).not.toContain(long.repeat(200))
})

it('a field that is named like a prototype is a field', () => {
  const joined = laterUsage<object>(undefined, JSON.parse('{"__proto__":{"prompt_tokens":9}}') as object)
  expect([Object.getPrototypeOf(joined), Object.keys(joined)]).toEqual([Object.prototype, ['__proto__']])
})
