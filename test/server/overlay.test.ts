import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest'
import { endEngines, engines, newFolder } from '../support/engines.js'
import type { NamedUpstream } from '../support/named-upstream.js'
import { namedUpstream } from '../support/named-upstream.js'
import { needs } from '../support/needs.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

interface Listed {
  id: string
  source: string
  status: string
  breaker: string
  entry?: string
  fault?: string
  weight?: number
}

const TOKEN = 'an-admin-token-0123456789'
const SECRETS = ['a secret of at least 32 characters', 'b secret of at least 32 characters'] as const

/** What an administrator and a caller do at a server. */
function at({ url, key }: Server) {
  const ask = async <T = Record<string, unknown>>(method: string, path: string, body?: object, token = TOKEN) => {
    const response = await fetch(url + path, {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: (text === '' ? undefined : JSON.parse(text)) as T }
  }
  const send = (body: object = {}) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-explain': 'true' },
      body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...body }),
    })
  return {
    ask,
    send,
    add: async (settings: object): Promise<string> => {
      const { status, body } = await ask<{ entry: string }>('POST', '/admin/providers', settings)
      expect([status, body]).toEqual([200, expect.anything()])
      return body.entry
    },
    listed: async () => (await ask<{ providers: Listed[] }>('GET', '/admin/providers')).body.providers,
    /** Who answers a chat; the status where nobody does. */
    served: async (model = 'm'): Promise<string | number> => {
      const response = await send({ model })
      const { choices } = (await response.json()) as { choices?: { message: { content: string } }[] }
      return choices?.[0]?.message.content ?? response.status
    },
    /** What the gateway says that a chat cost; 0 where the price is not known. */
    cost: async (): Promise<string | null> => {
      const response = await send()
      await response.text()
      return response.headers.get('x-gateway-cost')
    },
  }
}

const settingsOf = ({ name, url }: NamedUpstream) => ({
  type: 'openai',
  id: name,
  apiKey: `key-${name}`,
  baseURL: url,
  models: ['m'],
})

let a: NamedUpstream
let b: NamedUpstream
let servers: Server[] = []
const start = async (env: Record<string, string> = {}) => {
  const server = await startServer({ ADMIN_TOKEN: TOKEN, SESSION_SECRET: SECRETS[0], ...env })
  servers.push(server)
  return { server, ...at(server) }
}
const stopAll = async () => {
  await Promise.all(servers.map((server) => server.stop()))
  servers = []
}
beforeEach(async () => {
  ;[a, b] = await Promise.all([namedUpstream('a'), namedUpstream('b')])
})
afterEach(async () => {
  for (const { server, finish } of [a, b]) {
    finish()
    server.close()
    server.closeAllConnections()
  }
  await stopAll()
})
afterAll(endEngines)

