import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endEngines, newFolder } from '../support/engines.js'
import type { NamedUpstream } from '../support/named-upstream.js'
import { namedUpstream } from '../support/named-upstream.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const PASSWORD = 'the password of the tests'
const KEY = 'key-a'

let server: Server
let folder: string
let token: string
let a: NamedUpstream
beforeAll(async () => {
  folder = await newFolder()
  a = await namedUpstream('a')
  server = await startServer({ STORAGE: `fs:${folder}`, SESSION_SECRET: 's'.repeat(40), LOG: 'debug' })
  const response = await fetch(`${server.url}/api/auth`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'admin@localhost', password: PASSWORD }),
  })
  token = ((await response.json()) as { access_token: string }).access_token
})
afterAll(async () => {
  await server.stop()
  a.server.close()
  a.server.closeAllConnections()
  await endEngines()
})

async function ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const response = await fetch(server.url + path, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = (text === '' ? {} : JSON.parse(text)) as { entry?: string; error?: { message: string } }
  return { status: response.status, text, json, message: json.error?.message }
}
const settings = () => ({ type: 'openai', id: 'a', apiKey: KEY, baseURL: a.url, models: ['m'] })
const add = async (more: object = {}): Promise<string> =>
  (await ask('POST', '/admin/providers', { ...settings(), ...more })).json.entry!

describe(`threat 77: the key of a stored provider, on ${runtime}`, () => {
  it('threat 77: is not sent to another address by a change, and not sent anywhere by a refused one', async () => {
    const thief = await namedUpstream('thief')
    const entry = await add()
    let stolen = 0
    thief.server.on('request', () => stolen++)
    for (const change of [
      { baseURL: thief.url },
      { baseURL: thief.url, disabled: true },
      { baseURL: null },
      { type: 'ollama' },
      { type: 'groq', baseURL: thief.url, apiKey: undefined },
      // Some proxies go where a header says.
      { headers: { 'x-portkey-custom-host': thief.url } },
    ]) {
      const { status, message } = await ask('PATCH', `/admin/providers/${entry}`, change)
      expect([status, message]).toEqual([400, expect.stringContaining('apiKey must be given again')])
    }
    await ask('POST', `/admin/providers/${entry}/probe`)
    expect(stolen).toBe(0)
    // With another key it may go elsewhere; without a key there is nothing to keep.
    const moved = await ask('PATCH', `/admin/providers/${entry}`, { baseURL: thief.url, apiKey: 'key-thief' })
    expect([moved.status, (await ask('POST', `/admin/providers/${entry}/probe`)).json]).toMatchObject([
      200,
      { ok: true },
    ])
    const open = (await ask('POST', '/admin/providers', { type: 'ollama', baseURL: a.url })).json.entry!
    expect((await ask('PATCH', `/admin/providers/${open}`, { baseURL: thief.url })).status).toBe(200)
    for (const one of [entry, open]) await ask('DELETE', `/admin/providers/${one}`)
    thief.server.close()
    thief.server.closeAllConnections()
  })

  it('threat 77: is told by no answer, and of long ones four characters; faults do not repeat it', async () => {
    const long = 'sk-0123456789-0123456789-WXYZ'
    const slots: [settings: object, secrets: string[]][] = [
      [{ type: 'groq', apiKey: 'gsk_short-canary' }, ['gsk_short-canary', 'nary']],
      [{ type: 'azure', baseURL: a.url, token: 'canary-azure-token' }, ['canary-azure-token']],
      [
        {
          type: 'bedrock',
          region: 'us-east-1',
          credentials: { accessKeyId: 'canary-id', secretAccessKey: 'canary-secret', sessionToken: 'canary-session' },
        },
        ['canary-id', 'canary-secret', 'canary-session'],
      ],
      [{ type: 'groq', apiKey: long }, [long, long.slice(0, -4)]],
      [{ type: 'groq', apiKey: 'canary with spaces' }, ['canary with']],
      [{ type: 'groq', apiKey: ['canary-list'] }, ['canary-list']],
      [{ type: 'vertex', credentials: '{"private_key":"canary-pem"' }, ['canary-pem']],
      [{ type: 'nothing', apiKey: 'canary-nothing' }, ['canary-nothing']],
      [{ type: 'openai', apiKey: 'x', baseURL: 'http://u:canary-url@h' }, ['canary-url']],
    ]
    const seen: string[] = []
    for (const [body] of slots) {
      const { text, json } = await ask('POST', '/admin/providers', body)
      seen.push(text, (await ask('POST', '/admin/providers/probe', body)).text)
      if (json.entry === undefined) continue
      for (const [method, path] of [
        ['GET', '/admin/providers'],
        ['PATCH', `/admin/providers/${json.entry}`],
        ['POST', `/admin/providers/${json.entry}/probe`],
        ['DELETE', `/admin/providers/${json.entry}`],
        ['GET', '/admin/audit'],
        ['GET', '/admin/pricing'],
      ])
        seen.push((await ask(method!, path!, method === 'PATCH' ? { weight: 2 } : undefined)).text)
    }
    expect(seen.length).toBeGreaterThan(30)
    expect(seen.join()).toContain('"key_end":"WXYZ"')
    const stored = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
    expect(stored.join()).toContain('provider.create')
    for (const where of [seen.join('\n'), server.output(), stored.join('\n')])
      expect(slots.flatMap(([, secrets]) => secrets).filter((secret) => where.includes(secret))).toEqual([])
  })
})

