import { createClient } from '@turnpike/client'
import { expect, it } from 'vitest'
import { consoleSuite, PASSWORD } from './console.js'

const NEW_PASSWORD = 'battery staple'

consoleSuite(
  'users at the console',
  (given) => {
    /** The e-mail of somebody whom the page makes; another one for each look. */
    const email = (): string => `new-${given().person.id}@example.org`
    const users = async (deleted: 'true' | 'false' = 'false') =>
      (await given().admin.client.get('/api/users', { query: { email: email(), deleted } })) as {
        id: string
        role: string
      }[]
    const openUser = (): Promise<void> => given().page.getByRole('button', { name: email() }).press('Enter')

    it('makes one, and says why it cannot', async () => {
      const { page, open, inspect, server } = given()
      await open('/admin/users', 'Users')
      await page.getByRole('button', { name: given().person.email, exact: true }).waitFor()
      await inspect('console-users')
      await page.getByRole('button', { name: 'New user' }).click()
      await page.locator('dialog [name=email]:focus').waitFor()
      await page.keyboard.type(given().person.email)
      await page.getByRole('button', { name: 'Create user' }).click()
      await page.getByRole('dialog').getByRole('alert').getByText('taken').waitFor()
      await inspect('console-new-user')
      await page.getByLabel('E-mail', { exact: true }).fill(email())
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByLabel('First name').fill('<b>Grace</b>')
      await page.getByRole('button', { name: 'Create user' }).click()
      await given().said(`${email()} can use Turnpike now.`)
      expect(await users()).toMatchObject([{ role: 'user', first_name: '<b>Grace</b>' }])
      await page.getByRole('row', { name: email() }).getByRole('cell', { name: '<b>Grace</b>' }).waitFor()
      const signedIn = await fetch(`${server.url}/api/auth`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: email(), password: PASSWORD }),
      })
      expect(signedIn.status).toBe(200)
    })

    it('finds one by e-mail', async () => {
      const { page, inspect } = given()
      await page.getByLabel('E-mail to find').fill('nobody@example.org')
      await page.keyboard.press('Enter')
      await page.getByText('Nobody has the e-mail nobody@example.org').waitFor()
      await inspect('console-users-none')
      await page.getByLabel('E-mail to find').fill(email().toUpperCase())
      await page.keyboard.press('Enter')
      await page.getByText('1 user', { exact: true }).waitFor()
      await page.getByRole('button', { name: email() }).waitFor()
    })

    it('sets a password', async () => {
      const { page, server } = given()
      await openUser()
      const dialog = page.getByRole('dialog', { name: email() })
      await dialog.getByText('Password', { exact: true }).click()
      await dialog.getByLabel('New password').fill(NEW_PASSWORD)
      await dialog.getByRole('button', { name: 'Set password' }).click()
      await dialog.getByText('Set. They are signed out everywhere.').waitFor()
      await createClient({ baseUrl: server.url }).signIn({ email: email(), password: NEW_PASSWORD })
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    })

    it('shows the sign-ins of one, and ends them all', async () => {
      const { page, server, inspect } = given()
      const client = createClient({ baseUrl: server.url })
      await client.signIn({ email: email(), password: NEW_PASSWORD })
      await openUser()
      const dialog = page.getByRole('dialog', { name: email() })
      await dialog.locator('summary', { hasText: 'Sign-ins' }).click()
      await dialog.getByRole('row', { name: '127.0.0.1' }).first().waitFor()
      await inspect('console-user-sign-ins')
      await dialog.getByRole('button', { name: 'End all sign-ins' }).press('Enter')
      await page
        .getByRole('dialog', { name: 'End all sign-ins?' })
        .getByRole('button', { name: 'End all sign-ins' })
        .press('Enter')
      await dialog.getByText('Nowhere signed in').waitFor()
      await expect(client.get('/api/account')).rejects.toMatchObject({ status: 401 })
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    })

    it('changes the role and the names', async () => {
      const { page } = given()
      await openUser()
      const dialog = page.getByRole('dialog', { name: email() })
      await dialog.getByLabel('Role').selectOption('developer')
      await dialog.getByLabel('Last name').fill('Hopper')
      await dialog.getByRole('button', { name: 'Save', exact: true }).click()
      await dialog.getByText('Saved.').waitFor()
      expect(await users()).toMatchObject([{ role: 'developer', last_name: 'Hopper', first_name: '<b>Grace</b>' }])
      expect(await dialog.getByLabel('Role').inputValue()).toBe('developer')
    })

    it('shows what was granted to somebody who stepped down, and takes it back', async () => {
      const { page, server } = given()
      const client = createClient({ baseUrl: server.url })
      await client.signIn({ email: email(), password: NEW_PASSWORD })
      const take = (role: 'user' | 'developer') => client.patch('/api/account/role', { body: { role } })
      await take('user')
      await page.keyboard.press('Escape')
      await page.locator('dialog').waitFor({ state: 'detached' })
      await openUser()
      const dialog = page.getByRole('dialog', { name: email() })
      await dialog.getByText('Is user now, by their own choice.').waitFor()
      expect(await dialog.getByLabel('Role').inputValue()).toBe('developer')
      const save = async (): Promise<void> => {
        await dialog.getByRole('button', { name: 'Save', exact: true }).click()
        await dialog.getByText('Saved.').waitFor()
      }
      await dialog.getByLabel('Last name').fill('Murray Hopper')
      await save()
      expect(await users()).toMatchObject([{ role: 'user', granted_role: 'developer', last_name: 'Murray Hopper' }])
      await dialog.getByLabel('Role').selectOption('user')
      await save()
      await expect(take('developer')).rejects.toMatchObject({ status: 403 })
      expect((await users())[0]).not.toHaveProperty('granted_role')
    })

    it('adds to the balance and sets it', async () => {
      const { page, inspect, admin } = given()
      const [user] = await users()
      const balance = () => admin.client.get('/api/users/{id}/balance', { params: { id: user!.id } })
      const dialog = page.getByRole('dialog', { name: email() })
      const change = async (by: 'Add' | 'Set', fields: Record<string, string>): Promise<void> => {
        await dialog.getByRole('group', { name: 'What to do' }).getByRole('button', { name: by }).click()
        for (const [name, value] of Object.entries(fields)) await dialog.getByLabel(name).fill(value)
        await dialog.locator('button.primary', { hasText: new RegExp(`^${by}$`) }).click()
      }
      await change('Set', { Credits: '100', 'Extra projects': '2' })
      await dialog.getByText('100 = 100,000 tokens').waitFor()
      await change('Add', { Credits: '-30', 'Extra GB': '1' })
      await dialog.getByText('70 = 70,000 tokens').waitFor()
      expect(await balance()).toMatchObject({ credit_coins: 70, storage_gb: 1, extra_projects: 2, extra_agents: 0 })
      expect(await dialog.getByLabel('Credits').inputValue()).toBe('')
      await inspect('console-user')
      await change('Add', { 'Extra GB': '-5' })
      await dialog.getByRole('alert').getByText('more than there is to take off').waitFor()
      expect(await balance()).toMatchObject({ storage_gb: 1 })
    })

    it('deletes one after a confirmation, and restores them', async () => {
      const { page, inspect } = given()
      const dialog = page.getByRole('dialog', { name: email() })
      await dialog.getByRole('button', { name: 'Delete user' }).press('Enter')
      await inspect('console-delete-user')
      await page
        .getByRole('dialog', { name: 'Delete the user?' })
        .getByRole('button', { name: 'Delete user' })
        .press('Enter')
      await given().said('is deleted')
      expect([(await users()).length, (await users('true')).length]).toEqual([0, 1])
      await page.getByRole('button', { name: 'Deleted', exact: true }).click()
      await openUser()
      await dialog.getByText('70 = 70,000 tokens').waitFor()
      await inspect('console-deleted-user')
      await dialog.getByRole('button', { name: 'Restore' }).press('Enter')
      await given().said('is restored')
      expect([(await users()).length, (await users('true')).length]).toEqual([1, 0])
      await page.getByRole('button', { name: 'Show all' }).click()
      await page.getByText('Nobody is deleted').waitFor()
    })

    it('erases one who is deleted, after a question that names what is lost', async () => {
      const { page, admin, inspect } = given()
      const [user] = await users()
      const params = { id: user!.id }
      await admin.client.delete('/api/users/{id}', { params })
      await page.reload()
      await page.getByRole('button', { name: 'Deleted', exact: true }).click()
      await openUser()
      const dialog = page.getByRole('dialog', { name: email() })
      await dialog.getByRole('button', { name: 'Erase' }).press('Enter')
      const question = page.getByRole('dialog', { name: 'Erase the user for good?' })
      await question.getByText('projects with tasks, results and conversations, and all files').waitFor()
      await inspect('console-erase-user')
      await question.getByRole('button', { name: 'Cancel' }).press('Enter')
      expect(await users('true')).toHaveLength(1)
      await dialog.getByRole('button', { name: 'Erase' }).press('Enter')
      await question.getByRole('button', { name: 'Erase' }).press('Enter')
      await given().said('The user is erased.')
      expect(await users('true')).toEqual([])
      await expect(admin.client.get('/api/users/{id}', { params })).rejects.toMatchObject({ status: 404 })
    })
  },
  { role: 'admin' },
)
