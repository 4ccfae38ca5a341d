import type { Server } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, BrowserContext, Response } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs, testAll } from '../support/needs.js'
import { sample } from '../support/scope.js'
import type { Sent } from './requests.js'
import { newOwner, requestsOf } from './requests.js'
import type { SignedIn } from './world.js'
import { chat, PASSWORD, worldSuite } from './world.js'

/** JavaScript that sends a request, with cookies. */
const send = (url: string, options: object): string =>
  `fetch(${JSON.stringify(url)}, ${JSON.stringify({
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    credentials: 'include',
    ...options,
  })})`

/** Headers of requests that pages of other origins make a browser send, and of one that no browser sends. */
const foreign = (url: string): Record<string, string>[] => [
  { 'sec-fetch-site': 'same-site' },
  { 'sec-fetch-site': 'cross-site', origin: url },
  { origin: 'null' },
  // The same host, over TLS.
  { origin: url.replace('http:', 'https:') },
  { origin: url.replace('127.0.0.1', '127.0.0.1.evil.example') },
  { referer: `https://evil.example/${url}` },
  {},
]

/** Where a credential is in the body: requests that no browser sends are let through, as those of programs. */
const open = [
  'POST /api/auth',
  'PUT /api/auth',
  'POST /api/auth/forgotten',
  'POST /api/auth/sign-up',
  'POST /api/auth/link',
  'PUT /api/auth/link',
  'POST /api/auth/providers/{provider}',
]

