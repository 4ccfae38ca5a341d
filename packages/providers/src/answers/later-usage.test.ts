import { expect, it } from 'vitest'
import { usageJoiner } from './later-usage.js'

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
  const join = usageJoiner<object>()
  join(earlier)
  expect(join(later)).toEqual({
    input_tokens: 9,
    output_tokens: 3,
    service_tier: 'priority',
    details: { cached: 2, written: 1 },
    iterations: [{ a: 1 }],
  })
})

it('threat 190: of reports without end, some thousand values of 200 characters are kept', () => {
  const join = usageJoiner<object>()
  let joined: object | undefined
  for (let event = 0; event < 50; event++) {
    const text = (of: string) => of.repeat(200)
    const many = Array.from({ length: 100 }, (_, i) => [
      `f${event}-${i}`,
      { [`g${event}`]: text('x'), list: Array(100).fill(text('y')) },
    ])
    joined = join({
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
  const joined = usageJoiner<object>()(JSON.parse('{"__proto__":{"prompt_tokens":9}}') as object)
  expect([Object.getPrototypeOf(joined), Object.keys(joined)]).toEqual([Object.prototype, ['__proto__']])
})

it('threat 222: a later report costs by its own size, and not by what is kept', () => {
  const join = usageJoiner<Record<string, unknown>>()
  const fields = (make: (i: number) => unknown) =>
    Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`f${i}`, make(i)]))
  const reads = { count: 0 }
  const joined = join(fields(() => fields((i) => i)))
  // Of what is kept, only what the later report names is looked at.
  for (const name of Object.keys(joined).slice(0, 15))
    joined[name] = new Proxy(joined[name] as object, { ownKeys: (of) => (reads.count++, Reflect.ownKeys(of)) })
  for (let event = 0; event < 100; event++) join({ f0: { f1: event } })
  expect([reads.count, (joined['f0'] as Record<string, unknown>)['f1']]).toEqual([100, 99])
})

it('a list that each report tells anew takes its place once', () => {
  const join = usageJoiner<Record<string, unknown>>()
  let joined = {}
  for (let event = 0; event < 200; event++)
    joined = join({ iterations: Array.from({ length: 50 }, (_, i) => ({ i, event })), prompt_tokens: event })
  const { iterations, prompt_tokens } = joined as { iterations: unknown[]; prompt_tokens: number }
  expect([iterations.length, iterations[49], prompt_tokens]).toEqual([50, { i: 49, event: 199 }, 199])
})
