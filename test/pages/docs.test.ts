import type { Browser, Locator } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import type { Visitor } from './visitor.js'
import { looks, visit } from './visitor.js'

const PAYLOAD = `</pre><script>alert(1)</script><img src=x onerror=alert(2)>`

describe('the documentation of the API', needs(programs.chromium), () => {
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

  it('is readable without its script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${server.url}/docs`)
    await page.locator('summary', { hasText: 'Makes a gateway key.' }).click()
    const body = page.locator('[id="keys.create"]')
    expect(await body.innerText()).toContain('For developers and administrators.')
    expect(await body.getByText('curl "http://127.0.0.1:8787/api/keys"').isVisible()).toBe(true)
    for (const scripted of ['.copy', '.try', '#credentials', '[type=search]'])
      expect(await page.locator(scripted).first().isVisible(), scripted).toBe(false)
    await context.close()
  })

  describe.each(looks)('in $theme on a $size', (look) => {
    let visitor: Visitor
    beforeAll(async () => {
      visitor = await visit(browser, server.url, look)
      await visitor.page.goto(`${server.url}/docs`)
    })
    afterAll(() => visitor.context.close())

    /** An operation that is open, with its form. */
    const open = async (id: string): Promise<Locator> => {
      await visitor.page.goto(`${server.url}/docs#${id}`)
      const operation = visitor.page.locator(`[id="${id}"]`)
      const form = operation.locator('.try > form')
      if (!(await form.isVisible())) await operation.getByText('Try it').click()
      return operation
    }
    const send = async (operation: Locator, confirm = false): Promise<string> => {
      await operation.getByRole('button', { name: 'Send' }).click()
      if (confirm) await visitor.page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
      await operation.locator('.result').getByText(/\d ms/).waitFor()
      await operation.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
      return operation.locator('.result').innerText()
    }

    it('lists all operations', async () => {
      await visitor.page.getByRole('heading', { level: 1, name: 'API' }).waitFor()
      expect(await visitor.page.locator('.op[data-name]').count()).toBeGreaterThan(70)
      await visitor.inspect('docs')
    })

    it('threat 220: sends nothing by a click that was meant for another page', async () => {
      const { page } = visitor
      const operation = await open('account.remove')
      await operation.getByRole('button', { name: 'Send' }).click()
      const question = page.getByRole('dialog')
      const { x, y } = (await question.getByRole('button', { name: 'Send' }).boundingBox())!
      for (let i = 0; i < 5; i++) {
        await page.mouse.click(x + 5, y + 5)
        await page.waitForTimeout(150)
      }
      expect(await question.isVisible()).toBe(true)
      await question.getByRole('button', { name: 'Cancel' }).click()
      expect(await operation.locator('.result').innerText()).toBe('')
    })

    it('filters them by what is typed after /', async () => {
      const { page } = visitor
      await page.keyboard.press('/')
      await page.keyboard.type('post /api/sessions')
      expect(await page.locator('.op:visible').allInnerTexts()).toEqual([expect.stringContaining('/api/sessions')])
      expect(await page.locator('#found').textContent()).toBe('1 operation found')
      await page.keyboard.press('Escape')
      expect(await page.locator('.op:visible').count()).toBeGreaterThan(70)
    })

    it('opens an operation by its address, and copies its code', async () => {
      const { page } = visitor
      await page.goto(`${server.url}/docs#keys.create`)
      const operation = page.locator('[id="keys.create"]')
      await operation.getByRole('button', { name: 'Copy curl of keys.create' }).click()
      await expect.poll(() => page.locator('#said').textContent()).toBe('Copied')
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(
        `curl "${server.url}/api/keys" \\\n  -H "Authorization: Bearer $ACCESS_TOKEN" \\\n  -H 'Content-Type: application/json' \\\n  -d '{"name":"laptop"}'`,
      )
      await operation.getByRole('link', { name: 'GatewayKey' }).first().click()
      await page.locator('[id="platform/schemas/GatewayKey"]').getByText('last_used_at').waitFor()
      // Also where the filter does not show it.
      await page.keyboard.press('/')
      await page.keyboard.type('nothing like this')
      await page.goto(`${server.url}/docs#keys.list`)
      await page.locator('[id="keys.list"]').getByRole('heading', { name: 'Answers' }).waitFor()
    })

    it('sends a request with the session of the browser', async () => {
      const signIn = await open('auth.signIn')
      const credentials = { email: 'ada@example.org', password: 'the password of the tests', cookie: true }
      await signIn.getByLabel('Body').fill(JSON.stringify(credentials))
      // Not without being asked.
      await signIn.getByRole('button', { name: 'Send' }).click()
      await visitor.page.getByRole('dialog').getByText('It may change something on the server.').waitFor()
      await visitor.page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
      expect(await signIn.locator('.result').innerText()).toBe('')
      expect(await send(signIn, true)).toContain('200 OK')

      const account = await open('account.get')
      const said = await send(account)
      expect(said).toMatch(/200 OK\s+\d+ ms\s+X-Request-ID: \S+/)
      expect(said).toContain('"email": "ada@example.org"')
    })

    it('shows markup in an answer as text', async () => {
      const made = await open('projects.create')
      await made.getByLabel('Body').fill(JSON.stringify({ name: PAYLOAD, description: PAYLOAD }))
      await send(made, true)
      const list = await open('projects.list')
      expect(await send(list)).toContain(JSON.stringify(PAYLOAD))
      expect(await visitor.page.locator('.result script, .result img').count()).toBe(0)
      expect(visitor.faults).toEqual([])
    })

    it('ends a request that is cancelled', async () => {
      const events = await open('admin.events')
      await events.getByRole('button', { name: 'Send' }).click()
      await events.getByText('200 OK').waitFor()
      await events.getByRole('button', { name: 'Cancel' }).click()
      await events.getByText('Cancelled after').waitFor()
      expect(visitor.faults).toEqual([])
    })

    it('shows a stream as it comes, with a key that it keeps nowhere else', async () => {
      const { page } = visitor
      await page.locator('#credentials').getByLabel('AI gateway').fill(server.key)
      const chat = await open('chat.completions')
      const content = `Hello ${PAYLOAD}`
      await chat
        .getByLabel('Body')
        .fill(JSON.stringify({ model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content }] }))
      await chat.getByRole('button', { name: 'Send' }).click()
      await page.getByRole('dialog').getByText('may charge for it').waitFor()
      await page.getByRole('dialog').getByRole('button', { name: 'Send' }).click()
      const said = () => chat.locator('.result pre').innerText()
      await expect.poll(said).toContain('data: [DONE]')
      await chat.getByRole('button', { name: 'Cancel' }).waitFor({ state: 'detached' })
      expect(await said()).toContain('onerror=')
      expect(await page.locator('.result script, .result img').count()).toBe(0)
      await page.getByPlaceholder('Filter').fill('chat/completions')
      // The others, which axe would look at too.
      await page.evaluate("document.querySelectorAll('[hidden]').forEach((one) => one.remove())")
      await visitor.inspect('docs-answer')
      expect(await page.evaluate('JSON.stringify([location.href, localStorage, sessionStorage])')).not.toContain(
        server.key,
      )
    })
  })
})
