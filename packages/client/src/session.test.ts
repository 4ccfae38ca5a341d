import { describe, expect, it } from 'vitest'
import { failure, signedInClient, testClient } from '../../../test/support/client.js'
import { ADA } from '../../../test/support/platform.js'
import type { AuthSession, PlatformError, SessionStore } from './index.js'

/** A store, and what it has. */
function testStore(): SessionStore & { kept: AuthSession | null } {
  const store = {
    kept: null as AuthSession | null,
    get: () => store.kept,
    set: async (session: AuthSession | null) => void (store.kept = session),
  }
  return store
}

const refreshes = (sent: string[]) => sent.filter((request) => request === 'PUT /api/auth').length
const authorizationOf = (request: Request) => request.headers.get('authorization')

describe('a session', () => {
  it('begins with a sign-in and ends with a sign-out', async () => {
    const { turnpike, sent, signedOut } = await testClient()
    expect(await turnpike.refresh()).toBeNull()
    expect(sent).toEqual([])
    expect(await turnpike.signIn(ADA)).toMatchObject({ email: ADA.email, metadata: { role: 'developer' } })
    expect(await turnpike.get('/api/account')).toMatchObject({ email: ADA.email })
    expect(signedOut).toEqual([])
    await turnpike.signOut()
    expect(await failure(turnpike.get('/api/account'))).toMatchObject({ status: 401 })
  })

  it('is ended at the platform too, here or everywhere', async () => {
    const store = testStore()
    const { turnpike, newClient } = await signedInClient({ session: store })
    const { access_token: token } = store.kept!
    await turnpike.signOut()
    expect(store.kept).toBeNull()
    expect(await failure(newClient({ token }).get('/api/account'))).toMatchObject({ status: 401 })

    const others = [newClient({ session: testStore() }), newClient({ session: testStore() })]
    for (const each of [turnpike, ...others]) await each.signIn(ADA)
    await turnpike.signOut({ scope: 'others' })
    expect(store.kept).not.toBeNull()
    await turnpike.get('/api/account')
    for (const other of others) expect(await failure(other.get('/api/account'))).toMatchObject({ status: 401 })
    await others[0]!.signIn(ADA)
    await turnpike.signOut({ scope: 'global' })
    expect(await failure(others[0]!.get('/api/account'))).toMatchObject({ status: 401 })
  })

  it('can be signed out of when it is over already, but then others go on', async () => {
    const store = testStore()
    const { turnpike, pass } = await signedInClient({ session: store })
    pass(8 * 24 * 60)
    await turnpike.signOut()
    expect(store.kept).toBeNull()
    expect(await failure(turnpike.signOut({ scope: 'global' }))).toMatchObject({ status: 401 })
  })

  it('is refreshed once for all requests whose access token has expired', async () => {
    const { turnpike, pass, sent, signedOut } = await signedInClient()
    pass(16)
    const answers = await Promise.all(Array.from({ length: 20 }, () => turnpike.get('/api/account')))
    expect(answers.map(({ email }) => email)).toEqual(Array.from({ length: 20 }, () => ADA.email))
    expect([refreshes(sent), sent.length]).toEqual([1, 41])
    pass(16)
    await turnpike.get('/api/account')
    expect([refreshes(sent), signedOut]).toEqual([2, []])
  })

  it('is refreshed for generations and uploads as well, which were not processed', async () => {
    const { turnpike, pass, upstream, sent } = await signedInClient()
    const { id } = await turnpike.post('/api/projects', { body: { name: 'Website' } })
    pass(16)
    const messages = '/api/projects/{id}/conversation/messages'
    let text = ''
    for await (const { choices } of turnpike.stream(messages, { params: { id }, body: { text: 'Hi' } }))
      text += choices[0]?.delta.content ?? ''
    expect(text).not.toBe('')
    expect(upstream.requests).toHaveLength(1)
    pass(16)
    expect(await turnpike.upload(new Blob(['Hello']))).toMatchObject({ size_bytes: 5 })
    expect(refreshes(sent)).toBe(2)
  })

  it('is not refreshed where another client that shares it has done so', async () => {
    const store = testStore()
    const { newClient, platform, pass, sent } = await signedInClient({ session: store })
    const [one, other] = [
      newClient(),
      newClient({
        fetch: async (url, init) => {
          sent.push(`${init!.method} ${String(url).slice('https://app.example'.length)}`)
          const answer = await platform.fetch(new Request(url, init))
          // Between the refusal and what comes of it.
          if (answer.status === 401) await one.get('/api/account')
          return answer
        },
      }),
    ]
    pass(16)
    const before = store.kept
    expect(await other.get('/api/account')).toMatchObject({ email: ADA.email })
    expect(store.kept).not.toEqual(before)
    expect(refreshes(sent)).toBe(1)
  })

  it('survives a refresh whose answer is lost, and one that is refused for now', async () => {
    const { turnpike, platform, pass, faults, signedOut } = await signedInClient()
    const lost = new TypeError('fetch failed')
    for (const answer of [lost, Response.json({ error: 'Slowly' }, { status: 503 })]) {
      pass(16)
      let sent: Promise<Response> | undefined
      faults.push((request) => {
        if (request.method !== 'PUT') return undefined
        sent = platform.fetch(request)
        return answer
      })
      const error = await failure(turnpike.post('/api/projects', { body: { name: 'Website' } }))
      if (answer === lost) expect(error).toBe(lost)
      else expect(error).toMatchObject({ status: 503, message: 'Slowly' })
      expect((await sent!).status).toBe(200)
      faults.pop()
      expect(await turnpike.get('/api/account')).toMatchObject({ email: ADA.email })
    }
    expect(signedOut).toEqual([])
  })

  it('is refreshed once where that fails, too', async () => {
    const store = testStore()
    const { newClient, platform, pass } = await signedInClient({ session: store })
    pass(16)
    const broken = new TypeError('fetch failed')
    let refused = 0
    let tried = 0
    const turnpike = newClient({
      fetch: async (url, init) => {
        if (init?.method !== 'PUT') {
          const answer = await platform.fetch(new Request(url, init))
          refused++
          return answer
        }
        tried++
        await expect.poll(() => refused).toBe(3)
        throw broken
      },
    })
    const ask = () => failure(turnpike.post('/api/projects', { body: { name: 'Website' } }))
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([broken, broken, broken])
    expect([tried, store.kept]).toEqual([1, expect.anything()])
  })

  it('that is over is told once, until the next sign-in', async () => {
    const store = testStore()
    const { turnpike, pass, sent, signedOut } = await signedInClient({ session: store })
    for (const round of [1, 2]) {
      pass(8 * 24 * 60)
      const errors = await Promise.all(Array.from({ length: 10 }, () => failure(turnpike.get('/api/account'))))
      expect(errors.map((error) => (error as PlatformError).status)).toEqual(Array.from({ length: 10 }, () => 401))
      await failure(turnpike.get('/api/account'))
      expect([signedOut.length, store.kept, refreshes(sent)]).toEqual([round, null, round])
      await turnpike.signIn(ADA)
    }
  })

  it('does not come back by a refresh that was under way when it was signed out of', async () => {
    const store = testStore()
    const { newClient, platform } = await signedInClient({ session: store })
    let goOn!: () => void
    const signedOut = new Promise<void>((resolve) => (goOn = resolve))
    const turnpike = newClient({
      fetch: async (url, init) => {
        const answer = await platform.fetch(new Request(url, init))
        if (init?.method === 'DELETE') goOn()
        else {
          await signedOut
          // Long enough for all that follows a sign-out.
          await new Promise((resolve) => setTimeout(resolve, 20))
        }
        return answer
      },
    })
    await Promise.all([turnpike.refresh(), turnpike.signOut()])
    expect(store.kept).toBeNull()
  })

  it('is not waited for by a request that is aborted, and is refreshed all the same', async () => {
    const { turnpike, platform, pass, newClient } = await signedInClient({ session: testStore() })
    pass(16)
    const controller = new AbortController()
    const reason = new Error('No longer needed')
    let refreshed: Promise<Response> | undefined
    const other = newClient({
      fetch: async (url, init) => {
        const request = new Request(url, init)
        if (request.method === 'PUT') controller.abort(reason)
        const answer = platform.fetch(request)
        if (request.method === 'PUT') refreshed = answer
        return answer
      },
    })
    expect(await failure(other.get('/api/account', { signal: controller.signal }))).toBe(reason)
    expect((await refreshed!).status).toBe(200)
    await turnpike.get('/api/account')
  })

  it('is renewed once for a request that is refused again', async () => {
    const { turnpike, faults, sent } = await signedInClient()
    faults.push(({ method }) => (method === 'GET' ? Response.json({ error: 'No' }, { status: 401 }) : undefined))
    expect(await failure(turnpike.get('/api/account'))).toMatchObject({ status: 401, message: 'No' })
    expect(sent).toEqual(['GET /api/account', 'PUT /api/auth', 'GET /api/account'])
  })
})

describe('a token', () => {
  it('is sent as it is, and never renewed', async () => {
    const store = testStore()
    const { newClient, pass, sent, signedOut } = await signedInClient({ session: store })
    const turnpike = newClient({ token: store.kept!.access_token })
    await turnpike.get('/api/account')
    pass(16)
    expect(await failure(turnpike.get('/api/account'))).toMatchObject({ status: 401 })
    expect(await turnpike.refresh()).toBeNull()
    expect([sent.filter((request) => request !== 'GET /api/account'), signedOut.length]).toEqual([[], 1])
    expect(await failure(turnpike.signIn(ADA))).toEqual(new TypeError('A client with a token cannot sign in'))
  })

  it('can be another one for each request', async () => {
    const seen: (string | null)[] = []
    const { newClient, faults } = await testClient()
    faults.push((request) => (seen.push(authorizationOf(request)), Response.json({})))
    const turnpike = newClient({ token: async () => `token-${seen.length}` })
    for (let i = 0; i < 3; i++) await turnpike.get('/api/account')
    expect(seen).toEqual(['Bearer token-0', 'Bearer token-1', 'Bearer token-2'])
  })
})
