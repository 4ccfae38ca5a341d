import { afterAll, expect, it } from 'vitest'
import { endEngines } from '../support/engines.js'
import type { World } from './world.js'
import { chat, startWorld, worldSuite } from './world.js'

const MINUTE = 60_000

/** platform.md 2.3, items 29 to 43: keys and limits of the gateway. */
worldSuite('keys and limits of the gateway', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const keyOf = async (body: object = { name: 'k' }): Promise<string> =>
    (await world().newKey(await world().signedIn('developer'), body)).body.key!
  const models = async (authorization?: string) =>
    ask<{ error: object }>('GET', '/v1/models', { headers: authorization === undefined ? {} : { authorization } })
  const refused = async (authorization?: string) => {
    const { status, body } = await models(authorization)
    expect([status, body]).toEqual([
      401,
      {
        error: { type: 'authentication_error', message: expect.any(String) as string, code: 'invalid_api_key' },
      },
    ])
  }
  /** Statuses of so many requests, one after another. */
  const statuses = async (key: string, count: number): Promise<number[]> => {
    const all: number[] = []
    for (let i = 0; i < count; i++) all.push((await models(`Bearer ${key}`)).status)
    return all
  }

  it('#29 needs a key', () => refused())
  it('#30 refuses an unknown key', () => refused('Bearer gw-unknown'))
  it('#31 refuses a key without its prefix', async () => refused(`Bearer ${(await keyOf()).slice('gw-'.length)}`))

  it('#32 refuses a revoked key from the next request on', async () => {
    const dev = await world().signedIn('developer')
    const { id, key } = (await world().newKey(dev)).body
    expect((await models(`Bearer ${key}`)).status).toBe(200)
    expect((await ask('DELETE', `/api/keys/${id}`, { as: dev })).status).toBe(204)
    await refused(`Bearer ${key}`)
  })

  it('#33 takes no other scheme', async () => {
    const key = await keyOf()
    for (const scheme of ['Basic', 'Digest', 'Token']) await refused(`${scheme} ${key}`)
    await refused(`Basic ${Buffer.from(`key:${key}`).toString('base64')}`)
    await refused(key)
  })

  it('#34 takes the scheme in lower case', async () => {
    const key = await keyOf()
    for (const scheme of ['bearer', 'BEARER']) expect((await models(`${scheme} ${key}`)).status).toBe(200)
  })

  it('#35 takes no access token for a key', async () =>
    refused(`Bearer ${(await world().signedIn('developer')).access}`))

  it('#36 looks for no key in the query', async () => {
    const key = await keyOf()
    for (const name of ['key', 'api_key', 'access_token', 'authorization'])
      expect((await ask('GET', `/v1/models?${name}=${key}`)).status).toBe(401)
  })

  it('#37 refuses what is over the limit of a key', async () => {
    const key = await keyOf({ name: 'k', rateLimit: 2 })
    expect(await statuses(key, 4)).toEqual([200, 200, 429, 429])
    const { body } = await models(`Bearer ${key}`)
    expect(body.error).toMatchObject({ type: 'rate_limit_error', code: 'rate_limit_exceeded' })
  })

  it('#38 says after how many whole seconds to come again', async () => {
    const key = await keyOf({ name: 'k', rateLimit: 1 })
    await models(`Bearer ${key}`)
    const retryAfter = (await models(`Bearer ${key}`)).headers.get('retry-after')
    expect(retryAfter).toMatch(/^[1-9]\d*$/)
    expect(Number(retryAfter)).toBeLessThanOrEqual(60)
  })

  it('#39 lets a request pass after these seconds', async () => {
    const key = await keyOf({ name: 'k', rateLimit: 1 })
    await models(`Bearer ${key}`)
    const { headers } = await models(`Bearer ${key}`)
    await world().advance(Number(headers.get('retry-after')) * 1_000)
    expect((await models(`Bearer ${key}`)).status).toBe(200)
  })

  it('#40 counts each key by itself', async () => {
    const dev = await world().signedIn('developer')
    const [one, other] = [await world().newKey(dev, { name: 'k', rateLimit: 1 }), await world().newKey(dev)]
    expect(await statuses(one.body.key!, 2)).toEqual([200, 429])
    expect(await statuses(other.body.key!, 1)).toEqual([200])
  })

  it('#41 counts no 401', async () => {
    const key = await keyOf({ name: 'k', rateLimit: 1 })
    for (const wrong of [`Bearer ${key}x`, `Basic ${key}`, `Bearer ${key.slice(0, -1)}`]) await refused(wrong)
    expect(await statuses(key, 2)).toEqual([200, 429])
  })

  it('#42 lets one of 20 requests at once pass where the limit is 1', async () => {
    const key = await keyOf({ name: 'k', rateLimit: 1 })
    for (let i = 0; i < 2; i++) {
      const replies = await Promise.all(Array.from({ length: 20 }, () => models(`Bearer ${key}`)))
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(19).fill(429)])
      await world().advance(MINUTE)
    }
  })

  let open: World | undefined
  afterAll(async () => {
    await open?.kill()
    await endEngines()
  })

  it('#43 shows Retry-After to pages of allowed origins', async () => {
    open ??= await startWorld('memory', { RATE_LIMITER: 'memory', CORS_ORIGIN: 'https://app.example' })
    const { key } = (await open.newKey(await open.signedIn('developer'), { name: 'k', rateLimit: 1 })).body
    const call = (origin: string) =>
      open!.ask('POST', '/v1/chat/completions', { as: key!, body: chat, headers: { origin } })
    expect((await call('https://app.example')).status).toBe(200)
    const { status, headers } = await call('https://app.example')
    expect([status, headers.get('access-control-allow-origin')]).toEqual([429, 'https://app.example'])
    expect(headers.get('access-control-expose-headers')?.toLowerCase()).toContain('retry-after')
    expect(headers.get('retry-after')).toMatch(/^[1-9]\d*$/)
    expect((await call('https://evil.example')).headers.get('access-control-allow-origin')).toBe(null)
  })
})
