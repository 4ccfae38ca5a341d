import { afterAll, describe, expect, it } from 'vitest'
import type { Issuer } from '../support/issuer.js'
import { signInAt, startIssuer } from '../support/issuer.js'
import { accountOf, BASE_URL, begin, comeBack, cookiesOf, failed, settingsOf, signInBy } from './sso.js'
import { worldSuite } from './world.js'

const issuer = await startIssuer({ baseUrl: BASE_URL })
const other = await startIssuer({ baseUrl: BASE_URL, id: 'other' })
afterAll(() => Promise.all([issuer.close(), other.close()]))
const domains = ['example.com']
const env = {
  BASE_URL,
  SIGN_UP: 'invited',
  TRUSTED_HOPS: '1',
  SIGN_IN: JSON.stringify([settingsOf(issuer, { domains }), settingsOf(other, { id: 'other', domains })]),
}

let people = 0
function newcomer(at: Issuer = issuer, more: object = {}): string {
  const sub = `person-${++people}-${crypto.randomUUID().slice(0, 8)}`
  at.accounts.set(sub, { email: `${sub}@example.com`, email_verified: true, ...more })
  return sub
}

worldSuite(
  'sign-ins at providers',
  (world) => {
    /** Somebody who comes back from the issuer, before the platform has seen it. */
    const onTheWay = async (at: Issuer = issuer, provider = 'oidc') => {
      const begun = await begin(world(), {}, { provider })
      return { back: await signInAt(at, begun.body.url, newcomer(at)), cookie: cookiesOf(begun), begun }
    }

    describe('threat 126: login CSRF', () => {
      it('does not end in another browser than it has begun in', async () => {
        const attacker = await onTheWay()
        // The victim has a cookie of the own, has none, or one that is none.
        const victim = cookiesOf(await begin(world()))
        for (const cookie of [victim, '', '__Host-begun=x'])
          expect(await comeBack(world(), attacker.back, cookie)).toMatchObject(failed('over'))
        // It was not used up by that.
        expect((await comeBack(world(), attacker.back, attacker.cookie)).session).toBeDefined()
      })

      it('does not begin by a page of another site', async () => {
        for (const headers of [
          { 'sec-fetch-site': 'cross-site' },
          { 'sec-fetch-site': 'same-site' },
          { 'sec-fetch-site': '', origin: 'https://evil.example' },
        ])
          expect((await begin(world(), {}, { headers })).status).toBe(403)
      })

      it('has a cookie that only this host gets, for ten minutes', async () => {
        const { headers } = await begin(world())
        expect(headers.getSetCookie()).toEqual([
          expect.stringMatching(/^__Host-begun=[\w-]{43}; Max-Age=600; Path=\/; Secure; HttpOnly; SameSite=Lax$/),
        ])
      })
    })

    describe('threat 127: mix-up of issuers', () => {
      it('does not take what one issuer answers for what another does', async () => {
        const { back, cookie } = await onTheWay()
        back.pathname = '/api/auth/callback/other'
        expect(await comeBack(world(), back, cookie)).toMatchObject(failed('over'))
      })

      it('checks the iss of the answer (RFC 9207)', async () => {
        for (const iss of [other.url, `${issuer.url}/`, '']) {
          const { back, cookie } = await onTheWay()
          expect(back.searchParams.get('iss')).toBe(issuer.url)
          back.searchParams.set('iss', iss)
          expect(await comeBack(world(), back, cookie)).toMatchObject(failed('provider'))
        }
      })

      it('tells people of two issuers apart who are called the same', async () => {
        const sub = newcomer()
        other.accounts.set(sub, { email: 'other-of-two@example.com', email_verified: true })
        const one = await signInBy(world(), issuer, sub)
        const begun = await begin(world(), {}, { provider: 'other' })
        const two = await comeBack(world(), await signInAt(other, begun.body.url, sub), cookiesOf(begun))
        const ids = await Promise.all(
          [one, two].map(async ({ session }) => (await accountOf(world(), session)).body.id),
        )
        expect(new Set(ids).size).toBe(2)
      })
    })

    it('threat 128: a code that was stolen from somebody else', async () => {
      const victim = await onTheWay()
      const begun = await begin(world())
      const state = new URL(begun.body.url).searchParams.get('state')!
      victim.back.searchParams.set('state', state)
      issuer.errors.length = 0
      expect(await comeBack(world(), victim.back, cookiesOf(begun))).toMatchObject(failed('provider'))
      // By PKCE, at the issuer; what it is then believed by is the nonce (oidc.test.ts).
      expect(issuer.errors).toEqual(['invalid_grant'])
    })

    describe('threat 129: open redirect of the return path', () => {
      it.each([
        'https://evil.example',
        '//evil.example',
        '/\\evil.example',
        '/\t/evil.example',
        '/\n/evil.example',
        'evil.example',
        'javascript:alert(1)',
        '@evil.example',
        '',
        `/${'x'.repeat(1_000)}`,
      ])('%j is refused', async (returnTo) => {
        expect((await begin(world(), { returnTo })).status).toBe(400)
      })

      it.each(['/console#/projects/1?tab=board', '/', '/a/..//evil.example', '/?to=https://evil.example'])(
        '%j stays here',
        async (returnTo) => {
          const { to } = await signInBy(world(), issuer, newcomer(), { returnTo })
          expect(new URL(to!).origin).toBe(BASE_URL)
        },
      )
    })

    describe('threat 130: a state that is used again', () => {
      it('is over once it was used', async () => {
        const { back, cookie } = await onTheWay()
        expect((await comeBack(world(), back, cookie)).session).toBeDefined()
        expect(await comeBack(world(), back, cookie)).toMatchObject(failed('over'))
      })

      it('is used by one of those that come at the same time', async () => {
        const { back, cookie } = await onTheWay()
        issuer.errors.length = 0
        // Both have read what was begun before one of them removes it.
        await world().call('gather', 'begun-sign-in', 2)
        const ends = await Promise.all([comeBack(world(), back, cookie), comeBack(world(), back, cookie)])
        await world().call('gather')
        expect(ends.filter(({ session }) => session !== undefined)).toHaveLength(1)
        // The issuer was asked by that one only.
        expect([ends.filter(({ to }) => to?.endsWith('=over')).length, issuer.errors]).toEqual([1, []])
      })
    })

    it('threat 131: a host of the request in redirect_uri', async () => {
      const headers = { host: 'evil.example', 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' }
      const begun = await begin(world(), {}, { headers })
      const asked = new URL(begun.body.url).searchParams.get('redirect_uri')
      expect([begun.status, asked]).toEqual([200, `${BASE_URL}/api/auth/callback/oidc`])
      const back = await signInAt(issuer, begun.body.url, newcomer())
      expect((await comeBack(world(), back, cookiesOf(begun), headers)).to).toBe(`${BASE_URL}/console`)
    })

    it('threat 132: e-mails that are tried at an issuer which does not verify them', async () => {
      const { email } = await world().person()
      const tried = [email, `nobody-${email}`].map((email) => newcomer(issuer, { email, email_verified: false }))
      const ends = [await signInBy(world(), issuer, tried[0]!), await signInBy(world(), issuer, tried[1]!)]
      expect(ends[0]).toEqual(ends[1])
      expect(ends[0]).toMatchObject(failed('unverified'))
    })

    it('threat 133: a session that was planted before the sign-in', async () => {
      const planted = await world().signedIn('user', true)
      const { back, cookie } = await onTheWay()
      const { session } = await comeBack(world(), back, `${cookie}; ${planted.cookie}`)
      expect([session === undefined, session === planted.cookie]).toEqual([false, false])
      const [mine, theirs] = [await accountOf(world(), session), await accountOf(world(), planted.cookie)]
      expect([mine.status, mine.body.id === planted.id, theirs.body.id]).toEqual([200, false, planted.id])
    })

    it('threat 134: an account that is taken by its e-mail, which the issuer has not verified', async () => {
      const { email } = await world().person('admin')
      for (const claims of [{ email_verified: false }, { email_verified: undefined }, { email_verified: 'no' }]) {
        const sub = newcomer(issuer, { email, ...claims })
        expect(await signInBy(world(), issuer, sub)).toMatchObject(failed('unverified'))
      }
    })

    it('threat 134: an account whose e-mail somebody else has got at the issuer', async () => {
      const { email } = await world().person()
      expect(await signInBy(world(), issuer, newcomer(issuer, { email }))).not.toMatchObject(failed('not-allowed'))
      expect(await signInBy(world(), issuer, newcomer(issuer, { email }))).toMatchObject(failed('not-allowed'))
    })

    it('threat 135: what an issuer answers, in the page or in the log', async () => {
      const { back, cookie } = await onTheWay()
      const code = back.searchParams.get('code')!
      back.searchParams.set('iss', 'https://evil.example/<script>')
      await world().call('errors')
      const { to, text } = await comeBack(world(), back, cookie)
      const errors = await world().call<[string, object][]>('errors')
      expect(errors).toEqual([['SignInError: The sign-in provider oidc: OAUTH_INVALID_RESPONSE', { provider: 'oidc' }]])
      const told = JSON.stringify([to, text, errors])
      for (const secret of [code, issuer.clientSecret, 'evil.example', cookie]) expect(told).not.toContain(secret)
    })

    it('refuses an address from which too many are begun', async () => {
      const ask = async (ip: string) => (await begin(world(), {}, { headers: { 'x-forwarded-for': ip } })).status
      await world().call('stopClock', true)
      const statuses = []
      for (let i = 0; i < 121; i++) statuses.push(await ask('192.0.2.77'))
      expect(statuses).toEqual([...Array<number>(120).fill(200), 429])
      expect(await ask('192.0.2.78')).toBe(200)
      await world().call('stopClock', false)
    })
  },
  env,
)

worldSuite(
  'sign-ins at providers of a platform without TLS',
  (world) => {
    it('has a plain cookie over plain HTTP', async () => {
      expect((await begin(world())).headers.getSetCookie()[0]).toMatch(
        /^begun=[\w-]{43}; Max-Age=600; Path=\/; HttpOnly;/,
      )
    })
  },
  { ...env, BASE_URL: 'http://ai.example' },
)
