import { expect, it } from 'vitest'
import { consoleSuite, PASSWORD, pagesOf, signIn } from './console.js'

consoleSuite(
  'the account at the console',
  (given) => {
    it('shows who is signed in, and the limits of the plan', async () => {
      const { page, open, inspect, person } = given()
      await open('/account', 'Account')
      await page.getByRole('definition').getByText(person.email).waitFor()
      await page.getByText('2.0 GB, of which 0 B are used').waitFor()
      await page.getByText('any number').waitFor()
      await page.getByRole('definition').getByText('3', { exact: true }).waitFor()
      await inspect('console-account')
    })

    it('changes the role as far as an administrator lets the user, and with it the pages', async () => {
      const { page, person, admin, inspect } = given()
      const hasKeys = async (): Promise<boolean> => (await pagesOf(given())).includes('My keys')
      const up = page.getByRole('button', { name: 'Become a developer' })
      await page.getByText('An administrator can make you a developer').waitFor()
      expect([await hasKeys(), await up.count()]).toEqual([false, 0])
      await admin.client.patch('/api/users/{id}', { params: { id: person.id }, body: { role: 'developer' } })
      await page.reload()
      await page.getByText('20, with 600 requests per minute each').waitFor()
      await page.getByText('refused until you are a developer again').waitFor()
      await expect.poll(hasKeys).toBe(true)
      await inspect('console-account-developer')
      await page.getByRole('button', { name: 'Become a user' }).press('Enter')
      await up.waitFor()
      await expect.poll(hasKeys).toBe(false)
      expect(await person.client.get('/api/account')).toMatchObject({ role: 'user', granted_role: 'developer' })
      await up.press('Enter')
      await up.waitFor({ state: 'detached' })
      await expect.poll(hasKeys).toBe(true)
      expect((await person.client.get('/api/account')).role).toBe('developer')
    })

    it('makes a token for a program, shows it once, and revokes it after a question', async () => {
      const { page, server, person, inspect, said } = given()
      const statusOf = async (token: string): Promise<number> =>
        (await fetch(`${server.url}/api/tasks`, { headers: { authorization: `Bearer ${token}` } })).status
      await page.getByText('No token yet').waitFor()
      await page.getByLabel('A request with a token').getByText('/api/tasks -H "Authorization: Bearer tpt-…"').waitFor()
      await inspect('console-tokens-empty')
      await page.keyboard.press('n')
      const making = page.getByRole('dialog', { name: 'New token' })
      await making.getByLabel('Name').fill('my <b>worker</b>')
      await making.getByLabel('Name').press('Enter')
      await making.getByText('Choose at least one scope.').waitFor()
      await making.getByLabel('Tasks and results').selectOption('Read and change')
      await making.getByLabel('Models').selectOption('List and ask')
      await making.getByLabel('End').fill('2020-01-31T08:00')
      await making.getByRole('button', { name: 'Create token' }).click()
      await page.locator('[name=expiresAt]:focus').fill('2030-01-31T08:00')
      await inspect('console-new-token')
      await making.getByRole('button', { name: 'Create token' }).click()
      await said('shown this once')
      const token = (await page.getByLabel('The token').textContent())!
      await page.locator('.notice').getByRole('button', { name: 'Copy' }).first().click()
      await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(token)
      expect(await person.client.get('/api/tokens')).toMatchObject([
        {
          name: 'my <b>worker</b>',
          scopes: ['tasks:write', 'gateway:write'],
          expires_at: new Date('2030-01-31T08:00').toISOString(),
        },
      ])
      expect(await statusOf(token)).toBe(200)
      await inspect('console-token-made')
      await page.getByRole('button', { name: 'I have copied it' }).click()
      await page.getByLabel('The token').waitFor({ state: 'detached' })
      expect(await page.content()).not.toContain(token)

      await page.getByRole('row', { name: 'tasks:write, gateway:write' }).getByRole('button').press('Enter')
      await page.getByRole('button', { name: 'Revoke' }).press('Enter')
      await inspect('console-revoke-token')
      const question = page.getByRole('dialog', { name: 'Revoke the token?' })
      await question.getByRole('button', { name: 'Cancel' }).press('Enter')
      expect(await statusOf(token)).toBe(200)
      await page.getByRole('button', { name: 'Revoke' }).press('Enter')
      await question.getByRole('button', { name: 'Revoke' }).press('Enter')
      await said('my <b>worker</b> is revoked.')
      await page.getByText('No token yet').waitFor()
      expect(await statusOf(token)).toBe(401)
    })

    it('changes the password, and signs out everywhere else', async () => {
      const { page, person, inspect } = given()
      const send = async (current: string): Promise<void> => {
        await page.getByLabel('Current password').fill(current)
        await page.getByLabel('New password').fill('battery staple')
        await page.getByRole('button', { name: 'Change password' }).click()
      }
      await send('a wrong password')
      await page.getByText('The current password is wrong').waitFor()
      await inspect('console-account-password')
      await send(PASSWORD)
      await page.getByText('Changed. You are signed in here only.').waitFor()
      expect(await page.getByLabel('New password').inputValue()).toBe('')
      await expect(person.client.get('/api/account')).rejects.toMatchObject({ status: 401 })
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
      await person.client.signIn({ email: person.email, password: 'battery staple' })
    })

    it('shows the sign-ins, and ends one', async () => {
      const { page, person, inspect } = given()
      await person.client.get('/api/account')
      await page.reload()
      const rows = page.getByRole('table', { name: 'Sign-ins' }).getByRole('row')
      await rows
        .filter({ hasText: 'this one' })
        .getByText(/^Chrome on /)
        .waitFor()
      const other = rows.filter({ hasText: 'node' })
      await other.getByText('127.0.0.1').waitFor()
      await inspect('console-sign-ins')
      expect(await page.getByRole('button', { name: 'End', exact: true }).count()).toBe(1)
      await other.getByRole('button', { name: 'End' }).press('Enter')
      await other.waitFor({ state: 'detached' })
      await expect(person.client.get('/api/account')).rejects.toMatchObject({ status: 401 })
      await person.client.signIn({ email: person.email, password: 'battery staple' })
    })

    it('signs out everywhere else', async () => {
      const { page, person } = given()
      await page.getByRole('button', { name: 'Sign out elsewhere' }).click()
      await page.getByText('You are signed in here only.').waitFor()
      await expect(person.client.get('/api/account')).rejects.toMatchObject({ status: 401 })
      await page.reload()
      await page.getByRole('heading', { level: 1, name: 'Account' }).waitFor()
    })

    it('deletes the account after a confirmation', async () => {
      const { page, inspect, person, admin } = given()
      const user = () => admin.client.get('/api/users/{id}', { params: { id: person.id } })
      await page.getByRole('button', { name: 'Delete account' }).click()
      await inspect('console-delete-account')
      const confirm = page.getByRole('dialog', { name: 'Delete your account?' })
      await confirm.getByRole('button', { name: 'Cancel' }).click()
      expect((await user()).deleted_at).toBeNull()
      await page.getByRole('button', { name: 'Delete account' }).click()
      await confirm.getByRole('button', { name: 'Delete account' }).click()
      await page.getByRole('heading', { level: 1, name: 'Sign in' }).waitFor()
      expect((await user()).deleted_at).not.toBeNull()
      await signIn(given(), person.email, 'battery staple')
      await page.getByRole('alert').waitFor()
      await inspect('console-deleted')
    })
  },
  { role: 'user', env: { PLAN_STORAGE_GB: '2', PLAN_PROJECTS: '3' } },
)
