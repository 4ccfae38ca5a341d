import { createClient } from '@turnpike/client'
import { afterAll, expect, it } from 'vitest'
import { freePort } from '../support/free-port.js'
import { linkIn, startSmtp } from '../support/smtp.js'
import type { Given } from './console.js'
import { consoleSuite, PASSWORD, signIn, signOut } from './console.js'

const NEW_PASSWORD = 'battery staple'

const smtp = await startSmtp({
  onRcptTo: ({ address }, _, done) => done(address.startsWith('full-') ? new Error('The mailbox is full') : null),
})
afterAll(() => smtp.close())
const PORT = String(await freePort())
const env = {
  PORT,
  BASE_URL: `http://127.0.0.1:${PORT}`,
  SMTP_URL: smtp.url,
  MAIL_FROM: 'Turnpike <no-reply@ai.example>',
  SIGN_UP: 'open',
}

const atHeading = ({ page }: Given, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor()
/** Who is signed in at the page. */
const emailAt = ({ page }: Given): Promise<string> =>
  page.evaluate('fetch("./api/account").then((answer) => answer.json()).then(({ email }) => email)')

consoleSuite(
  'the way in at the console',
  (given) => {
    let link: string

    it('sends a link to whoever has forgotten the password', async () => {
      const { page, person, inspect } = given()
      await signOut(given())
      await atHeading(given(), 'Sign in')
      await page.getByRole('link', { name: 'Sign up' }).waitFor()
      await inspect('console-sign-in-links')
      await page.getByRole('link', { name: 'Forgotten your password?' }).click()
      await atHeading(given(), 'Forgotten password')
      await inspect('console-forgotten')
      await page.getByLabel('E-mail').fill(person.email)
      await page.getByRole('button', { name: 'Send the link' }).press('Enter')
      await given().said('a link is on its way')
      await inspect('console-forgotten-sent')
      link = linkIn(await smtp.next(person.email))
    })

    it('sets a new password by it, and signs in', async () => {
      const { page, person, inspect } = given()
      await page.goto(link)
      await atHeading(given(), 'Set a new password')
      await page.getByText(person.email).waitFor()
      await inspect('console-link-password')
      // Nobody who sees the address, or goes back, has the token.
      expect(await page.evaluate('location.href')).toBe(`${env.BASE_URL}/console#/link`)
      await page.getByLabel('New password').fill(NEW_PASSWORD)
      await page.getByLabel('New password').press('Enter')
      await page.locator('.shell').waitFor()
      expect(await emailAt(given())).toBe(person.email)
      await expect(person.client.get('/api/account')).rejects.toMatchObject({ status: 401 })
      await page.goBack()
      expect(await page.evaluate('location.href')).not.toContain('token')
    })

    it('says that the link is over, also to whoever is signed in', async () => {
      const { page, inspect } = given()
      await page.goto(link)
      await page.getByRole('alert').getByText('This link is not valid, or not any more').waitFor()
      await inspect('console-link-over')
      await page.getByRole('link', { name: 'To the sign-in' }).click()
      await page.locator('.shell').waitFor()
    })

    it('makes an account for whoever signs up', async () => {
      const { page, person, inspect, admin } = given()
      const email = `up-${person.email}`
      await signOut(given())
      await page.getByRole('link', { name: 'Sign up' }).click()
      await atHeading(given(), 'Sign up')
      await inspect('console-sign-up')
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('E-mail').press('Enter')
      await given().said(`A message to ${email} is on its way`)
      await page.goto(linkIn(await smtp.next(email)))
      await atHeading(given(), 'Finish signing up')
      await page.locator('[name=firstName]:focus').fill('<b>Ada</b>')
      await page.getByLabel('Last name').fill('Lovelace')
      await page.getByLabel('Password').fill(PASSWORD)
      await inspect('console-link-account')
      await page.getByRole('button', { name: 'Make my account' }).click()
      await page.locator('.shell').waitFor()
      expect(await emailAt(given())).toBe(email)
      expect(await admin.client.get('/api/users', { query: { email } })).toMatchObject([
        { first_name: '<b>Ada</b>', last_name: 'Lovelace', role: 'user' },
      ])
      await signOut(given())
      await signIn(given(), person.email, NEW_PASSWORD)
      await page.locator('.shell').waitFor()
    })
  },
  { env },
)

consoleSuite(
  'invitations at the console',
  (given) => {
    const invite = async (email: string, fields: Record<string, string> = {}): Promise<void> => {
      const { page } = given()
      await page.getByRole('button', { name: 'Invite', exact: true }).click()
      const dialog = page.getByRole('dialog', { name: 'Invite' })
      await dialog.locator('[name=email]:focus').fill(email)
      if (Object.keys(fields).length > 0) await dialog.getByText('Credits and projects').click()
      for (const [name, value] of Object.entries(fields)) await dialog.getByLabel(name).fill(value)
      await dialog.getByLabel('Role').selectOption('developer')
      if (fields['Credits']) await given().inspect('console-invite')
      await dialog.getByRole('button', { name: 'Invite' }).press('Enter')
    }
    const show = (name: string): Promise<void> =>
      given().page.getByRole('group', { name: 'Shown' }).getByRole('button', { name, exact: true }).click()

    it('invites somebody by mail, and lists what is open', async () => {
      const { page, open, inspect, person, said, admin } = given()
      const email = `in-${person.email}`
      // Those of another look.
      for (const { id } of await admin.client.get('/api/invitations'))
        await admin.client.delete('/api/invitations/{id}', { params: { id } })
      await open('/admin/users', 'Users')
      await show('Invitations')
      await page.getByText('No invitation is open').waitFor()
      await inspect('console-invitations-empty')
      await invite(email, { Credits: '70', 'Extra projects': '2' })
      await said(`${email} is invited.`)
      await page.getByRole('row', { name: email }).getByText('sent', { exact: true }).waitFor()
      expect(await admin.client.get('/api/invitations')).toMatchObject([
        { email, role: 'developer', credit_coins: 70, extra_projects: 2, mail: 'sent' },
      ])
      await smtp.next(email)
    })

    it('shows the link where the mail is not accepted', async () => {
      const { page, inspect, person, said } = given()
      const email = `full-${person.email}`
      await invite(email)
      await said(`The message to ${email} was not sent`)
      await page.getByText('The mailbox is full').waitFor()
      const link = (await page.getByLabel('The link').textContent())!
      expect(link).toContain(`${env.BASE_URL}/console#/link?token=`)
      await page.getByRole('row', { name: email }).getByText('not sent').waitFor()
      await inspect('console-invitations')
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByLabel('The link').waitFor({ state: 'detached' })
      expect(await page.content()).not.toContain(link)
    })

    it('sends one again, and revokes it after a question', async () => {
      const { page, inspect, person, said, admin } = given()
      const email = `in-${person.email}`
      await page.getByRole('button', { name: email, exact: true }).press('Enter')
      const dialog = page.getByRole('dialog', { name: email })
      await inspect('console-invitation')
      await dialog.getByRole('button', { name: 'Create another link' }).press('Enter')
      await said(`${email} is invited.`)
      const link = linkIn(await smtp.next(email))
      await page.getByRole('button', { name: email, exact: true }).press('Enter')
      await dialog.getByRole('button', { name: 'Revoke' }).press('Enter')
      await page
        .getByRole('dialog', { name: 'Revoke the invitation?' })
        .getByRole('button', { name: 'Revoke' })
        .press('Enter')
      await said(`The invitation of ${email} is revoked.`)
      expect((await admin.client.get('/api/invitations')).map((one) => one.email)).not.toContain(email)
      const token = link.split('token=')[1]!
      const client = createClient({ baseUrl: env.BASE_URL })
      await expect(client.post('/api/auth/link', { body: { token } })).rejects.toMatchObject({ status: 404 })
    })

    it('sends a user a link for the password', async () => {
      const { page, newPerson, inspect } = given()
      const { email } = await newPerson()
      await show('Users')
      await page.getByRole('button', { name: email, exact: true }).press('Enter')
      const dialog = page.getByRole('dialog', { name: email })
      await dialog.getByText('Password', { exact: true }).click()
      await dialog.getByRole('button', { name: 'Send a link' }).click()
      await dialog.getByText('The link is sent.').waitFor()
      await inspect('console-password-link')
      expect(linkIn(await smtp.next(email))).toContain('#/link?token=')
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    })

    it('lets an invited person in, in place of who was signed in', async () => {
      const { page, person } = given()
      const email = `late-${person.email}`
      await invite(email)
      await page.goto(linkIn(await smtp.next(email)))
      await atHeading(given(), 'Accept the invitation')
      await page.locator('[name=firstName]:focus').waitFor()
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByLabel('Password').press('Enter')
      await page.locator('.shell').waitFor()
      expect(await emailAt(given())).toBe(email)
    })
  },
  { role: 'admin', env },
)
