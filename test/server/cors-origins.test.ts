import type { Server as Site } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startBrowser } from '../support/browser.js'
import { needs, programs } from '../support/needs.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { KEY, startServer } from '../support/server.js'

/** Pages of another origin than the server's. */
async function site(): Promise<{ origin: string; server: Site }> {
  const server = createServer((_, response) =>
    response.setHeader('content-type', 'text/html').end('<title>app</title>'),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server }
}

describe(`CORS_ORIGINS, on ${runtime}`, () => {
  let app: Awaited<ReturnType<typeof site>>
  let other: Awaited<ReturnType<typeof site>>
  let server: Server
  beforeAll(async () => {
    ;[app, other] = await Promise.all([site(), site()])
    server = await startServer({ CORS_ORIGINS: `https://first.example, ${app.origin}` })
  })
  afterAll(async () => {
    app.server.close()
    other.server.close()
    await server.stop()
  })

  const paths = ['/v1/chat/completions', '/api/keys', '/api/gateway/v1/chat/completions']

  it.each(paths)('answers the preflight of %s for the listed origins only', async (path) => {
    const preflight = async (origin: string) => {
      const asked = {
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,content-type',
      }
      const { status, headers } = await fetch(server.url + path, { method: 'OPTIONS', headers: { origin, ...asked } })
      const told = ['origin', 'methods', 'headers', 'credentials'].map((name) =>
        headers.get(`access-control-allow-${name}`),
      )
      return [status, ...told]
    }
    const allowed = (origin: string) => [
      204,
      origin,
      expect.stringContaining('POST'),
      'authorization,content-type',
      null,
    ]
    expect(await preflight(app.origin)).toEqual(allowed(app.origin))
    expect(await preflight('https://first.example')).toEqual(allowed('https://first.example'))
    expect(await preflight(other.origin)).toEqual([204, null, null, null, null])
  })

  describe('in a browser', needs(programs.chromium), () => {
    let browser: Browser
    beforeAll(async () => void (browser = await startBrowser()))
    afterAll(() => browser.close())

    it('lets pages of a listed origin call both surfaces and read the answers, and others not', async () => {
      const ask = async (origin: string) => {
        const page = await browser.newPage()
        await page.goto(origin)
        const told = await page.evaluate(
          async ([url, key]) => {
            const post = async (path: string, headers: Record<string, string>, body: object) => {
              try {
                const response = await fetch(url + path, {
                  method: 'POST',
                  headers: { 'content-type': 'application/json', ...headers },
                  body: JSON.stringify(body),
                })
                return [response.status, response.headers.get('x-ratelimit-limit-requests') !== null]
              } catch (error) {
                return (error as Error).name
              }
            }
            const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
            return [
              await post('/v1/chat/completions', { authorization: `Bearer ${key}` }, chat),
              await post('/api/auth', {}, { email: 'admin@localhost', password: 'the password of the tests' }),
            ]
          },
          [server.url, KEY] as const,
        )
        await page.close()
        return told
      }
      expect(await ask(app.origin)).toEqual([
        [200, true],
        [200, false],
      ])
      expect(await ask(other.origin)).toEqual(['TypeError', 'TypeError'])
    })
  })
})
