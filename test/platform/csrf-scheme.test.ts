import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import type { World } from './world.js'
import { PASSWORD, startWorld } from './world.js'

const HOST = 'ai.example'

// Browsers of old tell no more than the origin, nor do those of today where a page is without TLS.
describe('threat 18: CSRF by a page of the same host without TLS', () => {
  let world: World
  afterEach(() => world.kill())

  async function statusOf(path: string, body: object, headers: Record<string, string>): Promise<number> {
    const sent = request(world.url + path, {
      method: 'POST',
      agent: false,
      headers: { host: HOST, 'content-type': 'application/json', ...headers },
    })
    sent.end(JSON.stringify(body))
    const [response] = (await once(sent, 'response')) as [IncomingMessage]
    response.resume()
    return response.statusCode!
  }

  /** The statuses of a change by cookie and of a sign-in with one, by pages of two schemes. */
  async function statuses(proto: Record<string, string>): Promise<Record<string, number[]>> {
    const { email } = await world.person()
    const { cookie = '' } = await world.signIn(email, { cookie: true })
    const by = async (from: Record<string, string>): Promise<number[]> => [
      await statusOf('/api/sessions', {}, { cookie, ...proto, ...from }),
      await statusOf('/api/auth', { email, password: PASSWORD, cookie: true }, { ...proto, ...from }),
    ]
    return {
      https: await by({ origin: `https://${HOST}` }),
      http: await by({ origin: `http://${HOST}` }),
      referer: await by({ referer: `http://${HOST}/a/page` }),
    }
  }

  it('is refused where the proxy says that the platform was called over TLS', async () => {
    world = await startWorld('memory', { TRUSTED_HOPS: '1' })
    const refused = [403, 403]
    expect(await statuses({ 'x-forwarded-proto': 'https' })).toEqual({
      https: [200, 200],
      http: refused,
      referer: refused,
    })
    // Not what the client says.
    expect(await statuses({ 'x-forwarded-proto': 'http, https' })).toMatchObject({ https: [200, 200], http: refused })
  })

  it('is refused where the base URL says so', async () => {
    world = await startWorld('memory', { BASE_URL: `https://${HOST}` })
    const refused = [403, 403]
    expect(await statuses({})).toEqual({ https: [200, 200], http: refused, referer: refused })
    expect(await statuses({ 'x-forwarded-proto': 'http' })).toEqual({
      https: [200, 200],
      http: refused,
      referer: refused,
    })
  })

  it('is told from the pages at the base URL, behind a proxy that changes the host', async () => {
    world = await startWorld('memory', { BASE_URL: 'https://console.example', TRUSTED_HOPS: '1' })
    const { email } = await world.person()
    const signIn = (from: Record<string, string>) =>
      statusOf('/api/auth', { email, password: PASSWORD, cookie: true }, { 'x-forwarded-proto': 'https', ...from })
    expect([
      await signIn({ origin: 'https://console.example' }),
      await signIn({ referer: 'https://console.example/console' }),
      await signIn({ origin: `https://${HOST}` }),
      await signIn({ origin: 'http://console.example' }),
      await signIn({ origin: 'https://console.example.evil.test' }),
    ]).toEqual([200, 200, 200, 403, 403])
  })
})
