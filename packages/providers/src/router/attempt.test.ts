import type { Provider, Target, UpstreamFailure } from '@turnpike/core'
import { ApiError, UpstreamError } from '@turnpike/core'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { AttemptOptions } from './attempt.js'
import { attempt } from './attempt.js'
import { Health } from './health.js'

const target = (id: string): Target => ({
  provider: { id, models: async () => [] } satisfies Provider,
  model: 'm',
  price: undefined,
  catalogue: '',
})
const failed = (fields: Partial<UpstreamFailure> = {}): UpstreamError =>
  new UpstreamError('failed', { provider: 'p', kind: 'status', accepted: false, ...fields })
const refused = () => failed({ kind: 'unavailable' })
const limited = (retryAfter?: number) => failed({ status: 429, retryAfter })

interface Setup extends AttemptOptions {
  signal?: AbortSignal
  health?: Health
}

/** Runs a call whose targets fail with the scripted errors, in order, and then succeed. */
function run(script: Record<string, unknown[]>, { signal, health, ...options }: Setup = {}) {
  const asked: string[] = []
  const targets = Object.keys(script).map(target)
  const promise = attempt(
    targets,
    signal ?? new AbortController().signal,
    async ({ provider: { id } }) => {
      asked.push(id)
      const error = script[id]!.shift()
      if (error) throw error
      return `by ${id}`
    },
    health ?? new Health({}),
    { retries: 1, ...options },
  )
  promise.catch(() => undefined)
  return { asked, targets, promise }
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.spyOn(Math, 'random').mockReturnValue(0)
})
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const statuses = [400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 529]
const kinds = ['status', 'unavailable', 'timeout', 'truncated', 'malformed'] as const
const failures: UpstreamFailure[] = kinds.flatMap((kind) =>
  (kind === 'status' ? statuses : [undefined]).flatMap((status) =>
    [false, true].flatMap((accepted) =>
      [undefined, true].map((credential) => ({ provider: 'p', kind, status, accepted, credential })),
    ),
  ),
)
/** The failures that lead to a failover although the credential was accepted, if the request was not. */
const moving = ['unavailable undefined', 'status 429', 'status 503', 'status 529']

describe('failover', () => {
  it.each(failures)('happens or not, after %o', async (fields) => {
    const error = failed(fields)
    const { asked, promise } = run({ a: [error], b: [] })
    const moves = !fields.accepted && (fields.credential === true || moving.includes(`${fields.kind} ${fields.status}`))
    if (moves) expect(await promise).toMatchObject({ value: 'by b', target: { provider: { id: 'b' } }, attempts: 2 })
    else await expect(promise).rejects.toBe(error)
    expect(asked).toEqual(moves ? ['a', 'b'] : ['a'])
  })

  it.each([
    ['an error for the caller', new ApiError(400, 'invalid_request_error', 'No', { code: 'invalid_body' })],
    ['an error of our own', new TypeError('x is undefined')],
    ['no error at all', 'text'],
  ])('does not happen after %s', async (_, error) => {
    const { asked, promise } = run({ a: [error], b: [] })
    await expect(promise).rejects.toBe(error)
    expect(asked).toEqual(['a'])
  })

  it('follows the order of the targets, until one accepts', async () => {
    const { asked, promise, targets } = run({ a: [refused()], b: [failed({ status: 503 })], c: [], d: [] })
    expect(await promise).toEqual({ value: 'by c', target: targets[2], attempts: 3 })
    expect(asked).toEqual(['a', 'b', 'c'])
  })

  it('never follows one that may have accepted', async () => {
    const accepted = failed({ kind: 'timeout', accepted: true })
    const { asked, promise } = run({ a: [refused()], b: [accepted], c: [] })
    await expect(promise).rejects.toBe(accepted)
    expect(asked).toEqual(['a', 'b'])
  })
})

