import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { bundlePage, startBrowser } from '../support/browser.js'
import { largePng } from '../support/large-png.js'
import { filesSuite, listed } from './files.js'
import { PASSWORD } from './world.js'
import { needs, programs } from '../support/needs.js'

filesSuite('a page in a browser', (world) => {
  describe('', needs(programs.chromium), () => {
    let browser: Browser
    let context: BrowserContext
    let page: Page
    let email: string
    const wrong: string[] = []
    const other = createServer((_, response) => {
      response.setHeader('content-type', 'text/html')
      response.end('<!doctype html><title>Another site</title>')
    })

    beforeAll(async () => {
      browser = await startBrowser()
      context = await browser.newContext({ viewport: { width: 640, height: 480 } })
      const script = await bundlePage(new URL('page/page.js', import.meta.url))
      const html = readFileSync(new URL('page/page.html', import.meta.url), 'utf8')
      // The app that embeds the platform serves the page.
      await context.route(`${world().url}/page`, (route) => route.fulfill({ contentType: 'text/html', body: html }))
      await context.route(`${world().url}/page.js`, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: script }),
      )
      page = await context.newPage()
      page.on('console', (message) => void (message.type() === 'error' && wrong.push(message.text())))
      page.on('pageerror', (error) => wrong.push(String(error)))
      ;({ email } = await world().person())
      await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
    })
    afterAll(async () => {
      await browser.close()
      other.close()
    })

    it('signs in, uploads with progress, shows the picture and streams a chat', async () => {
      await page.goto(`${world().url}/page`)
      await page.getByLabel('E-mail').fill(email)
      await page.getByLabel('Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Sign in' }).click()
      await expect.poll(() => page.locator('#signed-in').textContent()).toBe('200')

      const picture = largePng(256)
      // Slow enough for the browser to tell how far it is.
      const network = await context.newCDPSession(page)
      const conditions = { offline: false, latency: 0, downloadThroughput: -1 }
      await network.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: 256 * 1024 })
      await page.getByLabel('Picture').setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: picture })
      const widthOf = () => page.evaluate(`document.querySelector('#picture').naturalWidth`)
      await expect.poll(widthOf).toBe(256)
      expect(Number(await page.locator('#progress').getAttribute('data-steps'))).toBeGreaterThan(1)
      expect(await page.evaluate(`document.querySelector('#progress').value`)).toBe(1)
      const as = await world().signIn(email)
      expect(await listed(world(), as)).toMatchObject([{ display_name: 'My picture', size_bytes: picture.length }])

      await page.getByLabel('Question').fill('How are you?')
      await page.getByRole('button', { name: 'Ask' }).click()
      await expect.poll(() => page.locator('#answer').getAttribute('data-done')).toBe('true')
      expect((await page.locator('#answer').textContent())!.length).toBeGreaterThan(10)
      expect(Number(await page.locator('#answer').getAttribute('data-chunks'))).toBeGreaterThan(2)
      expect(wrong).toEqual([])
      expect(await page.evaluate('document.cookie')).toBe('')
      const { SCREENSHOT } = process.env
      if (SCREENSHOT) await page.screenshot({ path: SCREENSHOT })
    })

    it('is refused from another port of the same host, by fetch and by forms', async () => {
      const [before] = [await listed(world(), await world().signIn(email))]
      /** A tab of its own for each attempt, as a form leads to another page. */
      const openOther = async (): Promise<Page> => {
        const tab = await context.newPage()
        await tab.goto(`http://127.0.0.1:${(other.address() as AddressInfo).port}/`)
        return tab
      }
      const foreign = await openOther()
      const results = await foreign.evaluate(`(async () => {
        const form = new FormData()
        form.append('file', new Blob(['x']), 'x.txt')
        const sent = { method: 'POST', credentials: 'include' }
        const all = [
          fetch('${world().url}/api/user-files', { ...sent, body: form }),
          fetch('${world().url}/api/user-files', { credentials: 'include' }),
          fetch('${world().url}/api/gateway/v1/models', { credentials: 'include' }),
          fetch('${world().url}/api/gateway/v1/chat/completions', { ...sent, headers: { 'content-type': 'application/json' }, body: '{}' }),
        ]
        return Promise.all(all.map((one) => one.then(() => 'answered', () => 'refused')))
      })()`)
      expect(results).toEqual(['refused', 'refused', 'refused', 'refused'])
      // Forms are sent with the cookie, as no preflight is asked for them.
      for (const path of ['/api/user-files', '/api/gateway/v1/chat/completions']) {
        const tab = await openOther()
        const seen = tab.waitForResponse((response) => response.url() === world().url + path)
        await tab.evaluate(`{
          const form = Object.assign(document.createElement('form'), { method: 'POST', enctype: 'multipart/form-data', action: '${world().url}${path}' })
          const input = Object.assign(document.createElement('input'), { type: 'file', name: 'file' })
          const files = new DataTransfer()
          files.items.add(new File(['x'], 'x.txt'))
          input.files = files.files
          form.append(input)
          document.body.append(form)
          setTimeout(() => form.submit())
        }`)
        expect((await seen).status(), path).toBe(403)
      }
      expect(await listed(world(), await world().signIn(email))).toEqual(before)
    })
  })
})