describe(`what administrators add while the server runs, in memory on ${runtime}`, () => {
  it('is used at once: a provider in place of the simulations, which is changed, disabled and removed', async () => {
    const { add, ask, listed, served } = await start()
    expect((await listed()).map(({ source, status }) => `${source} ${status}`)).toEqual(
      Array(3).fill('environment healthy'),
    )
    const entry = await add(settingsOf(a))
    expect(await listed()).toMatchObject([{ id: 'a', source: 'store', status: 'healthy', entry, has_key: true }])
    expect(await served()).toBe('a')

    const path = `/admin/providers/${entry}`
    expect((await ask('PATCH', path, { weight: 2, disabled: true })).body).toMatchObject({ weight: 2, has_key: true })
    // No simulation answers in place of a real provider.
    expect([await served(), await served('gpt-4o-mini')]).toEqual([400, 400])
    expect(await listed()).toMatchObject([{ id: 'a', status: 'disabled', weight: 2 }])
    expect((await ask('POST', `${path}/probe`)).body).toMatchObject({ ok: true, status: 200 })
    // The audit log has what was changed, and nothing that a body only names.
    await ask('PATCH', path, { disabled: null, weight: null, baseURL: a.url, 'nothing was done': null })
    expect(await served()).toBe('a')
    expect((await listed())[0]).not.toHaveProperty('weight')

    expect((await ask('DELETE', path)).status).toBe(204)
    expect((await ask('DELETE', path)).status).toBe(404)
    expect(await served('gpt-4o-mini')).not.toBe(400)
    const { data } = (await ask<{ data: { action: string; detail?: string }[] }>('GET', '/admin/audit')).body
    expect(data.slice(0, 4).map(({ action, detail }) => [action, detail])).toEqual([
      ['provider.delete', 'a'],
      ['provider.update', 'disabled, weight'],
      ['provider.update', 'weight, disabled'],
      ['provider.create', 'a'],
    ])
  })

  it('stands beside those of a file, which are read-only, and stays when that is read again', async () => {
    const folder = await newFolder()
    const CONFIG = join(folder, 'turnpike.config.json')
    const providers = [
      { ...settingsOf(a), weight: 3, tokensPerMinute: 1_000_000 },
      { ...settingsOf(b), disabled: true },
    ]
    const write = (more: object) => writeFileSync(CONFIG, JSON.stringify({ providers, ...more }))
    write({ routing: { groups: { ours: ['a/m'] } } })
    const { server, add, ask, listed, served } = await start({ CONFIG })
    expect(await listed()).toMatchObject([
      { id: 'a', source: 'file', type: 'openai', weight: 3, tokens_per_minute: 1_000_000, status: 'healthy' },
      { id: 'b', source: 'file', status: 'disabled' },
    ])
    for (const method of ['PATCH', 'DELETE']) {
      const { status, body } = await ask(method, '/admin/providers/a', method === 'PATCH' ? { weight: 1 } : undefined)
      expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining('is changed in its file')])
    }
    const taken = await ask('PUT', '/admin/groups/ours', { models: ['b/m'] })
    expect([taken.status, JSON.stringify(taken.body)]).toEqual([400, expect.stringContaining('which prevails')])

    const entry = await add({ ...settingsOf(b), id: 'c' })
    expect((await ask('PATCH', '/admin/providers/c', {})).body).toMatchObject({
      error: { message: expect.stringContaining(entry) as string },
    })
    await ask('PUT', '/admin/groups/theirs', { models: ['c/m', 'a/m'] })
    expect([await served('ours'), await served('theirs'), await served('c/m')]).toEqual(['a', 'b', 'b'])

    write({ routing: { groups: { theirs: ['a/m'] } } })
    server.process.kill('SIGHUP')
    await expect.poll(() => server.output()).toContain('was read again')
    expect(server.output()).toContain('The group theirs of the store is left out')
    expect([await served('theirs'), await served('c/m')]).toEqual(['a', 'b'])
    const { groups } = (await ask<{ groups: object[] }>('GET', '/admin/groups')).body
    expect(groups).toMatchObject([
      { name: 'theirs', source: 'configuration', models: ['a/m'] },
      { name: 'theirs', source: 'store', fault: expect.any(String) as string },
    ])
    expect((await ask('DELETE', '/admin/groups/theirs')).status).toBe(204)
    expect(await served('theirs')).toBe('a')
  })

  it('is left out where it does not go with the file, which starts all the same', async () => {
    const folder = await newFolder()
    const CONFIG = join(folder, 'turnpike.config.json')
    const write = (aliases: object) =>
      writeFileSync(CONFIG, JSON.stringify({ providers: [{ ...settingsOf(a), aliases }] }))
    write({})
    const { server, add, listed, served } = await start({ CONFIG })
    await add({ ...settingsOf(b), id: 'a', aliases: { fast: 'm' } })
    const other = await add(settingsOf(b))
    write({ fast: 'n' })
    server.process.kill('SIGHUP')
    await expect.poll(() => server.output()).toContain('was read again')
    expect(await listed()).toMatchObject([
      { id: 'a', source: 'file', status: 'healthy' },
      { id: 'a', source: 'store', status: 'broken', fault: expect.stringContaining('alias "fast"') as string },
      { id: 'b', source: 'store', status: 'healthy', entry: other },
    ])
    expect(await served('b/m')).toBe('b')
  })

  it('is a price, by which requests are charged from then on', async () => {
    const { add, ask, cost } = await start()
    await add(settingsOf(a))
    expect(await cost()).toBe('0')
    expect((await ask('PUT', '/admin/prices/a/m', { input: 2, output: 4 })).status).toBe(200)
    expect(Number(await cost())).toBeCloseTo(6e-6, 12)
    const { models } = (await ask<{ models: object[] }>('GET', '/admin/pricing')).body
    expect(models).toMatchObject([{ id: 'm', provider: 'a', input: 2, source: 'store' }])
    for (const [path, body] of [
      ['/admin/prices/m', { input: 1 }],
      ['/admin/prices/a/m', { inputs: 1 }],
      ['/admin/prices/a/m', {}],
    ] as const)
      expect((await ask('PUT', path, body)).status).toBe(400)
    expect((await ask('DELETE', '/admin/prices/a/m')).status).toBe(204)
    expect(await cost()).toBe('0')
  })

  it('leaves a request that runs on the provider that it began with, and the health of others as it is', async () => {
    const { add, ask, listed, send, served } = await start({ LOG: 'silent' })
    const entry = await add(settingsOf(a))
    await add({ ...settingsOf(b), apiKey: 'wrong', models: ['n'] })
    for (let i = 0; i < 5; i++) await served('n')
    expect((await listed()).map(({ breaker }) => breaker)).toEqual(['closed', 'open'])
    const stream = await send({ stream: true })
    await ask('DELETE', `/admin/providers/${entry}`)
    await ask('PUT', '/admin/prices/b/n', { input: 1 })
    expect(await listed()).toMatchObject([{ id: 'b', breaker: 'open' }])
    expect(await served()).not.toBe('a')
    a.finish()
    const text = await stream.text()
    expect(text).toContain('"content":"a"')
    expect(text).toMatch(/data: \[DONE\]\s*$/)
  })
})

