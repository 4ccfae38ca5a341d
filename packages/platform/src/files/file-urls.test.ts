import { memoryKV } from '@turnpike/core'
import { expect, it } from 'vitest'
import { fileSigner } from './file-urls.js'

const [old, fresh] = ['the old secret, of 32 characters', 'the new secret, of 32 characters']
const START = Date.UTC(2026, 0, 1)

/** A signer of a store, with a clock that a test sets. */
async function setUp(secrets: string[] = [], kv = undefined as Awaited<ReturnType<typeof memoryKV>> | undefined) {
  const store = kv ?? (await memoryKV())
  const clock = { now: START }
  const signer = fileSigner(store, { secrets, seconds: 3_600, now: () => clock.now })
  const verify = (id: string, query: string, state = '') =>
    signer.verify(id, state, Object.fromEntries(new URLSearchParams(query)))
  return { kv: store, clock, signer, verify }
}

it('signs one URL for five minutes, which is valid for an hour at least', async () => {
  const { clock, signer, verify } = await setUp([fresh])
  const urls: string[] = []
  for (const ms of [1, 299_999, 300_000, 300_001]) {
    clock.now = START + ms
    urls.push(await signer.sign('a', ''))
  }
  expect(urls[1]).toBe(urls[0])
  expect(urls[2]).toBe(urls[0])
  expect(urls[3]).not.toBe(urls[0])
  for (const [ms, valid] of [
    [0, true],
    [3_899_999, true],
    [3_900_000, false],
  ] as const) {
    clock.now = START + ms
    expect(await verify('a', urls[0]!)).toBe(valid)
  }
  expect(await verify('b', urls[3]!)).toBe(false)
  expect(await verify('a', '')).toBe(false)
})

it('binds a URL to what it is given besides the id', async () => {
  const { signer, verify } = await setUp([fresh])
  const urls = {
    '': await signer.sign('a', ''),
    '1 ': await signer.sign('a', '1 '),
    '2 ': await signer.sign('a', '2 '),
  }
  for (const [signed, url] of Object.entries(urls))
    for (const state of Object.keys(urls))
      expect([signed, state, await verify('a', url, state)]).toEqual([signed, state, signed === state])
})

it('verifies what an older secret has signed, as long as it is given', async () => {
  const before = await (await setUp([old])).signer.sign('a', '')
  const rotated = await setUp([fresh, old])
  expect(await rotated.verify('a', before)).toBe(true)
  const after = await rotated.signer.sign('a', '')
  expect(after).not.toBe(before)
  expect(await (await setUp([fresh])).verify('a', after)).toBe(true)
  expect(await (await setUp([fresh])).verify('a', before)).toBe(false)
  expect(await (await setUp([old])).verify('a', after)).toBe(false)
})

it('makes a secret, and keeps it in the store for all processes', async () => {
  const one = await setUp()
  const url = await one.signer.sign('a', '')
  expect(await (await setUp([], one.kv)).verify('a', url)).toBe(true)
  expect(await (await setUp()).verify('a', url)).toBe(false)
})

it('tries again after the store has failed', async () => {
  const kv = await memoryKV()
  let fails = true
  const failing = {
    ...kv,
    get: <T>(key: readonly string[]) => (fails ? Promise.reject(new Error('down')) : kv.get<T>(key)),
  }
  const { signer } = await setUp([], failing)
  await expect(signer.sign('a', '')).rejects.toThrow('down')
  fails = false
  expect(await signer.sign('a', '')).toMatch(/^exp=\d+&sig=/)
})
