import type { KV } from '@turnpike/core'
import { createUser, deleteUser, memoryKV } from '@turnpike/core'
import type { Head } from '@turnpike/http'
import { describe, expect, it, vi } from 'vitest'
import type { PasswordAuthOptions } from './password-auth-options.js'
import type { PasswordAuth } from './password-auth.js'
import { passwordAuth } from './password-auth.js'
import type { PasswordHasher } from './passwords.js'
import { scryptHasher } from './passwords.js'

const PASSWORD = 'correct horse'
const hasher = scryptHasher({ ln: 4, r: 8, p: 1 })

const head = (headers: Record<string, string> = {}): Head => ({
  method: 'POST',
  header: (name) => headers[name],
  ip: () => '192.0.2.1',
  origin: () => 'https://app.example',
})
const withToken = (token: string): Head => head({ authorization: `Bearer ${token}` })

async function setUp(options: Partial<PasswordAuthOptions> = {}) {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const inner = await memoryKV({ now: () => clock.now })
  const calls = { reads: 0 }
  const kv: KV = {
    ...inner,
    get: (key) => (calls.reads++, inner.get(key)),
    getMany: (keys) => (calls.reads++, inner.getMany(keys)),
  }
  const open = (): PasswordAuth => passwordAuth({ kv, hasher, now: () => clock.now, ...options })
  const auth = open()
  const email = 'ada@example.org'
  await createUser(kv, { id: 'ada', email }, { also: [await auth.sessions.passwordEntry('ada', PASSWORD)] })
  const signIn = async (password = PASSWORD, as = email) => auth.sessions.signIn({ email: as, password }, head())
  return { clock, kv, calls, open, auth, signIn, email }
}

const refused = { status: 401 }

it('signs in again after a hash of the passwords of unknown e-mails has failed', async () => {
  const { signIn } = await setUp({
    hasher: {
      ...hasher,
      hash: vi.fn(hasher.hash).mockImplementationOnce(hasher.hash).mockRejectedValueOnce(new Error('No memory')),
    },
  })
  await expect(signIn()).rejects.toThrow('No memory')
  expect((await signIn()).session.user.id).toBe('ada')
})

it('threat 148: keeps places for administrators while others of a network set passwords', async () => {
  let running = 0
  const slow = { ...hasher, hash: (text: string) => (running++, new Promise<string>(() => text)) }
  const { sessions } = passwordAuth({ kv: await memoryKV(), hasher: slow, hashing: { running: 2, waiting: 32 } })
  const refusals: number[] = []
  const set = (from?: Head) =>
    void sessions
      .passwordEntry('ada', PASSWORD, {}, from)
      .catch(({ status }: { status: number }) => refusals.push(status))
  for (let i = 0; i < 100; i++) set(head())
  await vi.waitFor(() => expect(refusals.length).toBeGreaterThan(60))
  expect(new Set(refusals)).toEqual(new Set([429]))
  const before = refusals.length
  set()
  await new Promise((resolve) => setTimeout(resolve, 20))
  expect({ refused: refusals.length - before, running }).toEqual({ refused: 0, running: 2 })
})

describe('a verified token', () => {
  it('is not verified again for a few seconds, and never past its end', async () => {
    const { clock, calls, auth, signIn } = await setUp()
    const { access_token } = (await signIn()).session
    const ask = () => auth.authenticate(withToken(access_token))
    expect(await ask()).toMatchObject({ userId: 'ada', via: 'bearer' })
    const before = calls.reads
    for (let i = 0; i < 10; i++) await ask()
    expect(calls.reads).toBe(before)
    clock.now += 5_000
    await ask()
    expect(calls.reads).toBeGreaterThan(before)
    clock.now += 894_000
    await ask()
    clock.now += 1_000
    await expect(ask()).rejects.toMatchObject(refused)
  })

  it('ends at once where it is signed out, and within five seconds elsewhere', async () => {
    const { clock, auth, open, signIn } = await setUp()
    const { access_token } = (await signIn()).session
    const other = open()
    const [here, there] = [auth, other].map((one) => async () => one.authenticate(withToken(access_token))) as [
      () => Promise<unknown>,
      () => Promise<unknown>,
    ]
    await Promise.all([here(), there()])
    const from = withToken(access_token)
    await auth.sessions.signOut((await auth.authenticate(from))!, 'local', from)
    await expect(here()).rejects.toMatchObject(refused)
    clock.now += 5_000
    await expect(there()).rejects.toMatchObject(refused)
  })
})