describe('a refusal', () => {
  const refusal = (refused: UpstreamFailure['refused'], fields: Partial<UpstreamFailure> = {}) =>
    failed({ status: 400, caller: true, refused, ...fields })
  const unsupported = new ApiError(400, 'invalid_request_error', 'No', { code: 'unsupported_parameter' })

  it.each([refusal('model'), refusal('length'), refusal('parameter'), unsupported])(
    'leads to the next target, and to no retry: %o',
    async (error) => {
      const { asked, promise } = run({ a: [error], b: [] })
      expect(await promise).toMatchObject({ value: 'by b', attempts: 2 })
      const alone = run({ a: [error] }, { retries: 3 })
      await expect(alone.promise).rejects.toBe(error)
      expect([asked, alone.asked]).toEqual([['a', 'b'], ['a']])
    },
  )

  it('of what may have been accepted leads nowhere', async () => {
    const error = refusal('model', { accepted: true })
    const { asked, promise } = run({ a: [error], b: [] })
    await expect(promise).rejects.toBe(error)
    expect(asked).toEqual(['a'])
  })

  it.each([['model', ['x', 'y', 'z']] as const, ['length', ['x', 'z']] as const, ['parameter', ['x', 'z']] as const])(
    'of a %s asks %j of two keys of one provider and another provider',
    async (refused, expected) => {
      const asked: string[] = []
      const targets = [target('a'), target('a'), target('b')]
      const names = new Map(targets.map((one, i) => [one, 'xyz'[i]!]))
      const call = (one: Target) => {
        asked.push(names.get(one)!)
        return names.get(one) === 'z' ? Promise.resolve('z') : Promise.reject(refusal(refused))
      }
      expect(await attempt(targets, new AbortController().signal, call, new Health({}), {})).toMatchObject({
        value: 'z',
      })
      expect(asked).toEqual(expected)
    },
  )

  it('that comes first is thrown unless another failure passes', async () => {
    const first = refusal('length')
    const none = run({ a: [first], b: [refusal('model')], c: [failed({ status: 401, credential: true })] })
    await expect(none.promise).rejects.toBe(first)
    const busy = limited()
    const passing = run({ a: [first], b: [busy] }, { retries: 0 })
    await expect(passing.promise).rejects.toBe(busy)
  })
})

describe('further statuses', () => {
  it.each([500, 520])('lead to the next target and to no retry: %i', async (status) => {
    const options = { failoverStatuses: [500, 520], retries: 2 }
    expect(await run({ a: [failed({ status })], b: [] }, options).promise).toMatchObject({ value: 'by b' })
    const error = failed({ status })
    const alone = run({ a: [error] }, options)
    await expect(alone.promise).rejects.toBe(error)
    const begun = run({ a: [failed({ status, accepted: true })], b: [] }, options)
    await expect(begun.promise).rejects.toMatchObject({ failure: { accepted: true } })
    expect([alone.asked, begun.asked]).toEqual([['a'], ['a']])
  })
})

describe('retries', () => {
  it('come after all targets, and the first error is thrown', async () => {
    const errors = [refused(), limited(), refused(), limited()]
    const { asked, promise } = run({ a: [errors[0], errors[2]], b: [errors[1], errors[3]] })
    await vi.advanceTimersByTimeAsync(249)
    expect(asked).toEqual(['a', 'b'])
    await vi.advanceTimersByTimeAsync(1)
    expect(asked).toEqual(['a', 'b', 'a', 'b'])
    await expect(promise).rejects.toBe(errors[0])
  })

  it.each([0, 1, 3, 1.5])('are at most %d', async (retries) => {
    const { asked, promise } = run({ a: Array.from({ length: 10 }, refused) }, { retries })
    await vi.advanceTimersByTimeAsync(10_000)
    await expect(promise).rejects.toMatchObject({ failure: { kind: 'unavailable' } })
    expect(asked).toHaveLength(1 + Math.ceil(retries))
  })

  it('have delays that double, with up to half more at random', async () => {
    vi.spyOn(Math, 'random').mockReturnValue(0.96)
    const { asked, promise } = run({ a: [refused(), refused()] }, { retries: 2 })
    await vi.advanceTimersByTimeAsync(369)
    expect(asked).toHaveLength(1)
    await vi.advanceTimersByTimeAsync(1)
    expect(asked).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(739)
    expect(asked).toHaveLength(2)
    await vi.advanceTimersByTimeAsync(1)
    expect(await promise).toMatchObject({ attempts: 3 })
  })

  it('are not delayed longer than the limit', async () => {
    const { promise } = run({ a: [refused(), refused(), refused()] }, { retries: 3, maxWaitMs: 100 })
    await vi.advanceTimersByTimeAsync(300)
    expect(await promise).toMatchObject({ attempts: 4 })
  })

  it.each([1, 2])('wait for a Retry-After of %i seconds', async (seconds) => {
    const { asked, promise } = run({ a: [limited(seconds)] })
    await vi.advanceTimersByTimeAsync(seconds * 1000 - 1)
    expect(asked).toEqual(['a'])
    await vi.advanceTimersByTimeAsync(1)
    expect(await promise).toMatchObject({ attempts: 2 })
  })

  it('wait for the longest Retry-After', async () => {
    const { asked, promise } = run({ a: [limited(2)], b: [refused()] })
    await vi.advanceTimersByTimeAsync(1_999)
    expect(asked).toEqual(['a', 'b'])
    await vi.advanceTimersByTimeAsync(1)
    expect(await promise).toMatchObject({ value: 'by a', attempts: 3 })
  })

  it('do not happen where Retry-After exceeds the limit', async () => {
    const error = limited(3)
    const { asked, promise } = run({ a: [error] })
    await expect(promise).rejects.toBe(error)
    expect(asked).toEqual(['a'])
    const among = run({ a: [limited(3)], b: [limited(1)] })
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await among.promise).toMatchObject({ value: 'by b', attempts: 3 })
    expect(among.asked).toEqual(['a', 'b', 'b'])
  })

  it('exclude targets whose credential was refused', async () => {
    const error = failed({ status: 401, credential: true })
    const { asked, promise } = run({ a: [error] })
    await expect(promise).rejects.toBe(error)
    expect(asked).toEqual(['a'])
    const among = run({ a: [failed({ status: 403, credential: true })], b: [refused()] })
    await vi.advanceTimersByTimeAsync(250)
    expect(await among.promise).toMatchObject({ value: 'by b', attempts: 3 })
  })
})

