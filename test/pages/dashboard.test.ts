// Longer than 250 lines: one visit: a browser and a server with what was asked of it.
import { readFileSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs, testAll } from '../support/needs.js'
import type { DashboardServer } from './dashboard.js'
import { EMAIL, goTo, openDashboard, PASSWORD, startDashboard } from './dashboard.js'
import type { Visitor } from './visitor.js'
import { looks, visit } from './visitor.js'

describe('the dashboard', needs(programs.chromium), () => {
  let server: DashboardServer
  let browser: Browser
  beforeAll(async () => {
    server = await startDashboard()
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  it('says what to do first where nothing was requested yet', async () => {
    const { page, context, inspect } = await visit(browser, server.url, looks[0]!)
    await openDashboard(page, server.url)
    await page.getByText('No request yet').waitFor()
    await page.getByRole('button', { name: 'Copy' }).click()
    expect(await page.evaluate('navigator.clipboard.readText()')).toContain(`curl '${server.url}/v1/chat/completions'`)
    await inspect('admin-first-run')
    for (const name of ['Requests', 'Usage', 'Routing']) {
      await goTo(page, name)
      await page.getByText(/^No /).first().waitFor()
    }
    await context.close()
  })

  describe.each(looks)('in $theme on a $size', (look) => {
    let visitor: Visitor
    beforeAll(async () => {
      for (const model of ['gpt-4o-mini', 'gpt-4o', 'fast', 'unsteady', 'no-such-model'])
        await server.chat({ model, provider: 'auto' })
      visitor = await visit(browser, server.url, look)
    })
    afterAll(() => visitor.context.close())

    it('signs in by password, with a cookie that scripts cannot read', async () => {
      const { page, inspect } = visitor
      await page.goto(`${server.url}/admin`)
      await page.getByLabel('E-mail').fill(EMAIL)
      await page.getByLabel('Password').fill('wrong')
      await page.getByLabel('Password').press('Enter')
      await page.getByRole('alert').waitFor()
      await inspect('admin-sign-in')
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByLabel('Password').press('Enter')
      await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
      expect(await page.evaluate('document.cookie')).toBe('')
    })

    it.each([
      ['Overview', 'Latency, p95'],
      ['Requests', 'gpt-4o-mini'],
      ['Usage', EMAIL],
      ['Providers', 'from variables'],
      ['Routing', 'Recent choices'],
      ['Pricing', 'gpt-4.1-nano'],
      ['Keys', 'bootstrap'],
    ])('shows %s', async (name, text) => {
      await goTo(visitor.page, name)
      await visitor.page.getByText(text).first().waitFor()
      await visitor.inspect(`admin-${name.toLowerCase()}`)
    })

    it('shows a request, a choice and a row of usage at the side', async () => {
      const { page, inspect } = visitor
      const isIn = (name: string) => page.getByRole('dialog').getByText(name).first().waitFor()
      await goTo(page, 'Requests')
      await page.getByRole('row', { name: 'model not found' }).first().getByRole('button').click()
      await isIn('No configured provider has this model')
      await inspect('admin-request')
      await page.keyboard.press('Escape')
      await goTo(page, 'Routing')
      await page
        .getByRole('row', { name: /fast.*auto/ })
        .first()
        .getByRole('button')
        .click()
      await isIn('the cheapest for this request')
      await inspect('admin-choice')
      await page.keyboard.press('Escape')
      await goTo(page, 'Usage')
      await page.getByRole('table', { name: 'Usage by user' }).getByRole('button', { name: EMAIL }).click()
      await page.getByRole('dialog').getByRole('img', { name: 'Cost by day' }).waitFor()
      await inspect('admin-usage-hours')
      await page.keyboard.press('Escape')
      await page.getByRole('dialog').waitFor({ state: 'detached' })
    })
  })

  describe('answers at first sight', () => {
    let visitor: Visitor
    beforeAll(async () => {
      visitor = await visit(browser, server.url, looks[0]!)
      await openDashboard(visitor.page, server.url)
    })
    beforeEach(() => visitor.page.goto(`${server.url}/admin`))
    afterAll(async () => {
      expect(visitor.faults).toEqual([])
      await visitor.context.close()
    })

    it('why a request failed', async () => {
      const { page } = visitor
      const id = await server.chat({ model: 'gpt-4o' })
      await goTo(page, 'Requests')
      await page.getByRole('searchbox').fill(id)
      const rows = page.getByRole('row', { name: '502 upstream error' })
      await expect.poll(() => rows.count()).toBe(1)
      await rows.getByRole('button').click()
      const dialog = page.getByRole('dialog')
      await dialog.getByText('The provider answered with an error.').waitFor()
      await dialog.getByRole('listitem').filter({ hasText: 'openai/gpt-4o' }).getByText('error status 500').waitFor()
      expect(await dialog.getByLabel('The request as a curl command').textContent()).toContain('"model":"gpt-4o"')
      await page.keyboard.press('Escape')
    })

    it('that another answered after a failure', needs(testAll), async () => {
      const { page } = visitor
      const id = await server.chat({ model: 'unsteady' })
      await goTo(page, 'Requests')
      await page.getByRole('searchbox').fill(id)
      await page
        .getByRole('row', { name: /gpt-4o-mini/ })
        .first()
        .getByRole('button')
        .click()
      const calls = page.getByRole('dialog').getByRole('listitem')
      await calls.filter({ hasText: 'rate limited 429' }).getByText('openai/gpt-4.1', { exact: true }).waitFor()
      await calls.filter({ hasText: 'openai/gpt-4o-mini' }).last().getByText('answered', { exact: true }).waitFor()
      await page.keyboard.press('Escape')
    })

    it('why `auto` chose a provider', needs(testAll), async () => {
      const { page } = visitor
      const id = await server.chat({ model: 'fast', provider: 'auto' })
      await goTo(page, 'Requests')
      await page.getByRole('searchbox').fill(id)
      await page.getByRole('row', { name: 'openai/gpt-4.1-nano' }).getByRole('button').click()
      const dialog = page.getByRole('dialog')
      await dialog
        .getByRole('row', { name: /1\. openai\/gpt-4\.1-nano answered/ })
        .getByText('the cheapest for this request')
        .waitFor()
      await dialog.getByRole('row', { name: '2. openai/gpt-4o-mini' }).getByText('costs as much or more').waitFor()
    })

    it('which requests were refused, and why, one after the other', async () => {
      const { page } = visitor
      const ids = [await server.chat({ model: 'no-such-model' }), await server.chat({}, 'gw-wrong')]
      await server.chat({})
      const refused = page.locator('.figure').filter({ hasText: 'Refused' }).getByRole('link')
      await refused.waitFor()
      // They are counted once a second.
      await expect
        .poll(
          async () => {
            await page.reload()
            return Number(await refused.textContent())
          },
          { timeout: 10_000 },
        )
        .toBeGreaterThan(1)
      await refused.click()
      await page.getByRole('heading', { level: 1, name: 'Requests' }).waitFor()
      const rows = page.getByRole('row').filter({ has: page.getByRole('button') })
      const openings = page.locator('.row-link')
      await rows.filter({ hasText: '401' }).first().waitFor()
      expect(await rows.filter({ hasText: '200' }).count()).toBe(0)

      // By keyboard: down the list and up, into a request, to the next and back.
      await openings.first().focus()
      await page.keyboard.press('ArrowDown')
      await expect.poll(() => page.evaluate('document.activeElement.closest("tr").dataset.index')).toBe('1')
      await page.keyboard.press('k')
      await expect.poll(() => page.evaluate('document.activeElement.closest("tr").dataset.index')).toBe('0')
      await page.keyboard.press('Enter')
      const dialog = page.getByRole('dialog')
      await dialog.getByText('The key is missing, wrong or revoked.').waitFor()
      expect(page.url()).toContain(ids[1]!)
      await page.keyboard.press('j')
      await dialog.getByText('No configured provider has this model').waitFor()
      expect(page.url()).toContain(ids[0]!)
      await dialog.getByRole('button', { name: 'Copy request id' }).click()
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(ids[0])
      await page.keyboard.press('k')
      await expect.poll(() => page.url()).toContain(ids[1]!)
      await page.keyboard.press('Escape')

      // Filters are in the address, and can be removed one by one.
      await page.locator('summary', { hasText: 'Filters' }).click()
      await page.getByRole('combobox', { name: 'Error' }).selectOption('model_not_found')
      await page.keyboard.press('Escape')
      await expect.poll(() => rows.filter({ hasText: '401' }).count()).toBe(0)
      await page.reload()
      const remove = page.getByRole('button', { name: 'Remove filter Error: model not found' })
      await remove.waitFor()
      await openings.first().waitFor()
      const file = async (name: string) => {
        await page.locator('summary', { hasText: 'Export' }).click()
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          page.getByRole('button', { name, exact: true }).click(),
        ])
        await page.keyboard.press('Escape')
        return readFileSync(await download.path(), 'utf8')
      }
      const [head, first] = (await file('CSV')).split('\r\n')
      expect(head).toMatch(/^time,request_id,method,route,status,/)
      expect(first).toContain(`,${ids[0]},POST,/v1/chat/completions,4`)
      expect(JSON.parse(await file('JSON'))).toContainEqual(expect.objectContaining({ request_id: ids[0] }))
      await remove.click()
      await rows.filter({ hasText: '401' }).first().waitFor()

      // The browser keeps the columns.
      await page.locator('summary', { hasText: 'Columns' }).click()
      await page.getByLabel('Route', { exact: true }).check()
      await page.getByLabel('Tokens', { exact: true }).uncheck()
      await page.reload()
      await page.getByRole('columnheader', { name: 'Route' }).waitFor()
      expect(await page.getByRole('columnheader', { name: 'Tokens' }).count()).toBe(0)
    })

    it('what a user cost this week, and in a file', async () => {
      const { page } = visitor
      await server.chat({})
      await goTo(page, 'Usage')
      const row = page.getByRole('table', { name: 'Usage by user' }).getByRole('row', { name: EMAIL })
      expect(await row.textContent()).toMatch(/\$0\.0\d+/)
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'CSV' }).click(),
      ])
      const text = readFileSync(await download.path(), 'utf8')
      expect(text.split('\r\n')[0]).toBe(
        'id,name,owner_id,requests,without_price,prompt_tokens,completion_tokens,cost_usd,cost_usd_before',
      )
      expect(text).toContain(`,${EMAIL},`)
    })

    it('how a request would be routed', async () => {
      const { page } = visitor
      await goTo(page, 'Routing')
      await page.getByLabel('Model or group').fill('fast')
      await page.getByRole('button', { name: 'Show the order' }).click()
      await page
        .getByRole('row', { name: '1. openai/gpt-4.1-nano' })
        .getByText('the cheapest for this request')
        .waitFor()
      await page.getByRole('row', { name: '2. openai/gpt-4o-mini' }).getByText('costs as much or more').waitFor()
      await page.getByLabel('Model or group').fill('x'.repeat(257))
      await page.getByRole('button', { name: 'Show the order' }).click()
      await page.getByRole('alert').getByText('A model id has at most 256 characters').waitFor()
    })

    it('whether a provider can be reached now', async () => {
      const { page } = visitor
      await goTo(page, 'Providers')
      await page.getByRole('button', { name: 'Test openai' }).click()
      await page.getByText(/answered in \d+ ms/).waitFor()
    })

    it('stands still while it is paused', needs(testAll), async () => {
      const { page } = visitor
      await goTo(page, 'Requests')
      await page.getByRole('button', { name: 'Pause' }).click()
      const heading = page.getByRole('heading', { level: 2 })
      const before = await heading.textContent()
      const id = await server.chat({})
      // Another window shows it, so that this one would have.
      const other = await visitor.context.newPage()
      await openDashboard(other, server.url)
      await goTo(other, 'Requests')
      await other.getByRole('searchbox').fill(id)
      await expect.poll(() => other.getByRole('row', { name: '200' }).count()).toBe(1)
      expect(await heading.textContent()).toBe(before)
      await other.close()
      await page.getByRole('button', { name: 'Go on' }).click()
      await page.getByRole('searchbox').fill(id)
      await expect.poll(() => heading.textContent()).toBe('1 request')
    })

    it('revokes a key, after a question', async () => {
      const { page } = visitor
      const { key } = await server.send<{ key: string }>('POST', '/api/keys', { name: 'to be revoked' })
      await goTo(page, 'Keys')
      await page.getByRole('button', { name: 'to be revoked' }).click()
      const revoke = page.getByRole('dialog').getByRole('button', { name: 'Revoke', exact: true })
      const question = page.getByRole('dialog', { name: 'Revoke the key?' })
      await revoke.click()
      await question.getByRole('button', { name: 'Cancel' }).click()
      await revoke.click()
      await question.getByRole('button', { name: 'Revoke' }).click()
      await page.getByRole('row', { name: 'to be revoked' }).getByText('revoked', { exact: true }).waitFor()
      const id = await server.chat({}, key)
      await goTo(page, 'Requests')
      await page.getByRole('searchbox').fill(id)
      await page.getByRole('row', { name: '401 invalid api key' }).waitFor()
    })

    it('changes the theme, which stays', async () => {
      const { page } = visitor
      const background = () => page.evaluate<string>('getComputedStyle(document.documentElement).backgroundColor')
      const light = await background()
      await page.getByRole('button', { name: 'System theme' }).click()
      const dark = await background()
      expect(dark).not.toBe(light)
      await page.reload()
      await page.getByRole('button', { name: 'Dark theme' }).waitFor()
      expect(await background()).toBe(dark)
    })

    it('signs out', async () => {
      const { page } = visitor
      await page.getByRole('button', { name: 'Sign out' }).click()
      await page.getByRole('heading', { name: 'Turnpike administration' }).waitFor()
      await page.reload()
      await page.getByRole('heading', { name: 'Turnpike administration' }).waitFor()
      expect(await page.evaluate('JSON.stringify(sessionStorage)')).toBe('{}')
    })
  })

  it('is not for users', async () => {
    const { page, context } = await visit(browser, server.url, looks[0]!)
    await server.send('POST', '/api/users', { email: 'bob@example.org', password: PASSWORD, role: 'user' })
    await page.goto(`${server.url}/admin`)
    await page.getByLabel('E-mail').fill('bob@example.org')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    expect(await page.getByRole('alert').textContent()).toMatch(/administrator/)
    await context.close()
  })
})
