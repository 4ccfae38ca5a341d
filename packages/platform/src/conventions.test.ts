import { createUser, memoryKV } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { PasswordHasher } from './index.js'
import { passwordAuth, scryptHasher } from './index.js'

const head = {
  method: 'POST',
  ip: () => '127.0.0.1',
  header: (name: string) => ({ 'sec-fetch-site': 'same-origin' })[name],
}

/** Takes no time, and as long as the test wants. */
function heldHasher() {
  const waiting: (() => void)[] = []
  const hasher: PasswordHasher = {
    hash: async () => 'hash',
    verify: () => new Promise((resolve) => waiting.push(() => resolve(false))),
    needsRehash: () => false,
  }
  return { hasher, waiting }
}

/** Values of docs/conventions.md that the tests over HTTP do not show. */
describe('the defaults', () => {
  it('hash passwords by scrypt, N = 2^15, r = 8, p = 3', async () => {
    const hash = await scryptHasher().hash('correct horse')
    expect(hash).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[\w+/]{22}\$[\w+/]{43}$/)
    expect(await scryptHasher().verify('correct horse', hash)).toBe(true)
    expect(scryptHasher({ ln: 15, r: 8, p: 1 }).needsRehash(hash)).toBe(true)
  })

  it('refuse passwords of more than 1,024 bytes, as they are hashed, with 400', async () => {
    const { sessions } = passwordAuth({ kv: await memoryKV() })
    // One character, and 33 bytes when normalised.
    const long = '\ufdfa'.repeat(32)
    const refusal = { status: 400, message: 'A password has at most 1024 bytes' }
    await expect(sessions.passwordEntry('ada', long)).rejects.toMatchObject(refusal)
    await expect(sessions.signIn({ email: 'ada@example.org', password: long }, head)).rejects.toMatchObject(refusal)
    await expect(sessions.passwordEntry('ada', '\ufdfa'.repeat(31))).resolves.toBeDefined()
  })

  it('hash two passwords at a time, let 32 wait, and refuse others with 503', async () => {
    const { hasher, waiting } = heldHasher()
    const { sessions } = passwordAuth({ kv: await memoryKV(), hasher, failures: { perEmail: 100, perAddress: 100 } })
    const statuses: number[] = []
    const all = Array.from({ length: 36 }, () =>
      sessions.signIn({ email: 'ada@example.org', password: 'any' }, head).catch((error: { status: number }) => {
        statuses.push(error.status)
      }),
    )
    await expect.poll(() => statuses).toEqual([503, 503])
    await expect.poll(() => waiting.length).toBe(2)
    for (let done = 0; done < 34; done++) {
      await expect.poll(() => waiting.length).toBeGreaterThan(0)
      waiting.shift()!()
    }
    await Promise.all(all)
    expect(statuses).toEqual([503, 503, ...Array<number>(34).fill(401)])
  })

  it.each([
    [undefined, /^__Host-session=[\w-]{43}; Max-Age=604800; Path=\/; Secure; HttpOnly; SameSite=Lax$/],
    ['https://ai.example', /^__Host-session=/],
    ['http://localhost:8787', /^__Host-session=/],
    ['http://127.0.0.1:8787', /^__Host-session=/],
    ['http://ai.example', /^session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Lax$/],
  ])('give a platform at %s its cookie', async (baseUrl, cookie) => {
    const kv = await memoryKV()
    const hasher: PasswordHasher = { hash: async () => 'hash', verify: async () => true, needsRehash: () => false }
    const { sessions } = passwordAuth({ kv, hasher, ...(baseUrl !== undefined && { baseUrl }) })
    const also = [await sessions.passwordEntry('ada', 'correct horse')]
    await createUser(kv, { id: 'ada', email: 'ada@example.org' }, { also })
    const input = { email: 'ada@example.org', password: 'correct horse', cookie: true }
    expect((await sessions.signIn(input, head)).cookies).toEqual([expect.stringMatching(cookie)])
  })
})
