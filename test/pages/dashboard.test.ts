import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noBrowser, startBrowser } from '../support/browser.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import type { Visitor } from './visitor.js'
import { looks, visit } from './visitor.js'

const PASSWORD = 'the password of the tests'

describe.skipIf(noBrowser)('the dashboard', () => {
  let server: Server
  let browser: Browser
  beforeAll(async () => {
    server = await startServer({ ADMIN_EMAIL: 'ada@example.org' })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  describe.each(looks)('in $theme on a $size', (look) => {
    let visitor: Visitor
    beforeAll(async () => {
      visitor = await visit(browser, server.url, look)
    })
    afterAll(() => visitor.context.close())

    it('signs in by password', async () => {
      const { page, inspect } = visitor
      await page.goto(`${server.url}/admin`)
      await page.getByLabel('E-mail').fill('ada@example.org')
      await page.getByLabel('Password').fill('wrong')
      await page.getByLabel('Password').press('Enter')
      await page.getByRole('alert').waitFor()
      await inspect('admin-sign-in')
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByLabel('Password').press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    })

    it('shows the overview', async () => {
      await visitor.page.getByText('Latency, p95').first().waitFor()
      await visitor.inspect('admin-overview')
      expect(await visitor.page.evaluate('document.cookie')).toBe('')
    })
  })
})
