import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { filesSuite, listed } from '../platform/files.js'
import { PASSWORD } from '../platform/world.js'
import { bundlePage, startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import { sample } from '../support/scope.js'

filesSuite('the client in a browser', (world) => {
  describe('', needs(programs.chromium), () => {
    let browser: Browser
    let context: BrowserContext
    let page: Page
    let script: string
    let credentials: string
    let email: string
    /** The requests of all tabs, as `GET /api/account`. */
    let requests: string[]

    const newTab = async (): Promise<Page> => {
      const tab = await context.newPage()
      await tab.goto(`${world().url}/page`)
      return tab
    }
    const times = (request: string) => requests.filter((each) => each === request).length

    beforeAll(async () => {
      browser = await startBrowser()
      script = await bundlePage(new URL('page.js', import.meta.url))
    })
    afterAll(() => browser.close())
    beforeEach(async () => {
      requests = []
      context = await browser.newContext()
      await context.route(`${world().url}/page`, (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: '<!doctype html><script type="module" src="/page.js"></script>',
        }),
      )
      await context.route(`${world().url}/page.js`, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: script }),
      )
      context.on('request', (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`))
      page = await newTab()
      ;({ email } = await world().person('developer'))
      credentials = JSON.stringify({ email, password: PASSWORD })
      return () => context.close()
    })

    it('signs in with a cookie, and knows it again when the page is loaded', async () => {
      expect(await page.evaluate('byCookie.refresh()')).toBeNull()
      expect(await page.evaluate(`byCookie.signIn(${credentials})`)).toMatchObject({ email })
      expect(await page.evaluate('document.cookie + JSON.stringify({ ...localStorage })')).toBe('{}')
      await page.reload()
      expect(await page.evaluate('byCookie.refresh()')).toMatchObject({ email })
      // Half an hour later there is nothing to refresh.
      await world().advance(30 * 60_000)
      expect(await page.evaluate('ask(byCookie, 5)')).toEqual([200, 200, 200, 200, 200])
      const { text } = (await page.evaluate('converse(byCookie)')) as { text: string }
      expect(text).toMatch(/\w/)
      expect(times('PUT /api/auth')).toBe(0)
      await page.evaluate('byCookie.signOut()')
      expect(await page.evaluate('signedOut.length')).toBe(0)
      expect(await page.evaluate('ask(byCookie, 3)')).toEqual([401, 401, 401])
      expect(await page.evaluate('signedOut.length')).toBe(1)
    })

    it('goes on where requests were under way with an older cookie', async () => {
      await page.evaluate(`byCookie.signIn(${credentials})`)
      const old = (await context.cookies()).map(({ name, value }) => `${name}=${value}`).join()
      // Another role brings another cookie.
      await page.evaluate(`byCookie.patch('/api/account/role', { body: { role: 'user' } })`)
      let late = 3
      await context.route('**/api/account', async (route) => {
        if (late-- <= 0) return route.continue()
        const { status, body } = await world().ask('GET', '/api/account', { headers: { cookie: old } })
        expect(status).toBe(401)
        await route.fulfill({ status, json: body })
      })
      expect(await page.evaluate('ask(byCookie, 3)')).toEqual([200, 200, 200])
      expect([times('GET /api/account'), times('GET /api/auth/session') > 0]).toEqual([6, true])
      expect(await page.evaluate('signedOut.length')).toBe(0)
    })

    it('refreshes once for all requests of two tabs', async () => {
      const tabs = [page, await newTab()]
      await page.evaluate(`byToken.signIn(${credentials})`)
      for (const round of sample([1, 2, 3])) {
        await world().advance(16 * 60_000)
        const answers = await Promise.all(tabs.map((tab) => tab.evaluate('ask(byToken, 25)')))
        expect(answers.flat()).toEqual(Array.from({ length: 50 }, () => 200))
        expect(times('PUT /api/auth')).toBe(round)
      }
      expect(await Promise.all(tabs.map((tab) => tab.evaluate('signedOut.length')))).toEqual([0, 0])
      const stored = (await page.evaluate('byToken.refresh()')) as { email: string }
      expect(stored.email).toBe(email)

      await page.evaluate('byToken.signOut()')
      const refused = await Promise.all(tabs.map((tab) => tab.evaluate('ask(byToken, 5)')))
      expect(refused.flat()).toEqual(Array.from({ length: 10 }, () => 401))
      expect(await Promise.all(tabs.map((tab) => tab.evaluate('signedOut.length')))).toEqual([1, 1])
    })

    it('threat 195: the tokens of one platform are not sent to another by a page that has clients of both', async () => {
      const sent: (string | undefined)[] = []
      await context.route('https://other.example/**', async (route) => {
        sent.push(route.request().headers()['authorization'], route.request().postData() ?? undefined)
        await route.fulfill({ status: 401, json: { error: 'No' }, headers: { 'access-control-allow-origin': '*' } })
      })
      await page.evaluate(`byToken.signIn(${credentials})`)
      expect(await page.evaluate('ask(elsewhere, 1)')).toEqual([401])
      expect(sent).toEqual([undefined, undefined])
      expect(await page.evaluate('ask(byToken, 1)')).toEqual([200])
    })

    it('tells how far an upload is, and aborts it', async () => {
      await page.evaluate(`byCookie.signIn(${credentials})`)
      // Slow enough for the browser to tell.
      const network = await context.newCDPSession(page)
      const conditions = { offline: false, latency: 0, downloadThroughput: -1 }
      await network.send('Network.emulateNetworkConditions', { ...conditions, uploadThroughput: 1024 * 1024 })
      type Uploaded = { size?: number; name?: string; error?: string; steps: [number, number][] }
      const whole = (await page.evaluate('upload(byCookie, 500_000)')) as Uploaded
      expect(whole).toMatchObject({ size: 500_000, name: 'My bytes' })
      expect(whole.steps.length).toBeGreaterThan(2)
      const [loaded, total] = whole.steps.at(-1)!
      expect(loaded).toBe(total)
      expect(total).toBeGreaterThan(500_000)

      const aborted = (await page.evaluate('upload(byCookie, 2_000_000, 100_000)')) as Uploaded
      expect(aborted.error).toBe('Enough')
      expect(aborted.steps.at(-1)![0]).toBeLessThan(2_000_000)
      expect(await listed(world(), await world().signIn(email))).toHaveLength(1)

      await page.evaluate('byCookie.signOut()')
      expect(await page.evaluate('upload(byCookie, 100)')).toMatchObject({ status: 401 })
    })

    it('refreshes for an upload too', async () => {
      await page.evaluate(`byToken.signIn(${credentials})`)
      await world().advance(16 * 60_000)
      expect(await page.evaluate('upload(byToken, 300_000)')).toMatchObject({ size: 300_000 })
      expect(times('PUT /api/auth')).toBe(1)
    })
  })
})
