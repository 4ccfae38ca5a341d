import { expect, it } from 'vitest'
import type { World } from './world.js'
import { worldSuite } from './world.js'

/** platform.md 2.3, items 44 to 51 and 65: what the platform relies on of the gateway. */
worldSuite('endpoints and models of the gateway', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  let made: Promise<string> | undefined
  const newKey = async () => (await world().newKey(await world().signedIn('developer'), { name: 'k' })).body.key!
  /** A gateway key. */
  const key = () => (made ??= newKey())

  it('#44 tells its name, version, description and endpoints', async () => {
    const { body } = await ask('GET', '/')
    expect(body).toEqual({
      name: expect.any(String) as string,
      version: '1.0.0',
      description: expect.any(String) as string,
      endpoints: expect.any(Object) as object,
    })
    const { endpoints } = body as { endpoints: Record<string, string> }
    for (const endpoint of Object.values(endpoints)) expect(endpoint).toMatch(/^(GET|POST|PATCH|PUT|DELETE) \/\S*$/)
  })

  it('#45 has every endpoint that it lists', async () => {
    const { body } = await ask<{ endpoints: Record<string, string> }>('GET', '/')
    expect(Object.keys(body.endpoints).length).toBeGreaterThan(10)
    for (const endpoint of Object.values(body.endpoints)) {
      const [method, path] = endpoint.split(' ') as [string, string]
      const { status } = await ask(method, path.replaceAll(/\{\w+\+?\}/g, 'x'))
      expect([endpoint, [404, 405].includes(status)]).toEqual([endpoint, false])
    }
  })

  it('#46 lists no Responses or Assistants API', async () => {
    const { body } = await ask<{ endpoints: Record<string, string> }>('GET', '/')
    expect(JSON.stringify(body.endpoints)).not.toMatch(/responses|assistants|threads/i)
  })

  it('#47 lists models', async () => {
    const { body } = await ask<{ object: string; data: object[] }>('GET', '/v1/models', { as: await key() })
    expect(body.object).toBe('list')
    expect(body.data.length).toBeGreaterThan(5)
    for (const model of body.data)
      expect(model).toMatchObject({
        id: expect.any(String) as string,
        object: 'model',
        provider: expect.any(String) as string,
        capabilities: expect.arrayContaining([expect.any(String)]) as string[],
      })
  })

  it('#48 lists the models of a provider', async () => {
    const as = await key()
    const { data } = (await ask<{ data: { provider: string }[] }>('GET', '/v1/models', { as })).body
    const ofOpenai = data.filter(({ provider }) => provider === 'openai')
    expect(ofOpenai.length).toBeGreaterThan(5)
    expect((await ask('GET', '/v1/models?provider=openai', { as })).body).toEqual({
      object: 'list',
      data: ofOpenai,
    })
  })

  it('#49 lists nothing for an unknown provider', async () => {
    const { status, body } = await ask('GET', '/v1/models?provider=nobody', { as: await key() })
    expect([status, body]).toEqual([200, { object: 'list', data: [] }])
  })

  it('#50 finds a model whose id has a slash', async () => {
    const as = await key()
    for (const id of ['openai%2Fgpt-4o-mini', 'openai/gpt-4o-mini'])
      expect((await ask('GET', `/v1/models/${id}`, { as })).body).toMatchObject({
        object: 'model',
        provider: 'openai',
      })
  })

  it('#51 has no unknown model', async () => {
    const { status, body } = await ask('GET', '/v1/models/no-such-model', { as: await key() })
    expect([status, body]).toMatchObject([404, { error: { type: 'not_found_error' } }])
  })

  it('#65 has no Responses API', async () => {
    const as = await key()
    for (const path of ['/v1/responses', '/v1/assistants', '/v1/threads'])
      expect((await ask('POST', path, { as, body: { model: 'gpt-4o-mini', input: 'Hi' } })).status).toBe(404)
  })
})
