import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import { goTo, openDashboard, startDashboard } from './dashboard.js'
import { looks, visit } from './visitor.js'

describe('the request log after a restart', needs(programs.chromium), () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'turnpike-restart-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  it('has what failed, with its reason, and what was used', async () => {
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
    await browser.close()
    await server.stop()
  })
})
