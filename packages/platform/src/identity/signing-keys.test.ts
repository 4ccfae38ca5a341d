import type { KV } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { accessTokens } from './access-tokens.js'
import { masterSecrets } from './secrets.js'
import type { SigningKeys } from './signing-keys.js'
import { signingKeys } from './signing-keys.js'

const START = Date.UTC(2026, 0, 2)
const MINUTE = 60_000

async function setUp() {
  const kv = await memoryKV()
  const clock = { now: START }
  const open = (secrets: string | string[] = [], of: KV = kv): SigningKeys =>
    signingKeys(of, () => masterSecrets(kv, [secrets].flat()), { tokenS: 900, now: () => clock.now })
  const tokensOf = (keys: SigningKeys) =>
    accessTokens(keys, { issuer: 'i', audience: 'a', seconds: 900, now: () => clock.now })
  return { kv, clock, open, tokensOf }
}

const claims = { sub: 'ada', sid: 's', role: 'user' }

describe('signing keys', () => {
  it('are made once, by however many processes begin at the same time', async () => {
    const { open } = await setUp()
    const kids = await Promise.all(Array.from({ length: 5 }, async () => (await open().active()).kid))
    expect(new Set(kids).size).toBe(1)
    const { keys } = await open().jwks()
    expect(keys).toHaveLength(2)
    expect(keys.map(({ kid }) => kid)).toContain(kids[0])
  })

  it('are in the store without a readable private part', async () => {
    const { kv, open } = await setUp()
    const { key } = await open('a secret of at least 32 characters').active()
    const { d } = await crypto.subtle.exportKey('jwk', key as never).catch(() => ({ d: undefined }))
    const stored = JSON.stringify((await kv.get(['signing-keys']))!.value)
    expect(stored).toContain('sealed')
    expect(stored).not.toMatch(/"d":/)
    if (d !== undefined) expect(stored).not.toContain(d)
    // A given secret is not stored.
    expect(await kv.get(['session-secret'])).toBeNull()
  })

  it('are made anew where the secret has changed, so that all tokens end', async () => {
    const { open, tokensOf } = await setUp()
    const before = tokensOf(open('a secret of at least 32 characters'))
    const { token } = await before.sign(claims)
    const after = tokensOf(open('b secret of at least 32 characters'))
    const again = await after.sign(claims)
    expect(await after.verify(token)).toBeNull()
    expect(await after.verify(again.token)).toMatchObject({ sub: 'ada', sid: 's' })
  })

  it('are kept where the secret was replaced by way of a list, whose last one can be dropped then', async () => {
    const { open, tokensOf } = await setUp()
    const [one, other] = ['a secret of at least 32 characters', 'b secret of at least 32 characters']
    const { token } = await tokensOf(open(one)).sign(claims)
    const kids = new Set<string>()
    for (const secrets of [[one, other], [other, one], [other]]) {
      const keys = open(secrets)
      expect(await tokensOf(keys).verify(token)).toMatchObject({ sub: 'ada' })
      kids.add((await keys.active()).kid)
    }
    expect(kids.size).toBe(1)
    // Each step can be taken while processes of the one before it run.
    expect((await open([one, other]).active()).kid).toBe([...kids][0])
  })

  it('rotate once the next key has been published for ten minutes', async () => {
    const { clock, open } = await setUp()
    const [one, other] = [open(), open()]
    const first = (await one.active()).kid
    expect(await one.rotate()).toBe(false)
    clock.now += 10 * MINUTE
    expect(await one.rotate(11 * MINUTE)).toBe(false)
    const next = (await other.jwks()).keys.map(({ kid }) => kid).find((kid) => kid !== first)
    expect(await one.rotate()).toBe(true)
    expect((await one.active()).kid).toBe(next)
    expect((await one.jwks()).keys).toHaveLength(3)
    // Parallel rotations count once.
    clock.now += 10 * MINUTE
    expect((await Promise.all([one.rotate(), other.rotate()])).toSorted()).toEqual([false, true])
    clock.now += 20 * MINUTE
    await one.rotate()
    // Those that retired more than their tokens' life ago are gone.
    expect((await one.jwks()).keys.map(({ kid }) => kid)).not.toContain(first)
  })

  it('of another process verify at once, and sign within a minute', async () => {
    const { clock, open, tokensOf } = await setUp()
    const [one, other] = [open(), open()]
    await other.active()
    clock.now += 10 * MINUTE
    await one.rotate()
    const { token } = await tokensOf(one).sign(claims)
    expect(await tokensOf(other).verify(token)).not.toBeNull()
    clock.now += MINUTE
    expect((await other.active()).kid).toBe((await one.active()).kid)
  })

  it('are not read from the store for each token, nor for each made-up id', async () => {
    const { kv, clock, open, tokensOf } = await setUp()
    let reads = 0
    const keys = open(undefined, { ...kv, get: (key) => (reads++, kv.get(key)) })
    const tokens = tokensOf(keys)
    const { token } = await tokens.sign(claims)
    const first = reads
    for (let i = 0; i < 20; i++) expect(await tokens.verify(token)).not.toBeNull()
    expect(reads).toBe(first)
    for (let i = 0; i < 20; i++) await keys.find(`made-up-${i}`)
    clock.now += 500
    await keys.find('made-up')
    expect(reads - first).toBeLessThanOrEqual(1)
  })
})

describe('an access token', () => {
  it('is good until it expires', async () => {
    const { clock, open, tokensOf } = await setUp()
    const tokens = tokensOf(open())
    const { token, exp } = await tokens.sign(claims)
    expect(exp).toBe(START / 1_000 + 900)
    clock.now += 899_999
    expect(await tokens.verify(token)).toEqual({ sub: 'ada', sid: 's', exp })
    clock.now += 1
    expect(await tokens.verify(token)).toBeNull()
  })

  it('is not good where it was made more than a minute from now', async () => {
    const { clock, open, tokensOf } = await setUp()
    const tokens = tokensOf(open())
    const { token } = await tokens.sign(claims)
    clock.now -= MINUTE
    expect(await tokens.verify(token)).not.toBeNull()
    clock.now -= 1_000
    expect(await tokens.verify(token)).toBeNull()
  })

  it('is not refused because the store fails', async () => {
    const { kv, open, tokensOf } = await setUp()
    const { token } = await tokensOf(open()).sign(claims)
    const { StorageError } = await import('@turnpike/core')
    const broken = tokensOf(open(undefined, { ...kv, get: () => Promise.reject(new StorageError('Gone', 'none')) }))
    await expect(broken.verify(token)).rejects.toThrow('Gone')
  })
})
