import { expect, it } from 'vitest'
import { keptToken } from './kept-token.js'

/** A token that is asked for by hand, and a clock. */
function setUp() {
  const calls: { resolve(seconds: number): void; reject(error: Error): void }[] = []
  const clock = { ms: 0 }
  const token = keptToken(
    () =>
      new Promise((resolve, reject) => {
        const name = `token-${calls.length + 1}`
        calls.push({ resolve: (seconds) => resolve({ token: name, seconds }), reject })
      }),
    () => clock.ms,
  )
  return { calls, clock, token }
}

it('is kept until a minute before its end', async () => {
  const { calls, clock, token } = setUp()
  const first = token()
  calls[0]!.resolve(3600)
  expect(await first).toBe('token-1')
  clock.ms = 3_539_999
  // Without a promise: nothing is waited for.
  expect(token()).toBe('token-1')
  clock.ms = 3_540_000
  const second = token()
  calls[1]!.resolve(3600)
  expect(await second).toBe('token-2')
  expect(calls).toHaveLength(2)
})

it('is asked for once, however many need it', async () => {
  const { calls, token } = setUp()
  const all = Array.from({ length: 100 }, token)
  expect(calls).toHaveLength(1)
  calls[0]!.resolve(3600)
  expect(new Set(await Promise.all(all))).toEqual(new Set(['token-1']))
})

it('is asked for again after a failure, which all have that waited', async () => {
  const { calls, token } = setUp()
  const all = [token(), token()]
  calls[0]!.reject(new Error('Not now'))
  for (const one of all) await expect(one).rejects.toThrow('Not now')
  const next = token()
  expect(calls).toHaveLength(2)
  calls[1]!.resolve(3600)
  expect(await next).toBe('token-2')
})

it('is asked for again where a call does not end', async () => {
  const { calls, clock, token } = setUp()
  void token()
  clock.ms = 9_999
  void token()
  expect(calls).toHaveLength(1)
  clock.ms = 10_000
  const next = token()
  expect(calls).toHaveLength(2)
  calls[1]!.resolve(3600)
  expect(await next).toBe('token-2')
})
