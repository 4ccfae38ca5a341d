import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import type { FakeOllama } from '../support/fake-ollama.js'
import { startOllama } from '../support/fake-ollama.js'
import { needs, programs } from '../support/needs.js'
import { signIn } from './console.js'
import type { DashboardServer } from './dashboard.js'
import { EMAIL, goTo, openDashboard, startDashboard } from './dashboard.js'
import { looks, visit } from './visitor.js'

const MODELS = ['nomic-embed-text:latest', "it's:1b", 'llama3.2:latest']

describe('pages before a local server', needs(programs.chromium), () => {
  let ollama: FakeOllama
  let server: DashboardServer
  let browser: Browser
  beforeAll(async () => {
    ollama = await startOllama(MODELS)
    server = await startDashboard({ OPENAI_BASE_URL: ollama.url, OPENAI_MODELS: '', MODEL_GROUPS: '' })
    browser = await startBrowser()
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
    await ollama.close()
  })

  it('offer the models that it has, at the dashboard', async () => {
    const { page, context, inspect } = await visit(browser, server.url, looks[0]!)
    await openDashboard(page, server.url)
    // As one word of a shell.
    await page.locator('pre', { hasText: `{"model":"it'\\''s:1b",` }).waitFor()
    await goTo(page, 'Pricing')
    for (const id of MODELS) await page.getByRole('row', { name: id }).getByText('no price').waitFor()
    await goTo(page, 'Providers')
    await page
      .getByText(/3 models/)
      .first()
      .waitFor()
    await goTo(page, 'Routing')
    const field = page.getByLabel('Model or group')
    await expect.poll(() => field.inputValue()).toBe("it's:1b")
    const offered = await page
      .locator('datalist option')
      .evaluateAll((all) => all.map((one) => one.getAttribute('value')))
    expect(offered).toEqual(MODELS)
    await field.fill('llama3.2')
    await page.getByRole('button', { name: 'Show the order' }).click()
    await page.getByRole('row', { name: '1. openai/llama3.2' }).waitFor()
    await inspect('admin-routing-local')
    await context.close()
  })

  it('offer the models that it has, at the console', async () => {
    const visitor = await visit(browser, server.url, looks[0]!)
    const { page, context } = visitor
    await page.goto(`${server.url}/console#/keys`)
    await signIn(visitor, EMAIL)
    await page.getByRole('button', { name: 'New key' }).click()
    await page.getByLabel('Name').fill('laptop')
    await page.getByRole('button', { name: 'Create key' }).click()
    await page.getByText('A first request').click()
    await page.locator('pre', { hasText: `'{"model":"it'\\''s:1b",` }).waitFor()
    await context.close()
  })
})
