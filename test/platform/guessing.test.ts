import { createHash } from 'node:crypto'
import type { Key, KV } from '@turnpike/core'
import { createUser, deleteUser, gatewayKeys, memoryKV } from '@turnpike/core'
import { passwordAuth, scryptHasher } from '@turnpike/platform'
import { base64url } from 'jose'
import { describe, expect, it } from 'vitest'
import { PASSWORD, worldSuite } from './world.js'

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** A store that notes the keys that are read. */
async function watchedKV(): Promise<{ kv: KV; reads: Key[] }> {
  const kv = await memoryKV()
  const reads: Key[] = []
  const watched: KV = {
    ...kv,
    get: (key) => (reads.push(key), kv.get(key)),
    getMany: (keys) => (reads.push(...keys), kv.getMany(keys)),
  }
  return { kv: watched, reads }
}

describe('threat 6: timing attack on keys', () => {
  const head = (headers: Record<string, string> = {}) => ({
    method: 'GET',
    header: (name: string) => headers[name],
    ip: () => '',
    origin: () => 'https://app.example',
  })

  it('looks gateway keys up by their hash, so that no prefix of one is compared', async () => {
    const { kv, reads } = await watchedKV()
    await createUser(kv, { id: 'ada' })
    const keys = gatewayKeys(kv)
    const { key } = await keys.create('ada', { name: 'k' })
    for (const wrong of [`${key.slice(0, -1)}!`, `gw-!${key.slice(4)}`, 'gw-', `${key}x`]) {
      reads.length = 0
      expect(await keys.verify(wrong)).toBeNull()
      expect(reads).toEqual([['gwkey-hash', sha256(wrong)]])
    }
    expect(await keys.verify(key)).not.toBeNull()
  })

  it('looks cookies up by their hash', async () => {
    const { kv, reads } = await watchedKV()
    const { authenticate } = passwordAuth({ kv })
    for (const wrong of ['a', 'b'.repeat(43)]) {
      reads.length = 0
      await expect((async () => authenticate(head({ cookie: `__Host-session=${wrong}` })))()).rejects.toThrow()
      expect(reads).toEqual([['session-cookie', sha256(wrong)]])
    }
  })

  it('hashes once for every password, whether there is such a user or not', async () => {
    const kv = await memoryKV()
    const real = scryptHasher({ ln: 8, r: 8, p: 1 })
    const hashes: string[] = []
    const verify = (password: string, hash: string) => (hashes.push(hash), real.verify(password, hash))
    const { sessions } = passwordAuth({ kv, hasher: { ...real, verify } })
    const also = (id: string) => sessions.passwordEntry(id, PASSWORD).then((entry) => [entry])
    await createUser(kv, { id: 'ada', email: 'ada@x' }, { also: await also('ada') })
    await createUser(kv, { id: 'gone', email: 'gone@x' }, { also: await also('gone') })
    await deleteUser(kv, 'gone')
    await createUser(kv, { id: 'keyless', email: 'keyless@x' })
    for (const email of ['ada@x', 'gone@x', 'keyless@x', 'nobody@x']) {
      hashes.length = 0
      await expect(sessions.signIn({ email, password: 'a wrong password' }, head())).rejects.toThrow('Invalid email')
      expect([email, hashes]).toEqual([email, [expect.stringMatching(/^\$scrypt\$ln=8,r=8,p=1\$/)]])
    }
  })
})

describe('threat 25: race on failures', () => {
  it('evaluates few of 30 guesses that come at once', async () => {
    const kv = await memoryKV()
    const real = scryptHasher({ ln: 8, r: 8, p: 1 })
    let evaluated = 0
    const hasher = { ...real, verify: (password: string, hash: string) => (evaluated++, real.verify(password, hash)) }
    const { sessions } = passwordAuth({ kv, hasher })
    const also = [await sessions.passwordEntry('ada', PASSWORD)]
    await createUser(kv, { id: 'ada', email: 'ada@x' }, { also })
    const head = { method: 'POST', header: () => undefined, ip: () => '192.0.2.1', origin: () => 'https://app.example' }
    const guess = (password: string) => sessions.signIn({ email: 'ada@x', password }, head)
    // The right one comes last.
    const guesses = [...Array.from({ length: 29 }, (_, i) => `a wrong password ${i}`), PASSWORD]
    const results = await Promise.allSettled(guesses.map(guess))
    expect(results.map(({ status }) => status)).toEqual(Array(30).fill('rejected'))
    // Five are free, the sixth blocks, and one more may be running beside it.
    expect(evaluated).toBeLessThanOrEqual(7)
  })
})

worldSuite('guesses', (world) => {
  it('threat 7: gateway key brute force finds nothing in 256 bits', async () => {
    const as = await world().signedIn('developer')
    const made: string[] = []
    for (let i = 0; i < 8; i++)
      made.push((await world().ask<{ key: string }>('POST', '/api/keys', { as, body: { name: 'k' } })).body.key)
    const bytes = made.map((key) => base64url.decode(key.slice(3)))
    expect(bytes.map(({ length }) => length)).toEqual(Array(8).fill(32))
    // No byte is the same in all of them, as that of a time or a counter would be.
    const constant = Array.from({ length: 32 }, (_, i) => new Set(bytes.map((key) => key[i])).size === 1)
    expect(constant).not.toContain(true)
    const [key] = made as [string]
    const models = async (key: string) => (await world().ask('GET', '/v1/models', { as: key })).status
    for (let i = 0; i < key.length; i++) {
      const near = key.slice(0, i) + (key[i] === 'A' ? 'E' : 'A') + key.slice(i + 1)
      expect([near, await models(near)]).toEqual([near, 401])
    }
    expect(await models(key)).toBe(200)
  })

  it('threat 25: race on failures, 5 of 30 guesses at once are answered', async () => {
    const { email } = await world().person()
    await world().advance(60_000)
    const replies = await Promise.all(
      Array.from({ length: 30 }, () =>
        world().ask('POST', '/api/auth', { body: { email, password: 'a wrong password' } }),
      ),
    )
    const count = (status: number) => replies.filter((reply) => reply.status === status).length
    expect([count(401), count(429)]).toEqual([5, 25])
    await world().advance(60_000)
  })
})