describe('what cannot be decrypted', () => {
  it('is left out, told once and shown; with both secrets it is read, and encrypted anew', async () => {
    const STORAGE = `fs:${await newFolder()}`
    const first = await start({ STORAGE })
    const entry = await first.add(settingsOf(a))
    await stopAll()

    const other = await start({ STORAGE, SESSION_SECRET: SECRETS[1] })
    const left = `The provider a (${entry}) of the store is left out`
    expect(await other.listed()).toMatchObject([
      { id: 'a', status: 'broken', entry, fault: expect.any(String) as string },
    ])
    await other.ask('PUT', '/admin/prices/a/m', { input: 1 })
    other.server.process.kill('SIGHUP')
    await expect.poll(() => other.server.output()).toContain('was read again')
    expect(other.server.output().split(left)).toHaveLength(2)
    expect(await other.served()).toBe(400)
    expect((await other.ask('PATCH', `/admin/providers/${entry}`, { weight: 1 })).status).toBe(400)
    await stopAll()

    const both = await start({ STORAGE, SESSION_SECRET: [SECRETS[1], SECRETS[0]].join() })
    expect(await both.served()).toBe('a')
    await stopAll()
    const last = await start({ STORAGE, SESSION_SECRET: SECRETS[1] })
    expect(await last.served()).toBe('a')
  })
})

const shared = engines.filter(({ name }) => name === 'redis' || name === 'postgres')
describe.each(shared)('two processes on $name', ({ needed, create }) => {
  it('follow each other, also after one was killed', { ...needs(...needed), timeout: 120_000 }, async () => {
    const STORAGE = await create()
    const FILES = 'memory'
    const [one, other] = [await start({ STORAGE, FILES }), await start({ STORAGE, FILES })]
    // It is five seconds on a machine that has time.
    const inTime = { timeout: 20_000, interval: 100 }
    const entry = await one.add(settingsOf(a))
    expect(await one.served()).toBe('a')
    await expect.poll(() => other.served(), inTime).toBe('a')
    await other.ask('PUT', '/admin/groups/fast', { models: ['m'] })
    await expect.poll(() => one.served('fast'), inTime).toBe('a')

    // Two administrators at once: none of their changes is lost.
    const changes = await Promise.all(
      Array.from({ length: 10 }, (_, i) => (i % 2 ? one : other).ask('PUT', `/admin/prices/a/m${i}`, { input: i + 1 })),
    )
    expect(changes.map(({ status }) => status)).toEqual(Array(10).fill(200))
    const prices = async (of: typeof one) => (await of.ask<{ prices: object[] }>('GET', '/admin/prices')).body.prices
    for (const of of [one, other]) await expect.poll(async () => (await prices(of)).length, inTime).toBe(10)

    // Killed in the middle of changes: each is there as a whole, with its record, or not at all.
    const dying = Array.from({ length: 20 }, (_, i) =>
      one.ask('POST', '/admin/providers', { ...settingsOf(b), id: `b${i}` }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    await Promise.race(dying)
    one.server.process.kill('SIGKILL')
    const acknowledged = (await Promise.all(dying)).filter((status) => status === 200).length
    servers = servers.filter((server) => server !== one.server)
    const audited = async () =>
      (await other.ask<{ data: { action: string }[] }>('GET', '/admin/audit?limit=500')).body.data.filter(
        ({ action }) => action === 'provider.create',
      ).length
    const count = await audited()
    expect(count).toBeGreaterThanOrEqual(acknowledged + 1)
    await expect.poll(async () => (await other.listed()).length, inTime).toBe(count)
    for (const { id } of (await other.listed()).slice(1)) expect(await other.served(`${id}/m`)).toBe('b')

    await other.ask('DELETE', `/admin/providers/${entry}`)
    const third = await start({ STORAGE, FILES })
    expect((await third.listed()).map(({ id }) => id)).toEqual((await other.listed()).map(({ id }) => id))
  })
})