describe('an aborted call', () => {
  const watched = () => {
    const controller = new AbortController()
    const added = vi.spyOn(controller.signal, 'addEventListener')
    const removed = vi.spyOn(controller.signal, 'removeEventListener')
    const listeners = () => added.mock.calls.length - new Set(removed.mock.calls.map(([, listener]) => listener)).size
    return { controller, listeners }
  }

  it('rejects with the reason during a delay, and leaves no timer', async () => {
    const { controller, listeners } = watched()
    const { asked, promise } = run({ a: [refused()] }, { signal: controller.signal })
    await vi.advanceTimersByTimeAsync(100)
    expect([vi.getTimerCount(), listeners()]).toEqual([1, 1])
    const reason = new Error('left')
    controller.abort(reason)
    await expect(promise).rejects.toBe(reason)
    expect([asked, listeners()]).toEqual([['a'], 0])
  })

  it('rejects with the reason before a delay', async () => {
    const controller = new AbortController()
    controller.abort('left')
    const { promise } = run({ a: [refused()] }, { signal: controller.signal })
    await expect(promise).rejects.toBe('left')
  })

  it('leaves no listener when it was not aborted', async () => {
    const { controller, listeners } = watched()
    const { promise } = run({ a: [refused()] }, { signal: controller.signal })
    await vi.advanceTimersByTimeAsync(250)
    await promise
    expect(listeners()).toBe(0)
  })
})

describe('the circuit breaker', () => {
  it('receives every failure, but not the success of an answer that is still read', async () => {
    const health = new Health({})
    const report = vi.spyOn(health, 'report')
    const { promise, targets } = run({ a: [refused()], b: [] }, { health })
    await promise
    expect(report.mock.calls).toEqual([[targets[0], expect.any(UpstreamError)]])
  })

  it('lets one of two concurrent requests probe a provider', async () => {
    const clock = { now: 0 }
    const health = new Health({ failures: 1, restMs: 10, now: () => clock.now })
    const [a, b] = [target('a'), target('b')]
    health.report(a, refused())
    clock.now = 10
    const signal = new AbortController().signal
    const asked = () => attempt([{ ...a }, { ...b }], signal, async ({ provider: { id } }) => id, health, {})
    const found = await Promise.all([asked(), asked(), asked()])
    expect(found.map(({ value }) => value)).toEqual(['a', 'b', 'b'])
    // Without an alternative, a provider is called in any state.
    const alone = await attempt([{ ...a }], signal, async ({ provider: { id } }) => id, health, {})
    expect(alone.value).toBe('a')
  })
})
