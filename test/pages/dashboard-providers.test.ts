import type { Browser, ElementHandle, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import type { NamedUpstream } from '../support/named-upstream.js'
import { namedUpstream } from '../support/named-upstream.js'
import { needs, programs } from '../support/needs.js'
import type { DashboardServer } from './dashboard.js'
import { goTo, openDashboard, startDashboard } from './dashboard.js'
import { looks, visit } from './visitor.js'

/** What the upstream takes, long enough for its end to be shown. */
const NAME = 'of-an-upstream-in-this-process-WXYZ'
const KEY = `key-${NAME}`

type Clicked = { click(): void }

describe('the page of providers', needs(programs.chromium), () => {
  let server: DashboardServer
  let browser: Browser
  let upstream: NamedUpstream
  beforeAll(async () => {
    upstream = await namedUpstream(NAME)
    server = await startDashboard()
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
    upstream.server.closeAllConnections()
    upstream.server.close()
  })

  const item = (page: Page, name: string) => page.getByRole('listitem').filter({ hasText: name })

  it.each(looks)(
    'adds, tests, changes and deletes one, whose key is told to nobody, in $theme on a $size',
    async (look) => {
      // Figures of a name go on where the provider is added again.
      const own = `own-${look.size}`
      const { page, context, inspect } = await visit(browser, server.url, look)
      /** All answers that came to their end. */
      const answers: Promise<string>[] = []
      page.on('requestfinished', (request) => {
        const text = async (): Promise<string> => (await (await request.response())?.text()) ?? ''
        answers.push(text().catch(() => ''))
      })
      await openDashboard(page, server.url)
      await goTo(page, 'Providers')
      await item(page, 'openai').getByText('from variables').waitFor()
      await page.getByRole('button', { name: 'Add provider' }).press('Enter')
      await page.getByRole('button', { name: 'Groq api.groq.com' }).waitFor()
      await inspect('admin-provider-kinds')
      await page.getByRole('button', { name: 'Any other server' }).press('Enter')
      const form = page.getByRole('dialog')
      await form.getByLabel('Address').fill(upstream.url)
      await form.getByLabel('Name in requests').fill(own)
      await form.getByLabel('API key').fill('a wrong key'.replaceAll(' ', '-'))
      await form.getByRole('button', { name: 'Test' }).press('Enter')
      await form.getByText('The key was refused.').waitFor()
      await inspect('admin-provider-refused')
      await form.getByLabel('API key').fill(KEY)
      await form.getByRole('button', { name: 'Test' }).press('Enter')
      await form.getByText(/It works: answered in \d+ ms/).waitFor()
      await form.getByRole('button', { name: 'Add provider' }).press('Enter')
      await page.locator('.notice:focus').getByText(`${own} is added`).waitFor()
      await item(page, own).getByText('key …WXYZ').waitFor()

      const chat = async (): Promise<string> => {
        const response = await fetch(`${server.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: `${own}/m`, messages: [{ role: 'user', content: 'Hello!' }] }),
        })
        return response.text()
      }
      expect(await chat()).toContain(NAME)
      await item(page, own)
        .getByRole('button', { name: `Test ${own}` })
        .press('Enter')
      await item(page, own).getByText('It works').waitFor()
      // A phone has no room for the figures.
      await item(page, own).locator('dd').filter({ hasText: /^1$/ }).first().waitFor({ state: 'attached' })
      await inspect('admin-providers')

      await item(page, own).getByRole('button', { name: own, exact: true }).press('Enter')
      const drawer = page.getByRole('dialog', { name: own })
      await drawer.getByText('Empty: the one that ends in WXYZ stays.').waitFor()
      await drawer.getByText('Name, limits, times and more').click()
      await drawer.getByLabel('Weight').fill('2.5')
      await drawer.getByRole('button', { name: 'Save' }).press('Enter')
      await drawer.getByText('weight 2.5').waitFor()
      // A key is not sent to another address.
      await drawer.getByLabel('Address').fill('http://127.0.0.1:9')
      await drawer.getByRole('button', { name: 'Save' }).press('Enter')
      await drawer.getByText('must be given again').waitFor()
      await drawer.getByLabel('Address').fill(upstream.url)
      await inspect('admin-provider')
      await drawer.getByRole('button', { name: 'Disable' }).press('Enter')
      await drawer.getByRole('button', { name: 'Enable' }).waitFor()
      expect(await chat()).toContain('"error"')

      await server.send('PUT', '/admin/groups/of-own', { models: [`${own}/m`] })
      await page.keyboard.press('Escape')
      const open = item(page, own).getByRole('button', { name: own, exact: true })
      await open.press('Enter')
      // Closed, and opened before the browser tells that it was closed.
      await drawer.getByRole('button', { name: 'Close' }).evaluate(
        async (close: Clicked, open) => {
          close.click()
          for (let turns = 0; turns < 10; turns++) await undefined
          open.click()
        },
        (await open.elementHandle()) as ElementHandle<Clicked>,
      )
      await drawer.getByRole('button', { name: 'Delete' }).press('Enter')
      const question = page.getByRole('dialog', { name: `Delete ${own}?` })
      await question.getByText('The group of-own has models of it.').waitFor()
      await inspect('admin-provider-delete')
      await question.getByRole('button', { name: 'Delete' }).press('Enter')
      await page.locator('.notice:focus').getByText(`${own} is deleted.`).waitFor()
      await server.send('DELETE', '/admin/groups/of-own')

      expect(answers.length).toBeGreaterThan(10)
      expect((await Promise.all(answers)).join('\n')).not.toContain(KEY)
      expect(await page.content()).not.toContain(KEY)
      const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, location.href])'
      expect(await page.evaluate(kept)).not.toContain(KEY)
      for (const path of ['providers', 'audit', 'server', 'providers/types'])
        expect(JSON.stringify(await server.send('GET', `/admin/${path}`))).not.toContain(KEY)
      expect(server.output()).not.toContain(KEY)

      await item(page, 'openai').getByRole('button', { name: 'openai', exact: true }).press('Enter')
      await page.getByRole('dialog', { name: 'openai' }).getByText('It is set by variables of the server').waitFor()
      expect(await page.getByRole('dialog').getByRole('button', { name: 'Save' }).count()).toBe(0)
      await context.close()
    },
  )
})