worldSuite('threat 18: CSRF', (world) => {
  it('refuses each route that changes something, by cookie from another origin', async () => {
    const admin = await world().signedIn('admin', true)
    const owner = await newOwner(world())
    const statuses: Record<string, number[]> = {}
    for (const [route, { path, body }] of Object.entries<Sent>(requestsOf(owner))) {
      const [method] = route.split(' ') as [string]
      if (method === 'GET' || open.includes(route)) continue
      statuses[route] = []
      for (const from of foreign(world().url)) {
        // Whoever may do it.
        const { cookie } = /^\/api\/(users|invitations)/.test(path) ? admin : owner
        const headers = { cookie: cookie!, ...from }
        statuses[route].push((await world().ask(method, path, { headers, body })).status)
      }
    }
    expect(statuses).toEqual({
      'DELETE /api/auth': Array(7).fill(403),
      'POST /api/auth/sign-out': Array(7).fill(403),
      'DELETE /api/account': Array(7).fill(403),
      'PUT /api/account/password': Array(7).fill(403),
      'PUT /api/users/{id}/password': Array(7).fill(403),
      'POST /api/users/{id}/password-link': Array(7).fill(403),
      'POST /api/invitations': Array(7).fill(403),
      'DELETE /api/invitations/{id}': Array(7).fill(403),
      'DELETE /api/account/sign-ins/{id}': Array(7).fill(403),
      'DELETE /api/users/{id}/sign-ins/{signInId}': Array(7).fill(403),
      'DELETE /api/users/{id}/sign-ins': Array(7).fill(403),
      'PATCH /api/account/role': Array(7).fill(403),
      'POST /api/users': Array(7).fill(403),
      'PATCH /api/users/{id}': Array(7).fill(403),
      'DELETE /api/users/{id}': Array(7).fill(403),
      'POST /api/users/{id}/restore': Array(7).fill(403),
      'PATCH /api/users/{id}/balance': Array(7).fill(403),
      'POST /api/users/{id}/balance': Array(7).fill(403),
      'POST /api/keys': Array(7).fill(403),
      'PATCH /api/keys/{id}': Array(7).fill(403),
      'DELETE /api/keys/{id}': Array(7).fill(403),
      'POST /api/keys/{id}/rotate': Array(7).fill(403),
      'PATCH /api/keys/{id}/end-users/{endUser}': Array(7).fill(403),
      'DELETE /api/keys/{id}/end-users/{endUser}': Array(7).fill(403),
      'POST /api/tokens': Array(7).fill(403),
      'DELETE /api/tokens/{id}': Array(7).fill(403),
      'POST /api/sessions': Array(7).fill(403),
      'POST /api/projects': Array(7).fill(403),
      'PATCH /api/projects/{id}': Array(7).fill(403),
      'DELETE /api/projects/{id}': Array(7).fill(403),
      'PUT /api/projects/{id}/members': Array(7).fill(403),
      'DELETE /api/projects/{id}/members/{memberId}': Array(7).fill(403),
      'POST /api/projects/{id}/members/{memberId}/accept': Array(7).fill(403),
      'DELETE /api/projects/{id}/conversation': Array(7).fill(403),
      'POST /api/user-files': Array(7).fill(403),
      'PATCH /api/user-files/{id}': Array(7).fill(403),
      'DELETE /api/user-files/{id}': Array(7).fill(403),
      'POST /api/user-files/{id}/restore': Array(7).fill(403),
      'POST /api/projects/{id}/conversation/messages/{messageId}/stop': Array(7).fill(403),
      'POST /api/projects/{id}/conversation/reply': Array(7).fill(403),
      'POST /api/projects/{id}/conversation/messages': Array(7).fill(403),
      'POST /api/tasks': Array(7).fill(403),
      'DELETE /api/tasks/{id}': Array(7).fill(403),
      'PATCH /api/tasks/{id}': Array(7).fill(403),
    })
  })

  it('refuses each route of the gateway that changes something, by cookie of an administrator from another origin', async () => {
    const admin = await world().signedIn('admin', true)
    const owner = await newOwner(world())
    const bodies: Record<string, object | undefined> = {
      'POST /admin/providers/openai/probe': undefined,
      'POST /admin/balancer/simulate': chat,
      [`DELETE /admin/keys/${owner.keyId}`]: undefined,
      'POST /v1/users': {},
      [`DELETE /v1/users/${owner.id}`]: undefined,
    }
    const statuses: Record<string, number[]> = {}
    for (const [route, body] of Object.entries(bodies)) {
      const [method, path] = route.split(' ') as [string, string]
      const ask = async (from: Record<string, string>): Promise<number> =>
        (await world().ask(method, path, { headers: { cookie: admin.cookie!, ...from }, body })).status
      statuses[route] = []
      for (const from of foreign(world().url)) statuses[route].push(await ask(from))
      // Its own pages may, by either header.
      statuses[route].push(await ask({ 'sec-fetch-site': 'same-origin' }))
      if (method === 'POST') statuses[route].push(await ask({ origin: world().url }))
    }
    const refused = Array(7).fill(403)
    expect(statuses).toEqual({
      'POST /admin/providers/openai/probe': [...refused, 200, 200],
      'POST /admin/balancer/simulate': [...refused, 200, 200],
      [`DELETE /admin/keys/${owner.keyId}`]: [...refused, 204],
      'POST /v1/users': [...refused, 200, 200],
      [`DELETE /v1/users/${owner.id}`]: [...refused, 204],
    })
  })

  describe('in a browser', needs(testAll, programs.chromium), () => {
    let browser: Browser
    let attacker: Server
    let context: BrowserContext
    let gone: SignedIn

    beforeAll(async () => {
      browser = await startBrowser()
      attacker = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<p>A page'))
      await new Promise<void>((resolve) => attacker.listen(0, '127.0.0.1', resolve))
      const admin = await world().signedIn('admin')
      gone = await world().signedIn()
      await world().ask('DELETE', `/api/users/${gone.id}`, { as: admin })

      // An administrator signs in at the platform, and then opens a page of another port of the same host.
      context = await browser.newContext()
      const page = await context.newPage()
      await page.goto(`${world().url}/api/openapi.json`)
      const body = JSON.stringify({ email: admin.email, password: PASSWORD, cookie: true })
      expect(await page.evaluate(`${send('/api/auth', { body })}.then(({ status }) => status)`)).toBe(200)
    })
    afterAll(async () => {
      await browser?.close()
      attacker?.close()
    })

    /**
     * Opens the other page in a tab of its own and runs a script of its.
     * @returns the answers that it got from the platform: 401 is one without the cookie; and what `window.results` is then
     */
    const attack = async (script: string, count = 1): Promise<{ answers: string[]; results: unknown }> => {
      const page = await context.newPage()
      await page.goto(`http://127.0.0.1:${(attacker.address() as AddressInfo).port}/`)
      const answers: string[] = []
      page.on('response', (response: Response) => {
        const { origin, pathname } = new URL(response.url())
        if (origin === world().url) answers.push(`${response.request().method()} ${pathname} ${response.status()}`)
      })
      await page.evaluate(script)
      await expect.poll(() => answers.length, { timeout: 20_000 }).toBe(count)
      // A form has led to another page.
      const results = count === 0 ? await page.evaluate('window.results') : undefined
      return { answers, results }
    }
    const isGone = async (): Promise<boolean> => {
      const as = await world().signedIn('admin')
      const { body } = await world().ask<{ deleted_at: string | null }>('GET', `/api/users/${gone.id}`, { as })
      return body.deleted_at !== null
    }

    it('lets a page of its own in, whose scripts see no cookie', async () => {
      const page = await context.newPage()
      await page.goto(`${world().url}/api/openapi.json`)
      expect(await page.evaluate(`${send('/api/sessions', { body: '{}' })}.then(({ status }) => status)`)).toBe(200)
      expect(await page.evaluate('document.cookie')).toBe('')
    })

    it.each(sample(['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data']))(
      'refuses a form of %s',
      async (enctype) => {
        const path = `/api/users/${gone.id}/restore`
        const form = JSON.stringify({ method: 'POST', action: world().url + path, enctype })
        const submit = `const form = Object.assign(document.createElement('form'), ${form}); document.body.append(form); setTimeout(() => form.submit())`
        expect((await attack(submit)).answers).toEqual([`POST ${path} 403`])
        expect(await isGone()).toBe(true)
      },
    )

    it('refuses what a script sends without asking', async () => {
      const path = `/api/users/${gone.id}/restore`
      const script = `${send(world().url + path, { mode: 'no-cors', headers: {}, body: '{}' })}`
      expect((await attack(script)).answers).toEqual([`POST ${path} 403`])
      expect(await isGone()).toBe(true)
    })

    it('lets a script neither send what it has to ask for, nor read', async () => {
      const path = `/api/users/${gone.id}`
      const refused = (request: string) => `await ${request}.then(() => 'answered', () => 'refused')`
      const script = `(async () => { window.results = [
        ${refused(send(world().url + path, { method: 'PATCH', body: '{"firstName":"Eve"}' }))},
        ${refused(send(world().url + path, { method: 'DELETE' }))},
        ${refused(send(world().url + '/api/account', { method: 'GET', headers: {} }))},
      ] })()`
      expect(await attack(script, 0)).toEqual({ answers: [], results: ['refused', 'refused', 'refused'] })
      expect(await isGone()).toBe(true)
    })

    it.each(sample([true, false]))('signs nobody in as somebody else, with a cookie: %s', async (cookie) => {
      const eve = await world().signedIn()
      const [before] = await context.cookies(world().url)
      const body = JSON.stringify({ email: eve.email, password: PASSWORD, cookie })
      // A Blob without a type, so that the body has none.
      const options = `{ method: 'POST', mode: 'no-cors', credentials: 'include', body: new Blob([${JSON.stringify(body)}]) }`
      const script = `fetch('${world().url}/api/auth', ${options})`
      expect((await attack(script)).answers).toEqual(['POST /api/auth 403'])
      expect((await context.cookies(world().url))[0]!.value).toBe(before!.value)
    })
  })
})