it('threat 191: a session cookie that another process has replaced gets nothing that lasts', async () => {
  const { auth, open, email } = await setUp()
  const other = open()
  const { cookies } = await auth.sessions.signIn({ email, password: PASSWORD, cookie: true }, head())
  const withCookie = (cookie: string): Head =>
    head({ cookie: cookie.split(';', 1)[0]!, 'sec-fetch-site': 'same-origin' })
  const stolen = withCookie(cookies[0]!)
  const thief = (await other.authenticate(stolen))!
  const ada = (await auth.authenticate(stolen))!
  const [renewed] = await auth.sessions.changePassword(ada, { current: PASSWORD, password: 'another horse' }, stolen)
  // It is taken to be good for a few seconds.
  expect(await other.authenticate(stolen)).toBe(thief)
  await expect(other.sessions.current(thief, stolen)).rejects.toMatchObject(refused)
  expect(await other.sessions.renewCookie(thief)).toEqual([])
  const own = withCookie(renewed!)
  expect((await auth.sessions.current((await auth.authenticate(own))!, own)).session.user.id).toBe('ada')
})

describe('a password', () => {
  it('is compared with a hash for an unknown e-mail and for a user without one, too', async () => {
    const verified: string[] = []
    const counting: PasswordHasher = {
      ...hasher,
      verify: (password, hash) => (verified.push(hash), hasher.verify(password, hash)),
    }
    const { kv, signIn } = await setUp({ hasher: counting })
    await createUser(kv, { id: 'bob', email: 'bob@example.org' })
    for (const email of ['nobody@example.org', 'bob@example.org'])
      await expect(signIn(PASSWORD, email)).rejects.toMatchObject({ ...refused, message: 'Invalid email or password' })
    await expect(signIn('')).rejects.toMatchObject(refused)
    await signIn()
    expect(verified).toHaveLength(4)
    // The same work each time.
    expect(new Set(verified.map((hash) => hash.split('$')[2]))).toEqual(new Set(['ln=4,r=8,p=1']))
  })

  it('is hashed anew at a sign-in where the parameters have changed', async () => {
    const { kv, open, signIn, auth } = await setUp()
    await signIn()
    const stronger = passwordAuth({ kv, hasher: scryptHasher({ ln: 5, r: 8, p: 1 }) })
    await stronger.sessions.signIn({ email: 'ada@example.org', password: PASSWORD }, head())
    expect((await kv.get<{ hash: string }>(['password', 'ada']))!.value.hash).toContain('ln=5')
    await open().sessions.signIn({ email: 'ada@example.org', password: PASSWORD }, head())
    await expect(auth.sessions.passwordEntry('ada', 'short')).rejects.toMatchObject({ status: 400 })
  })

  it('that is hashed anew by two sign-ins at once is right for both', async () => {
    const { kv } = await setUp()
    const stronger = passwordAuth({ kv, hasher: scryptHasher({ ln: 5, r: 8, p: 1 }) })
    const input = { email: 'ada@example.org', password: PASSWORD }
    const both = await Promise.all([1, 2].map(() => stronger.sessions.signIn(input, head())))
    for (const { session } of both) expect(await stronger.authenticate(withToken(session.access_token))).not.toBeNull()
  })

  it('that is changed while its old hash is replaced signs nobody in', async () => {
    const { kv, auth } = await setUp()
    const changing = { ...scryptHasher({ ln: 5, r: 8, p: 1 }) }
    const { hash } = changing
    changing.hash = async (password) => {
      if (password === PASSWORD) await auth.sessions.setPassword('ada', 'another horse')
      return hash(password)
    }
    const racing = passwordAuth({ kv, hasher: changing })
    await expect(
      racing.sessions.signIn({ email: 'ada@example.org', password: PASSWORD }, head()),
    ).rejects.toMatchObject(refused)
  })

  it('that is changed ends all sign-ins, and those that the old one is about to begin', async () => {
    const { auth, signIn } = await setUp()
    const { access_token, refresh_token } = (await signIn()).session
    await auth.sessions.setPassword('ada', 'another horse')
    await expect(auth.authenticate(withToken(access_token))).rejects.toMatchObject(refused)
    await expect(auth.sessions.refresh(refresh_token, head())).rejects.toMatchObject(refused)
    await expect(signIn()).rejects.toMatchObject(refused)
    const racing = await Promise.allSettled([
      ...Array.from({ length: 4 }, () => signIn('another horse')),
      auth.sessions.setPassword('ada', 'a third horse'),
    ])
    for (const one of racing.slice(0, 4))
      if (one.status === 'fulfilled') {
        const { session } = one.value as Awaited<ReturnType<typeof signIn>>
        await expect(auth.authenticate(withToken(session.access_token))).rejects.toMatchObject(refused)
      }
  })

  it('is tried no more often than allowed, however many guesses come at once', async () => {
    let tried = 0
    const counting: PasswordHasher = { ...hasher, verify: (password, hash) => (tried++, hasher.verify(password, hash)) }
    const { signIn } = await setUp({ hasher: counting })
    const statuses = await Promise.all(
      Array.from({ length: 40 }, (_, i) => signIn(`guess ${i}`).catch((error: { status: number }) => error.status)),
    )
    expect(new Set(statuses)).toEqual(new Set([401, 429]))
    expect(tried).toBeLessThanOrEqual(7)
  })
})