describe(`threat 78: what providers in the store reach, on ${runtime}`, () => {
  it('threat 78: no file and no variable of the server', async () => {
    const path = '/etc/hostname'
    const { status, message } = await ask('POST', '/admin/providers', { type: 'vertex', credentials: path })
    expect([status, message]).toEqual([400, expect.stringContaining('not the path of its file')])
    let sent: string | undefined
    a.server.once('request', ({ headers }: { headers: Record<string, string> }) => (sent = headers['authorization']))
    await ask('POST', '/admin/providers/probe', { ...settings(), apiKey: '${SESSION_SECRET}' })
    expect(sent).toBe('Bearer ${SESSION_SECRET}')
  })

  it('threat 78: nothing for others than administrators, and for pages of other sites', async () => {
    const entry = await add()
    const routes: [method: string, path: string, body?: object][] = [
      ['POST', '/admin/providers', settings()],
      ['POST', '/admin/providers/probe', settings()],
      ['PATCH', `/admin/providers/${entry}`, { weight: 2 }],
      ['PUT', '/admin/groups/g', { models: ['m'] }],
      ['PUT', '/admin/prices/a/m', { input: 0 }],
      ['DELETE', '/admin/groups/g'],
      ['DELETE', '/admin/prices/a/m'],
      ['DELETE', `/admin/providers/${entry}`],
    ]
    const signIn = await fetch(`${server.url}/api/auth`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
      body: JSON.stringify({ email: 'admin@localhost', password: PASSWORD, cookie: true }),
    })
    const [session] = signIn.headers.getSetCookie().map((cookie) => cookie.split(';', 1)[0]!)
    const as = async (headers: Record<string, string>) =>
      Promise.all(
        routes.map(async ([method, path, body]) => {
          const response = await fetch(server.url + path, {
            method,
            headers: { 'content-type': 'application/json', ...headers },
            ...(body && { body: JSON.stringify(body) }),
          })
          return response.status
        }),
      )
    const refused = (status: number) => Array(routes.length).fill(status)
    for (const from of [{ 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }, {}])
      expect(await as({ cookie: session!, ...from })).toEqual(refused(403))
    expect(await as({})).toEqual(refused(401))
    expect((await ask('GET', '/admin/providers')).text).toContain(entry)
    // One after the other: the last ones remove what the first ones made.
    const own = { cookie: session!, 'sec-fetch-site': 'same-origin', authorization: '' }
    for (const [method, path, body] of routes) {
      const { authorization: _, ...headers } = { ...own, 'content-type': 'application/json' }
      const response = await fetch(server.url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
      expect([method, path, response.status]).toEqual([method, path, method === 'DELETE' ? 204 : 200])
    }
  })

  it('threat 78: no full store, no large entry and no error of the server, whatever a body has', async () => {
    const large = { ...settings(), models: Array(10_000).fill('a-model') }
    expect((await ask('POST', '/admin/providers', large)).status).toBe(413)
    const entry = await add({ models: Array(4_000).fill('a-model') })
    const more = { thinkTags: true, id: 'x'.repeat(40_000) }
    expect((await ask('PATCH', `/admin/providers/${entry}`, more)).message).toContain('65536 bytes at most')
    for (const [method, path] of [
      ['POST', '/admin/providers'],
      ['POST', '/admin/providers/probe'],
      ['PATCH', `/admin/providers/${entry}`],
      ['PUT', '/admin/groups/g'],
      ['PUT', '/admin/prices/a/m'],
    ] as const)
      for (const body of [
        [],
        null,
        'x',
        { type: 1 },
        { type: 'openai', models: { a: 1 } },
        { type: 'openai', apiKey: { a: 1 }, weight: 'NaN' },
        { type: 'bedrock', region: 'x', credentials: [] },
        { type: 'vertex', credentials: {} },
        { type: 'azure', apiKey: 'k', baseURL: 'http://h', deployments: { a: 1 } },
        { type: 'openai', apiKey: 'k', id: 'auto' },
        { type: 'openai', apiKey: 'k', id: 'a/b' },
        { models: 1 },
        { models: [1] },
        { models: [{ model: 'm' }] },
        { models: ['m'], retries: -1 },
        { input: 'x' },
        { input: 1e9 },
        { tiers: [] },
        JSON.parse('{"__proto__":{"type":"openai"},"constructor":1}') as object,
      ])
        expect([method, path, body, (await ask(method, path, body)).status]).toEqual([method, path, body, 400])
    for (const name of ['__proto__', 'constructor', 'a%20b', 'x'.repeat(300), '%00'])
      expect([name, (await ask('PUT', `/admin/groups/${name}`, { models: ['m'] })).status]).toEqual([name, 400])
    for (const name of ['m', 'x'.repeat(300), `a/${'x'.repeat(300)}`, '%2Fm', 'a/%00'])
      expect([name, (await ask('PUT', `/admin/prices/${name}`, { input: 1 })).status]).toEqual([name, 400])
    await ask('DELETE', `/admin/providers/${entry}`)

    const statuses = new Set<number>()
    for (let i = 0; i <= 100; i++) statuses.add((await ask('PUT', `/admin/groups/g${i}`, { models: ['m'] })).status)
    expect([...statuses]).toEqual([200, 400])
    expect((await ask('PUT', '/admin/groups/g0', { models: ['n'] })).status).toBe(200)
    expect((await ask('PUT', '/admin/groups/more', { models: ['n'] })).message).toContain('has 100 groups already')
  })
})
