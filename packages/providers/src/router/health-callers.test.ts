import type { Provider, Target, UpstreamFailure } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { Health } from './health.js'

const provider: Provider = { id: 'p', models: async () => [] }
const of = (...caller: string[]): Target => ({
  provider,
  model: 'm',
  price: undefined,
  catalogue: '',
  need: { task: 'chat', ...(caller.length > 0 && { caller }) },
})
const failed = (fields: Partial<UpstreamFailure> = {}): UpstreamError =>
  new UpstreamError('failed', { provider: 'p', kind: 'status', status: 503, accepted: false, ...fields })

function setup() {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const health = new Health({ failures: 3, restMs: 10_000, now: () => clock.now })
  /** Reports requests of callers, one for each letter, that end with `error` or without one. */
  const calls = (callers: string, error?: unknown): void => {
    for (const caller of callers) {
      const target = of(caller)
      health.begin(target)
      health.report(target, error)
    }
  }
  /** For whom it rests. */
  const resting = (): string => [...'abc'].filter((caller) => health.rest(of(caller))).join('')
  return { clock, health, calls, resting }
}

describe('threat 200: a provider whose requests fail', () => {
  it.each<[callers: string, resting: string]>([
    ['aa', ''],
    ['aaa', 'a'],
    ['aaaaaa', 'a'],
    ['aab', 'abc'],
    ['aaab', 'abc'],
    ['aaaba', 'abc'],
  ])('of %s rests for "%s"', (callers, expected) => {
    const { calls, resting } = setup()
    calls(callers, failed())
    expect(resting()).toBe(expected)
  })

  it('rests for callers that are not known if anybody’s fail, and for all if theirs do', () => {
    const one = setup()
    one.calls('aaa', failed())
    expect([one.resting(), one.health.rest(of())?.why]).toEqual(['a', 'unhealthy'])
    const other = setup()
    for (let i = 0; i < 3; i++) other.health.report(of(), failed())
    expect([other.resting(), other.health.rest(of())?.why]).toEqual(['abc', 'unhealthy'])
  })

  it('of end users of one account rests for that account at most, and of one of them for that one', () => {
    const { health, resting } = setup()
    const fail = (...caller: string[]) => health.report(of(...caller), failed())
    const rests = (...caller: string[]) => health.rest(of(...caller)) !== undefined
    for (let i = 0; i < 3; i++) fail('a', 'eve')
    expect([rests('a', 'eve'), rests('a', 'ada'), rests('a'), resting()]).toEqual([true, false, false, ''])
    fail('a', 'mal')
    expect([rests('a', 'eve'), rests('a', 'ada'), resting()]).toEqual([true, true, 'a'])
    fail('b', 'eve')
    expect(resting()).toBe('abc')
    const five = new Health({})
    for (const caller of 'aaaaaab') five.report(of(caller), failed())
    expect([...'abc'].map((caller) => five.rest(of(caller)) !== undefined)).toEqual([true, false, false])
    five.report(of('c'), failed())
    expect([...'abc'].map((caller) => five.rest(of(caller)) !== undefined)).toEqual([true, true, true])
  })

  it('while another model of it answers, is left alone: the model rests for those who met that', () => {
    const { health, resting } = setup()
    health.report({ ...of('c'), model: 'other' })
    const fail = (callers: string) => [...callers].forEach((caller) => health.report(of(caller), failed()))
    fail('aaaaaa')
    expect([resting(), health.rest(of('a'))?.why]).toEqual(['a', 'limited'])
    fail('bb')
    expect(resting()).toBe('a')
    fail('b')
    expect(resting()).toBe('ab')
    expect(health.rest({ ...of('a'), model: 'other' })).toBeUndefined()
    health.report(of('c'))
    fail('cc')
    expect(resting()).toBe('ab')
  })

  it('rests for nobody once one is answered', () => {
    const { calls, resting } = setup()
    calls('aaa', failed())
    calls('b')
    expect(resting()).toBe('')
    calls('aa', failed())
    expect(resting()).toBe('')
  })

  it('is tried after its rest by those for whom it rested', () => {
    const { clock, calls, resting, health } = setup()
    calls('aaab', failed())
    clock.now += 10_000
    expect(resting()).toBe('')
    health.begin(of('b'))
    expect(resting()).toBe('abc')
  })

  it('is not kept from others by a caller whose long requests try it one after the other', () => {
    const { clock, health, calls, resting } = setup()
    calls('aab', failed())
    clock.now += 10_000
    const long = of('a')
    health.begin(long)
    clock.now += 9_999
    expect(resting()).toBe('abc')
    clock.now += 1
    expect(resting()).toBe('a')
    health.report(long, failed({ caller: true, status: 400 }))
    expect([resting(), health.rest(of('a', 'ada')) !== undefined]).toEqual(['a', true])
    health.begin(of('b'))
    expect(resting()).toBe('abc')
    calls('c')
    expect(resting()).toBe('')
  })

  it('is tried by the same caller again after a trial that said nothing, once others could have', () => {
    const { clock, health, calls, resting } = setup()
    calls('aab', failed())
    clock.now += 10_000
    const asked = of('a')
    health.begin(asked)
    clock.now += 50
    health.report(asked, failed({ caller: true, status: 400 }))
    expect(resting()).toBe('a')
    clock.now += 50
    expect(resting()).toBe('')
  })

  it('is tried by somebody else after a trial that failed', () => {
    const { clock, calls, resting } = setup()
    calls('aab', failed())
    clock.now += 10_000
    calls('a', failed())
    clock.now += 9_999
    expect(resting()).toBe('abc')
    clock.now += 1
    expect(resting()).toBe('a')
    clock.now += 10_000
    expect(resting()).toBe('')
  })

  it('of one account is tried by it again, of others first by another end user', () => {
    const { clock, health, calls } = setup()
    calls('aaa', failed())
    clock.now += 10_000
    calls('a', failed())
    clock.now += 10_000
    expect(health.rest(of('a'))).toBeUndefined()
    const fail = (endUser: string): void => {
      const target = of('a', endUser)
      health.begin(target)
      health.report(target, failed())
    }
    fail('eve')
    clock.now += 10_000
    expect([health.rest(of('a', 'eve')), health.rest(of('a', 'ada'))]).toMatchObject([{ why: 'unhealthy' }, undefined])
  })

  it('rests no longer because it is called meanwhile, as a model of its own is', () => {
    const { clock, calls, resting } = setup()
    calls('aab', failed())
    clock.now += 9_999
    calls('aaa', failed())
    expect(resting()).toBe('abc')
    clock.now += 1
    expect(resting()).toBe('')
  })

  it('also rests for all after checks of an operator that fail', () => {
    const { health, resting } = setup()
    for (let i = 0; i < 3; i++) health.checked(provider, failed())
    expect(resting()).toBe('abc')
  })
})

describe('threat 200: a model that is limited, or fails with a Retry-After,', () => {
  it.each([
    ['429', failed({ status: 429, retryAfter: 60 })],
    ['524', failed({ status: 524, retryAfter: 60 })],
  ])('rests for its caller, and for all where a second one meets it (%s)', (_, error) => {
    const { calls, resting } = setup()
    calls('aa', error)
    expect(resting()).toBe('a')
    calls('b', error)
    expect(resting()).toBe('abc')
  })

  it('rests no longer because its caller asks meanwhile, for whom it rests', () => {
    const { clock, calls, resting } = setup()
    const limited = failed({ status: 429, retryAfter: 60 })
    calls('ab', limited)
    clock.now += 59_999
    calls('a', limited)
    expect(resting()).toBe('abc')
    clock.now += 1
    expect(resting()).toBe('')
  })

  it('rests anew for its caller once that is over', () => {
    const { clock, calls, resting } = setup()
    calls('ab', failed({ status: 429, retryAfter: 60 }))
    clock.now += 60_000
    calls('a', failed({ status: 429, retryAfter: 60 }))
    expect(resting()).toBe('a')
  })
})
