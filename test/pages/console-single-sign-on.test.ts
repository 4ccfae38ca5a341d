import { afterAll, expect, it } from 'vitest'
import { freePort } from '../support/free-port.js'
import { startIssuer } from '../support/issuer.js'
import { startServer } from '../support/server.js'
import type { Given } from './console.js'
import { consoleSuite, pagesOf, signOut } from './console.js'

const PORT = String(await freePort())
const BASE_URL = `http://127.0.0.1:${PORT}`
const issuer = await startIssuer({ baseUrl: BASE_URL })
afterAll(() => issuer.close())
const env = {
  PORT,
  BASE_URL,
  OIDC_ISSUER: issuer.url,
  OIDC_CLIENT_ID: issuer.clientId,
  OIDC_CLIENT_SECRET: issuer.clientSecret,
  OIDC_NAME: 'Example ID',
  OIDC_DOMAINS: 'ai.example',
  OIDC_ROLE_CLAIM: 'groups',
  OIDC_ADMINS: 'operators',
  OIDC_SIGN_OUT: 'true',
}

let people = 0
/** Somebody at the issuer. */
function newcomer(more: object = {}): { sub: string; email: string } {
  const sub = `person-${++people}`
  const account = { email: `${sub}@ai.example`, email_verified: true, given_name: 'Ada', ...more }
  issuer.accounts.set(sub, account)
  return { sub, email: account.email }
}

const atSignIn = async ({ page }: Given): Promise<void> =>
  page.getByRole('heading', { level: 1, name: 'Sign in', exact: true }).waitFor()
const emailAt = ({ page }: Given): Promise<string> =>
  page.evaluate('fetch("./api/account").then((answer) => answer.json()).then(({ email }) => email)')

/** The requests to the issuer, which the page may make, are no faults. */
const forgive = ({ faults }: Given): void => {
  const others = faults.filter((fault) => fault !== `a request to ${issuer.url}`)
  faults.splice(0, faults.length, ...others)
}

/** Signs in at the issuer as a browser that is not known there. @param account null cancels */
async function continueAs(given: Given, account: string | null): Promise<void> {
  const { page, context } = given
  await context.clearCookies({ domain: '127.0.0.1', name: /^(_session|_interaction)/ })
  await page.getByRole('button', { name: 'Continue with Example ID' }).click()
  await page.getByRole('heading', { name: 'The issuer' }).waitFor()
  if (account === null) await page.getByRole('button', { name: 'Cancel' }).click()
  else {
    await page.getByLabel('Account').fill(account)
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  await page.waitForURL(`${BASE_URL}/console**`)
  forgive(given)
}

/** Signs out, at the issuer as well. */
async function leave(given: Given): Promise<void> {
  const { page } = given
  await signOut(given)
  await page.getByRole('button', { name: 'Sign out here' }).click()
  await page.waitForURL(`${BASE_URL}/console**`)
  await atSignIn(given)
  forgive(given)
}

consoleSuite(
  'single sign-on at the console',
  (given) => {
    it('offers the identity provider, and makes an account there', async () => {
      const { page, inspect } = given()
      await signOut(given())
      await atSignIn(given())
      await page.goto(`${BASE_URL}/console#/files`)
      await atSignIn(given())
      await inspect('console-sign-in-providers')
      const { sub, email } = newcomer()
      await continueAs(given(), sub)
      await page.getByRole('heading', { level: 1, name: 'Files' }).waitFor()
      expect(await emailAt(given())).toBe(email)
    })

    it('signs out there as well', async () => {
      const before = issuer.signedOut()
      await leave(given())
      expect(issuer.signedOut()).toBe(before + 1)
      expect(await emailAt(given())).toBeUndefined()
    })

    it('tells why somebody is not let in', async () => {
      const { page, inspect } = given()
      await continueAs(given(), null)
      await page.getByRole('alert').getByText('The sign-in was cancelled there.').waitFor()
      await continueAs(given(), newcomer({ email: 'ada@elsewhere.example' }).sub)
      await page.getByRole('alert').getByText('You are known there, but have no account here.').waitFor()
      await inspect('console-sign-in-refused')
      await continueAs(given(), newcomer({ email_verified: false }).sub)
      await page.getByRole('alert').getByText('has not told an e-mail that it has verified').waitFor()
      // Nothing of an address is shown but what is known.
      await page.goto(`${BASE_URL}/console#/?problem=Call+0900`)
      await page.reload()
      await atSignIn(given())
      expect(await page.getByRole('alert').count()).toBe(0)
    })

    it('accepts an invitation', async () => {
      const { page, admin, inspect } = given()
      const email = `guest-${++people}@elsewhere.example`
      const { url } = await admin.client.post('/api/invitations', { body: { email } })
      await page.goto(url!)
      await page.getByRole('heading', { level: 1, name: 'Accept the invitation' }).waitFor()
      await page.getByRole('button', { name: 'Continue with Example ID' }).waitFor()
      await inspect('console-invitation-providers')
      await continueAs(given(), newcomer({ email: 'private@elsewhere.example', email_verified: false }).sub)
      await page.locator('.shell').waitFor()
      expect(await emailAt(given())).toBe(email)
      await leave(given())
    })

    it('links somebody who has an account, and gives the role of the groups', async () => {
      const { page, newPerson } = given()
      const { email } = await newPerson()
      const { sub } = newcomer({ email, groups: ['operators'] })
      await continueAs(given(), sub)
      await page.locator('.shell').waitFor()
      expect([await emailAt(given()), (await pagesOf(given())).includes('Users')]).toEqual([email, true])
      await leave(given())
      Object.assign(issuer.accounts.get(sub)!, { groups: [] })
      await continueAs(given(), sub)
      await page.locator('.shell').waitFor()
      expect([await emailAt(given()), (await pagesOf(given())).includes('Users')]).toEqual([email, false])
      await leave(given())
    })
  },
  { role: 'user', env },
)

consoleSuite(
  'the console without passwords',
  (given) => {
    it('asks for none', async () => {
      const { page, server } = given()
      const without = await startServer({ ...env, PORT: String(await freePort()), PASSWORDS: 'off' })
      await page.goto(`${without.url}/console`)
      await page.getByRole('button', { name: 'Continue with Example ID' }).waitFor()
      expect([await page.getByLabel('Password').count(), server.url === without.url]).toEqual([0, false])
      await without.stop()
    })
  },
  { role: 'user' },
)
