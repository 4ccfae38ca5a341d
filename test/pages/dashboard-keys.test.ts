import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import type { DashboardServer } from './dashboard.js'
import { EMAIL, goTo, openDashboard, PASSWORD, startDashboard } from './dashboard.js'
import { looks, visit } from './visitor.js'

interface Key {
  id: string
  key: string
}

describe("keys at the dashboard, anybody's", needs(programs.chromium), () => {
  let server: DashboardServer
  let browser: Browser
  /** Of a developer. */
  let key: Key
  /** Asks with the key. @returns 200, or the code of the error */
  const ask = async (fields: object = {}): Promise<number | string> => {
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hello!' }], ...fields }),
    })
    const { error } = (await response.json()) as { error?: { code: string } }
    return error ? error.code : response.status
  }
  beforeAll(async () => {
    server = await startDashboard()
    browser = await startBrowser()
    await server.send('POST', '/api/users', { email: 'grace@example.org', password: PASSWORD, role: 'developer' })
    const signedIn = await fetch(`${server.url}/api/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: 'grace@example.org', password: PASSWORD }),
    })
    const { access_token } = (await signedIn.json()) as { access_token: string }
    const made = await fetch(`${server.url}/api/keys`, {
      method: 'POST',
      headers: { authorization: `Bearer ${access_token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ name: 'of grace', models: ['fast'], endUsers: { required: true } }),
    })
    key = (await made.json()) as Key
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  it.each(looks)('are changed by an administrator who is signed in, in $theme on a $size', async (look) => {
    await server.send('PATCH', `/api/keys/${key.id}`, { budget: null, models: ['fast'], endUsers: { required: true } })
    const { page, context, inspect } = await visit(browser, server.url, look)
    await page.goto(`${server.url}/admin#/admin/keys`)
    await page.getByLabel('E-mail').fill(EMAIL)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByLabel('Password').press('Enter')
    await page.getByRole('button', { name: 'of grace' }).press('Enter')
    const dialog = page.getByRole('dialog', { name: 'of grace' })
    const save = async (): Promise<void> => {
      await dialog.getByRole('button', { name: 'Save' }).press('Enter')
      await dialog.getByText('Saved.').waitFor()
    }
    expect(await ask()).toBe('invalid_body')
    expect(await dialog.getByLabel('Refuse requests without one').isChecked()).toBe(true)
    await dialog.getByLabel('Refuse requests without one').press('Space')
    await save()
    expect([await ask(), await ask({ model: 'gpt-4o-mini' })]).toEqual([200, 200])
    // Groups are suggested, too.
    const listed = await dialog
      .locator('datalist option')
      .evaluateAll((all) => all.map((one) => one.getAttribute('value')))
    expect(listed).toContain('unsteady')
    expect(listed).not.toContain('fast')
    await dialog.getByLabel('Budget in US dollars').fill('0')
    await dialog.getByLabel('The budget is for').selectOption('month')
    await save()
    await dialog.getByText('$0 of $0 used this month').waitFor()
    expect(await ask()).toBe('budget_exceeded')
    await dialog.getByRole('button', { name: 'Remove fast' }).press('Enter')
    await save()
    await inspect('admin-key')
    const { data } = await server.send<{ data: object[] }>('GET', '/admin/keys')
    expect(data).toContainEqual(
      expect.objectContaining({ id: key.id, budget: { usd: 0, per: 'month' }, end_users: {}, rate_limit: 60 }),
    )
    expect(data.find((one) => (one as Key).id === key.id)).not.toHaveProperty('models')
    await context.close()
  })

  it('are shown without a form to whoever has the token only', async () => {
    const { page, context, faults } = await visit(browser, server.url, looks[0]!)
    await openDashboard(page, server.url)
    await goTo(page, 'Keys')
    await page.getByRole('button', { name: 'of grace' }).click()
    const dialog = page.getByRole('dialog', { name: 'of grace' })
    await dialog.getByText('Requests per minute').waitFor()
    expect(await dialog.getByRole('button', { name: 'Save' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Revoke' }).waitFor()
    expect(faults).toEqual([])
    await context.close()
  })
})
