import { expect, it } from 'vitest'
import { consoleSuite } from './console.js'

/** What a server says of a chat: 200, or the code of its error. */
async function ask(url: string, key: string, fields: object = {}): Promise<number | string> {
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }], ...fields }),
  })
  const { error } = (await response.json()) as { error?: { code: string } }
  return error ? error.code : response.status
}

consoleSuite(
  'limits at the console',
  (given) => {
    let key = ''
    const asks = (fields?: object) => ask(given().server.url, key, fields)
    const drawer = (name: string) => given().page.getByRole('dialog', { name, exact: true })
    /** Presses a button until what it opens is there: a list or a form that is drawn anew at that moment loses the key. */
    const opens = (button: ReturnType<typeof drawer>, opened: ReturnType<typeof drawer>) =>
      expect
        .poll(
          async () => {
            if (!(await opened.isVisible())) await button.press('Enter')
            return opened.isVisible()
          },
          { interval: 200 },
        )
        .toBe(true)
    /** The bodies of what the page sends by a method while something is done. */
    const sent = async (method: string, act: () => Promise<void>): Promise<unknown[]> => {
      const bodies: unknown[] = []
      const note = (request: { method(): string; postDataJSON(): unknown }): void => {
        if (request.method() === method) bodies.push(request.postDataJSON())
      }
      given().page.on('request', note)
      await act()
      given().page.off('request', note)
      return bodies
    }

    it('sets a budget of a user, which holds, shows what is used of it, and clears it', async () => {
      const { page, open, inspect, newPerson } = given()
      const person = await newPerson('developer')
      const { key: theirs } = await person.client.post('/api/keys', { body: { name: 'theirs' } })
      const asksAs = () => ask(given().server.url, theirs!)
      await open('/admin/users', 'Users')
      await page.getByRole('button', { name: person.email }).press('Enter')
      const dialog = drawer(person.email)
      const save = async (): Promise<void> => {
        await dialog.getByRole('button', { name: 'Save limits' }).press('Enter')
        await dialog.getByText('The limits are changed.').waitFor()
      }
      await dialog.getByLabel('Budget in US dollars').fill('0.001')
      await dialog.getByLabel('The budget is for').selectOption('day')
      expect(await sent('PATCH', save)).toEqual([{ budget: { usd: 0.001, per: 'day' } }])
      await dialog.getByText('$0 of $0.001 used today').waitFor()
      expect(await asksAs()).toBe(200)
      expect(await asksAs()).toBe(200)
      await dialog.getByLabel('Budget in US dollars').fill('0.00001')
      await dialog.getByLabel('Tokens per minute').fill('100000')
      expect(await sent('PATCH', save)).toEqual([{ budget: { usd: 0.00001, per: 'day' }, tokenLimit: 100_000 }])
      await dialog.getByText(/^\$0\.0\d+ of \$0\.00001 used today$/).waitFor()
      await dialog.getByText('$0 left').waitFor()
      await inspect('console-user-limits')
      expect(await asksAs()).toBe('budget_exceeded')

      await dialog.getByLabel('Budget in US dollars').fill('')
      expect(await sent('PATCH', save)).toEqual([{ budget: null }])
      await dialog.getByText('used today').waitFor({ state: 'detached' })
      expect(await asksAs()).toBe(200)
      expect(await sent('PATCH', save)).toEqual([])
      await page.keyboard.press('Escape')
    })

    it('makes a key with all limits, and says beside the field what the server refuses', async () => {
      const { page, open, inspect, admin } = given()
      await open('/keys', 'Keys')
      await page.getByRole('button', { name: 'New key' }).press('Enter')
      const dialog = drawer('New key')
      await dialog.getByLabel('Name').fill('app')
      await dialog.getByText('Budget, models, end and more').click()
      await dialog.getByLabel('Models').fill('gpt-4o-mini,')
      await dialog.getByRole('button', { name: 'Remove gpt-4o-mini' }).waitFor()
      await dialog.getByLabel('Models').pressSequentially('gpt-4o,claude-sonnet-4-5')
      await dialog.getByLabel('Models').press('Enter')
      await dialog.getByRole('button', { name: 'Remove gpt-4o', exact: true }).press('Enter')
      await dialog.locator('[name=models]:focus').waitFor()
      await dialog.getByLabel('End', { exact: true }).fill('2020-01-31T08:00')
      await dialog.getByLabel('Tell end users apart').press('Space')
      await dialog.getByLabel('Requests per minute of each').fill('2')
      await dialog.getByText('Budget, models, end and more').click()
      await dialog.getByRole('button', { name: 'Create key' }).press('Enter')
      await dialog.locator('[name=expiresAt]:focus').waitFor()
      await dialog.getByText('Must be a time in the future').waitFor()
      expect(await dialog.getByLabel('End', { exact: true }).getAttribute('aria-invalid')).toBe('true')
      expect(await dialog.getByRole('alert').count()).toBe(0)
      await inspect('console-key-refused')
      await dialog.getByLabel('End', { exact: true }).fill('')
      await dialog.getByRole('button', { name: 'Create key' }).press('Enter')
      key = (await page.getByLabel('The key').textContent())!
      await page.getByRole('button', { name: 'I have copied it' }).click()
      const [made] = await admin.client.get('/api/keys')
      expect(made).toBeDefined()
    })

    it('changes a key, whose limits hold, and sends only what changed', async () => {
      const { page, inspect, person } = given()
      await page.getByRole('button', { name: 'app', exact: true }).press('Enter')
      const dialog = drawer('app')
      const save = async (): Promise<void> => {
        await dialog.getByRole('button', { name: 'Save' }).press('Enter')
        await dialog.getByText('Saved.').waitFor()
      }
      expect(await asks({ model: 'gpt-4o' })).toBe('forbidden')
      await dialog.getByLabel('Models').fill('gpt-4o')
      expect(await sent('PATCH', save)).toEqual([{ models: ['gpt-4o-mini', 'claude-sonnet-4-5', 'gpt-4o'] }])
      expect(await asks({ model: 'gpt-4o' })).toBe(200)
      await dialog.getByLabel('Budget in US dollars').fill('0.0001')
      await dialog.getByLabel('Requests per minute', { exact: true }).fill('30')
      expect(await sent('PATCH', save)).toEqual([{ rateLimit: 30, budget: { usd: 0.0001 } }])
      await dialog.getByText('$0 of $0.0001 used in all').waitFor()
      expect(await asks({ max_tokens: 1_000 })).toBe('budget_exceeded')
      await dialog.getByLabel('Budget in US dollars').fill('5')
      expect(await sent('PATCH', save)).toEqual([{ budget: { usd: 5 } }])
      expect(await asks()).toBe(200)
      expect(await sent('PATCH', save)).toEqual([])
      expect(await person.client.get('/api/keys')).toMatchObject([
        { name: 'app', rate_limit: 30, end_users: { rate_limit: 2 }, budget: { usd: 5 } },
      ])
      await dialog.getByLabel('Name').evaluate((field: { value: string }) => (field.value = ' '))
      await dialog.getByRole('button', { name: 'Save' }).press('Enter')
      await dialog.locator('[name=name]:focus').waitFor()
      await dialog.getByText('Must not be blank').waitFor()
      await dialog.getByLabel('Name').fill('app')
      await inspect('console-key')
    })

    it('lists end users, gives one limits of their own, which hold, and removes one', async () => {
      const { page, inspect } = given()
      for (const user of ['ada@example.org', 'a/b?c <i>d</i>']) expect(await asks({ user })).toBe(200)
      await page.keyboard.press('Escape')
      await drawer('app').waitFor({ state: 'detached' })
      await opens(page.getByRole('button', { name: 'app', exact: true }), drawer('app'))
      const list = drawer('app').getByRole('table', { name: 'End users' })
      await list.getByRole('button', { name: 'ada@example.org' }).press('Enter')
      const dialog = drawer('ada@example.org')
      await dialog.getByText('Empty: as the key says, 2.').waitFor()
      await dialog.getByLabel('Budget in US dollars').fill('0')
      await inspect('console-end-user')
      const save = async (): Promise<void> => {
        await dialog.getByRole('button', { name: 'Save' }).press('Enter')
        await dialog.getByText('Saved.').waitFor()
      }
      expect(await sent('PATCH', save)).toEqual([{ budget: { usd: 0 } }])
      expect([await asks({ user: 'ada@example.org' }), await asks({ user: 'a/b?c <i>d</i>' })]).toEqual([
        'budget_exceeded',
        200,
      ])
      expect(await asks({ user: 'a/b?c <i>d</i>' })).toBe('rate_limit_exceeded')
      await page.keyboard.press('Escape')
      await list.getByRole('row', { name: 'ada@example.org' }).getByText('of their own').waitFor()
      await inspect('console-end-users')
      await list.getByRole('button', { name: 'a/b?c <i>d</i>' }).press('Enter')
      await drawer('a/b?c <i>d</i>').getByRole('button', { name: 'Remove' }).press('Enter')
      await drawer('Remove the end user?').getByRole('button', { name: 'Remove' }).press('Enter')
      await list.getByRole('row', { name: 'a/b?c <i>d</i>' }).waitFor({ state: 'detached' })
      await page.keyboard.press('Escape')
      await drawer('app').waitFor({ state: 'detached' })
    })

    it('rotates a key, shows the new one once and says until when the old one works', async () => {
      const { page, inspect } = given()
      const old = key
      const rotate = async (overlap: string): Promise<void> => {
        await opens(page.getByRole('button', { name: 'app', exact: true }).first(), drawer('app'))
        await opens(drawer('app').getByRole('button', { name: 'Rotate' }), drawer('Rotate the key?'))
        await drawer('Rotate the key?').getByLabel('The old key still works for').selectOption(overlap)
        await inspect('console-rotate-key')
        await drawer('Rotate the key?').getByRole('button', { name: 'Rotate' }).press('Enter')
      }
      await rotate('an hour')
      await given().said('The old one works until')
      await inspect('console-key-rotated')
      key = (await page.getByLabel('The key').textContent())!
      expect([await asks(), await ask(given().server.url, old)]).toEqual([200, 200])
      await page.getByRole('button', { name: 'I have copied it' }).click()
      expect(await page.content()).not.toContain(key)
      // The old one can only end sooner.
      await page
        .getByRole('row', { name: /app .* rotated/ })
        .getByRole('button')
        .press('Enter')
      await drawer('app').getByText('it can only end sooner').waitFor()
      expect(await drawer('app').getByRole('button', { name: 'Rotate' }).count()).toBe(0)
      await page.keyboard.press('Escape')
      await rotate('not at all')
      await given().said('The old one is refused from now on.')
      expect(await asks()).toBe('invalid_api_key')
      key = (await page.getByLabel('The key').textContent())!
      expect(await asks()).toBe(200)
    })

    it('shows a person the own budget', async () => {
      const { open, page, inspect, person, admin } = given()
      const params = { id: person.id }
      await admin.client.patch('/api/users/{id}', { params, body: { budget: { usd: 12, per: 'month' } } })
      await open('/usage', 'Usage')
      await page.getByText('$12.00 left').waitFor()
      await page.getByText(/^Begins anew 1 \w+, /).waitFor()
      await page.getByText('$0 of $12.00 used this month').waitFor()
      await inspect('console-usage-budget')
    })
  },
  { role: 'admin' },
)
