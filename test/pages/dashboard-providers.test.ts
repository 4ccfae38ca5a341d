import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import type { DashboardServer } from './dashboard.js'
import { goTo, openDashboard, startDashboard } from './dashboard.js'
import { looks, visit } from './visitor.js'

describe('the page of providers', needs(programs.chromium), () => {
  let server: DashboardServer
  let browser: Browser
  beforeAll(async () => {
    server = await startDashboard()
    browser = await startBrowser()
    const add = (settings: object) => server.send<{ entry: string }>('POST', '/admin/providers', settings)
    await add({
      type: 'groq',
      apiKey: 'gsk_0123456789-0123456789-WXYZ',
      models: ['gpt-oss'],
      weight: 2.5,
      requestsPerMinute: 600,
      tokensPerMinute: 1_000_000,
    })
    await add({ type: 'ollama', baseURL: 'http://127.0.0.1:9', models: ['llama3.2'], disabled: true })
  })
  afterAll(async () => {
    await browser.close()
    await server.stop()
  })

  it.each(looks)(
    'shows where each comes from, its part of the load and its limits, in $theme on a $size',
    async (look) => {
      const { page, context, inspect } = await visit(browser, server.url, look)
      await openDashboard(page, server.url)
      await goTo(page, 'Providers')
      const row = (name: string) => page.getByRole('row', { name })
      await row('openai').getByText('by variables').waitFor()
      for (const text of ['in the store', 'weight 2.5', '600 requests a minute', '1M tokens a minute', 'key …WXYZ'])
        await row('groq').getByText(text).waitFor()
      await row('ollama').getByText('disabled').waitFor()
      await row('ollama').getByRole('button').click()
      await row('ollama').getByText('unavailable').waitFor()
      await inspect('admin-providers-configured')
      await context.close()
    },
  )
})
