import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import type { DashboardServer } from './dashboard.js'
import { openDashboard, startDashboard } from './dashboard.js'
import { single } from './payloads.js'
import { looks, visit } from './visitor.js'
import { needs, programs } from '../support/needs.js'

describe('threat 23: what users write is text in the dashboard', needs(programs.chromium), () => {
  let server: DashboardServer
  let browser: Browser
  beforeAll(async () => {
    server = await startDashboard({ LOG: 'silent' })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  it('in names of users and keys, and in models', async () => {
    const { page, context, faults } = await visit(browser, server.url, looks[0]!)
    const [first] = single
    for (const [i, name] of single.entries()) {
      await server.send('POST', '/api/users', {
        email: `u${i}@example.org`,
        password: 'a long password',
        firstName: name,
      })
      const { key } = await server.send<{ key: string }>('POST', '/api/keys', { name: name.slice(0, 200) })
      await server.chat({ model: name })
      await server.chat({ model: 'gpt-4o-mini' }, key)
    }
    await openDashboard(page, server.url)
    for (const [name, path, shown] of [
      ['Requests', '/admin/requests', first],
      ['Usage', '/admin/usage?by=key', first],
      ['Keys', '/admin/keys', first],
      ['Routing', `/admin/routing?model=${encodeURIComponent(first!)}`, undefined],
      ['Pricing', `/admin/pricing?filter=${encodeURIComponent(first!)}`, undefined],
      ['Usage', `/admin/usage?by=user&id=${encodeURIComponent(first!)}`, undefined],
      ['Requests', `/admin/requests?id=${encodeURIComponent(first!)}`, undefined],
    ] as const) {
      await page.goto(`${server.url}/admin#${path}`)
      await page.getByRole('heading', { level: 1, name }).waitFor()
      if (shown !== undefined) await page.getByText(shown).first().waitFor()
    }
    await page.keyboard.press('Escape')
    for (const row of await page.getByRole('row', { name: 'model not found' }).all()) {
      await row.getByRole('button').click()
      await page.getByRole('dialog').getByLabel('The request as a curl command').waitFor()
      await page.keyboard.press('Escape')
    }
    expect(faults).toEqual([])
    expect(await page.evaluate('globalThis.hit')).toBeUndefined()
    await context.close()
  })
})
