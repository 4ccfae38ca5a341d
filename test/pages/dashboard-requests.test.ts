import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import { goTo, openDashboard, startDashboard } from './dashboard.js'
import { looks, visit } from './visitor.js'

const COUNT = 10_000

/** The stream of so many requests that have ended. */
const events = (count: number): string =>
  Array.from({ length: count }, (_, i) => {
    const event = { request_id: String(i), time: new Date().toISOString(), method: 'POST', route: '/v1/embeddings' }
    return `data: ${JSON.stringify({ ...event, status: 200, duration_ms: i })}\n\n`
  }).join('')

describe('the request log', needs(programs.chromium), () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turnpike-restart-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('has what failed after a restart, with its reason, and what was used', async () => {
    const env = { STORAGE: `fs:${folder}`, FILES: 'memory' }
    const before = await startDashboard(env)
    const failed = await before.chat({ model: 'gpt-4o' })
    await before.chat({})
    expect(await before.stop()).toBe(0)
    const server = await startDashboard(env)
    const browser = await startBrowser()
    const { page, inspect } = await visit(browser, server.url, looks[0]!)
    await openDashboard(page, server.url)
    await goTo(page, 'Requests')
    await page.getByRole('row', { name: '502 upstream error' }).waitFor()
    await page.getByRole('row', { name: '200' }).getByText('openai/gpt-4o-mini').waitFor()
    // By a link, with a list that does not have it.
    await page.goto(`${server.url}/admin#/admin/requests?id=${failed}&model=gpt-4o-mini`)
    await page.reload()
    const dialog = page.getByRole('dialog')
    await dialog.getByText('The provider answered with an error.').waitFor()
    await dialog.getByText('error status 500').waitFor()
    await inspect('admin-request-stored')

    // Of thousands, those in view are drawn, and the keys lead to all.
    const many = await page.context().newPage()
    let isFirst = true
    await many.route('**/admin/events', (route) => {
      const body = isFirst ? events(COUNT) : ': nothing\n\n'
      isFirst = false
      return route.fulfill({ contentType: 'text/event-stream', body })
    })
    await openDashboard(many, server.url)
    await goTo(many, 'Requests')
    await many.getByText('/v1/embeddings').first().waitFor()
    const drawn = many.locator('tr[data-index]')
    expect(await drawn.count()).toBeLessThan(100)
    await many.locator('.row-link').first().focus()
    await many.keyboard.press('End')
    const focused = 'Number(document.activeElement.closest("tr")?.ariaRowIndex)'
    await expect.poll(() => many.evaluate(focused)).toBeGreaterThanOrEqual(COUNT)
    expect(await drawn.count()).toBeLessThan(100)
    await many.keyboard.press('Home')
    await expect.poll(() => many.evaluate(focused)).toBe(2)
    await browser.close()
    await server.stop()
  })
})
