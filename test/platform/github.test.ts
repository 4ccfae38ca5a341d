import { afterAll, expect, it } from 'vitest'
import type { GithubAccount } from '../support/fake-github.js'
import { fakeGithub } from '../support/fake-github.js'
import { accountOf, BASE_URL, begin, comeBack, cookiesOf, failed } from './sso.js'
import { worldSuite } from './world.js'

const github = await fakeGithub(`${BASE_URL}/api/auth/callback/github`)
afterAll(() => github.close())

const { url, clientId, clientSecret } = github
const good = { url, clientId, clientSecret, domains: ['ai.example'] }
const env = {
  BASE_URL,
  SIGN_UP: 'invited',
  SIGN_IN: JSON.stringify([good, { ...good, id: 'wrong', clientSecret: 'another' }]),
}

let people = 0
const newAccount = (emails?: GithubAccount['emails']): GithubAccount => {
  const id = ++people
  return {
    id,
    name: 'Ada King Lovelace',
    emails: emails ?? [{ email: `gh-${id}@ai.example`, primary: true, verified: true }],
  }
}

worldSuite(
  'sign-in by GitHub',
  (world) => {
    const signIn = async (account: GithubAccount | null, provider = 'github') => {
      const begun = await begin(world(), {}, { provider })
      const start = begun.body.url.replace(
        encodeURIComponent('/callback/wrong'),
        encodeURIComponent('/callback/github'),
      )
      const back = github.authorize(start, account)
      return comeBack(world(), back.href.replace('/callback/github', `/callback/${provider}`), cookiesOf(begun))
    }

    it('makes an account by the primary e-mail, and finds it by the id', async () => {
      const account = newAccount([
        { email: 'private@elsewhere.example', primary: false, verified: true },
        { email: `gh-${people}@ai.example`, primary: true, verified: true },
      ])
      const { session } = await signIn(account)
      const { body } = await accountOf(world(), session)
      expect(body).toMatchObject({ email: account.emails[1]!.email, provider: 'github' })
      expect(body).toMatchObject({ first_name: 'Ada', last_name: 'King Lovelace' })
      const later = { ...account, name: null, emails: [] }
      expect((await accountOf(world(), (await signIn(later)).session)).body.id).toBe(body.id)
    })

    it('threat 134: an e-mail that is not verified, or not the primary one', async () => {
      const { email } = await world().person()
      for (const emails of [
        [{ email, primary: true, verified: false }],
        [
          { email, primary: false, verified: true },
          { email: 'x@elsewhere.example', primary: true, verified: false },
        ],
      ])
        expect(await signIn(newAccount(emails))).toMatchObject(failed('unverified'))
    })

    it('ends where the person cancels, and where GitHub refuses the code', async () => {
      expect(await signIn(null)).toMatchObject(failed('cancelled'))
      expect(await world().call('errors')).toEqual([])
      expect(await signIn(newAccount(), 'wrong')).toMatchObject(failed('provider'))
      expect(await world().call('errors')).toEqual([
        ['SignInError: The sign-in provider wrong: incorrect_client_credentials', { provider: 'wrong' }],
      ])
    })

    it('threat 128: a code of somebody else', async () => {
      const victim = await begin(world(), {}, { provider: 'github' })
      const stolen = github.authorize(victim.body.url, newAccount()).searchParams.get('code')!
      const attacker = await begin(world(), {}, { provider: 'github' })
      const back = new URL(`${BASE_URL}/api/auth/callback/github`)
      back.searchParams.set('state', new URL(attacker.body.url).searchParams.get('state')!)
      back.searchParams.set('code', stolen)
      expect(await comeBack(world(), back, cookiesOf(attacker))).toMatchObject(failed('provider'))
    })
  },
  env,
)