describe('a sign-in', () => {
  it('is never one of a deleted user', async () => {
    for (let round = 0; round < 20; round++) {
      const { kv, auth, signIn } = await setUp()
      await createUser(kv, { role: 'admin' })
      const [session] = await Promise.all([
        signIn().then(
          (issued) => issued.session,
          () => null,
        ),
        new Promise((resolve) => setTimeout(resolve, round % 4)).then(() => deleteUser(kv, 'ada')),
      ])
      if (!session) continue
      await expect(auth.sessions.refresh(session.refresh_token, head())).rejects.toMatchObject(refused)
      await expect(auth.authenticate(withToken(session.access_token))).rejects.toMatchObject(refused)
    }
  })

  it('by cookie is prolonged when it is used, and its cookie set again', async () => {
    const { clock, auth } = await setUp()
    const issued = await auth.sessions.signIn({ email: 'ada@example.org', password: PASSWORD, cookie: true }, head())
    const cookie = issued.cookies[0]!.split(';', 1)[0]!
    const ask = async () => {
      const from = head({ cookie })
      return auth.sessions.current((await auth.authenticate(from))!, from)
    }
    expect((await ask()).cookies).toEqual([])
    for (let day = 0; day < 24; day += 6) {
      clock.now += 6 * 86_400_000
      expect((await ask()).cookies).toEqual(issued.cookies.slice(0, 1))
    }
    clock.now += 6 * 86_400_000
    await expect(ask()).rejects.toMatchObject(refused)
  })

  it('has a cookie without TLS only for a plain address that is not this machine', async () => {
    const cookiesOf = async (baseUrl: string): Promise<string[]> => {
      const { auth } = await setUp({ baseUrl })
      return (await auth.sessions.signIn({ email: 'ada@example.org', password: PASSWORD, cookie: true }, head()))
        .cookies
    }
    const matching = (session: RegExp, device: RegExp): unknown[] =>
      [session, device].map((pattern) => expect.stringMatching(pattern) as unknown)
    for (const url of ['https://x.example', 'http://localhost:8787', 'http://127.0.0.1', 'http://[::1]:1'])
      expect(await cookiesOf(url)).toEqual(matching(/^__Host-session=.*; Secure;/, /^__Host-device=.*; Secure;/))
    const plain = await cookiesOf('http://build.example:8787')
    expect(plain).toEqual(matching(/^session=(?!.*Secure)/, /^device=(?!.*Secure)/))
  })
})

it('a secret has at least 32 characters', async () => {
  const kv = await memoryKV()
  expect(() => passwordAuth({ kv, secret: 'short' })).toThrow('32')
})
