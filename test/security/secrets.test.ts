import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { documented } from '../platform/requests.js'
import { endEngines, newFolder } from '../support/engines.js'
import { freePort } from '../support/free-port.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

/** A secret in each slot of the configuration. */
const secrets = {
  // Of no known form.
  OPENAI_API_KEY: 'canary-internal-42',
  ANTHROPIC_API_KEY: 'canary.anthropic.0123456789',
  GEMINI_API_KEY: 'canarygemini0123456789',
  ADMIN_TOKEN: 'canary-admin-token-0123456789',
  METRICS_TOKEN: 'canary-metrics-token-0123456789',
  SESSION_SECRET: 'canary-session-secret-0123456789abcdef',
  BOOTSTRAP_GATEWAY_KEY: 'gw-canary-bootstrap-0123456789',
  ADMIN_PASSWORD: 'canary admin password',
}
/** Of a provider in the store. */
const storedKey = 'sk-canary-of-the-store-0123456789'
/** Parts of URLs. */
const inUrls = [
  'canary-base-url-openai',
  'canary-base-url-anthropic',
  'canary-base-url-gemini',
  'canary-prices',
  'canary-smtp',
]
/** What clients send in places for secrets, and is right nowhere. */
const wrongs = [
  'gw-canary-wrong-key-0123456789',
  'canary wrong password',
  'canary-wrong-cookie',
  'canary-wrong-refresh',
]

describe(`threat 4: secrets, on ${runtime}`, () => {
  let server: Server
  let folder: string
  let fault: ((request: FakeRequest) => FakeAnswer) | undefined
  /** Secrets that answers have told, once. */
  const told: string[] = []
  /** All answers, with the secrets that they are to tell left out. */
  const answers: string[] = []
  const printed: string[] = []
  const closers: (() => Promise<unknown>)[] = []
  const upstreams = {
    openai: fakeOpenAI({ override: (request) => fault?.(request) }),
    anthropic: fakeAnthropic({ override: (request) => fault?.(request) }),
    google: fakeGoogle({ override: (request) => fault?.(request) }),
  }
  const environment: Record<string, string> = { ...secrets, LOG: 'debug' }
  /** The address of OpenAI's fake, without credentials. */
  let address: string

  const start = async (): Promise<void> => {
    server = await startServer({ ...environment, STORAGE: `fs:${folder}` })
  }
  beforeAll(async () => {
    folder = await newFolder()
    const withSecret = (url: string, i: number): string => url.replace('http://', `http://user:${inUrls[i]}@`)
    for (const [i, [name, upstream, path]] of (
      [
        ['OPENAI', upstreams.openai, '/v1'],
        ['ANTHROPIC', upstreams.anthropic, ''],
        ['GEMINI', upstreams.google, '/v1beta'],
      ] as const
    ).entries()) {
      const { url, close } = await upstream.listen()
      closers.push(close)
      if (name === 'OPENAI') address = url + path
      environment[`${name}_BASE_URL`] = withSecret(url, i) + path
    }
    // A mirror of prices that answers nothing of use.
    const mirror = createServer((_, response) => response.writeHead(500).end())
    await once(mirror.listen(0, '127.0.0.1'), 'listening')
    closers.push(async () => mirror.close().closeAllConnections())
    const { port } = mirror.address() as AddressInfo
    environment['PRICES'] = `models.dev:${withSecret(`http://127.0.0.1:${port}/api.json?key=canary-prices`, 3)}`
    // Nobody listens there.
    const SMTP_URL = `smtp://user:${inUrls[4]}@127.0.0.1:${await freePort()}`
    Object.assign(environment, { SMTP_URL, MAIL_FROM: 'no-reply@ai.example', BASE_URL: 'https://ai.example' })
    await start()
  })
  afterAll(async () => {
    await server.stop()
    for (const close of closers) await close()
    await endEngines()
  })

  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const stop = new AbortController()
    const response = await fetch(server.url + path, {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      signal: stop.signal,
    })
    const head = JSON.stringify([...response.headers])
    if (path === '/admin/events') {
      stop.abort()
      return { head, json: {} as Record<string, string> }
    }
    let seen = await response.text()
    let json: Record<string, string> = {}
    if (response.headers.get('content-type')?.includes('application/json') && seen !== '') json = JSON.parse(seen)
    for (const name of ['access_token', 'refresh_token', 'key'])
      if (response.ok && typeof json[name] === 'string') {
        told.push(json[name])
        seen = seen.replaceAll(json[name], '')
      }
    const [cookie] = response.headers.getSetCookie()
    if (cookie) told.push(cookie.split(';')[0]!.split('=')[1]!)
    answers.push(`${method} ${path}: ${seen} ${cookie ? '' : head}`)
    return { head, json, cookie: cookie?.split(';')[0] }
  }
  const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
  const chat = (model: string, more: object = {}) => ({ model, messages: [{ role: 'user', content: 'Hi' }], ...more })

  it('are in no answer, no line of the log and nothing that is stored', async () => {
    const email = 'admin@localhost'
    const signIn = { email, password: secrets.ADMIN_PASSWORD, cookie: true }
    const { json, cookie } = await send('POST', '/api/auth', signIn, { 'sec-fetch-site': 'same-origin' })
    const admin = bearer(json['access_token']!)
    const ada = { email: 'ada@example.org', password: 'canary password of ada', role: 'developer' }
    await send('POST', '/api/users', ada, admin)
    told.push(ada.password)
    const { json: hers } = await send('POST', '/api/auth', { email: ada.email, password: ada.password })
    await send('PUT', '/api/auth', { refresh_token: hers['refresh_token'] })
    const { json: made } = await send('POST', '/api/keys', { name: 'k' }, bearer(hers['access_token']!))
    const credentials: Record<string, string>[] = [
      {},
      admin,
      { cookie: cookie! },
      bearer(secrets.BOOTSTRAP_GATEWAY_KEY),
      bearer(secrets.ADMIN_TOKEN),
      bearer(made['key']!),
      bearer(wrongs[0]!),
      { cookie: `__Host-session=${wrongs[2]}`, 'x-api-key': wrongs[0]!, 'x-goog-api-key': wrongs[0]! },
    ]
    const ours = { type: 'openai', id: 'stored', apiKey: storedKey, baseURL: address, models: ['gpt-4o-mini'] }
    const { json: entry } = await send('POST', '/admin/providers', ours, admin)
    for (const wrong of [
      { apiKey: `${storedKey} ` },
      { apiKey: [storedKey] },
      { baseURL: `http://x:${storedKey}@h` },
    ]) {
      await send('PATCH', `/admin/providers/${entry['entry']}`, wrong, admin)
      await send('POST', '/admin/providers', { ...ours, ...wrong }, admin)
    }
    await send('PATCH', `/admin/providers/${entry['entry']}`, { weight: 2 }, admin)
    await send('POST', '/admin/providers/probe', ours, admin)
    await send('POST', `/admin/providers/${entry['entry']}/probe`, {}, admin)
    // Every route that changes nothing, with each credential.
    for (const route of [...documented('gateway'), ...documented('platform')].filter((it) => it.startsWith('GET ')))
      for (const headers of credentials) {
        const [method, path] = route.replace(/\{\w+\}/, '00000000-0000-7000-8000-000000000001').split(' ')
        await send(method!, path!, undefined, headers)
      }
    for (const password of [wrongs[1]!, secrets.SESSION_SECRET]) await send('POST', '/api/auth', { email, password })
    await send('POST', '/api/auth', `{"email":"${email}","password":"${secrets.ADMIN_PASSWORD}`)
    await send('POST', '/api/auth', { email: wrongs[1], password: { of: secrets.ADMIN_PASSWORD } })
    await send('PUT', '/api/auth', { refresh_token: wrongs[3] })
    await send('POST', '/api/auth/forgotten', { email: ada.email })
    const invited = await send('POST', '/api/invitations', { email: 'grace@example.org' }, admin)
    expect(invited.json['mail']).toBe('failed')

    const faults: ((request: FakeRequest) => FakeAnswer)[] = [400, 401, 404, 429, 500].map((status) => (request) => ({
      status,
      headers: { 'content-type': 'application/json', 'x-key': JSON.stringify(request.headers) },
      body: JSON.stringify({
        error: { message: `Wrong: ${JSON.stringify([request.headers, environment['OPENAI_BASE_URL']])}` },
      }),
    }))
    // And within answers that begin well.
    for (const type of ['application/json', 'text/event-stream'])
      faults.push(({ headers }) => {
        const key =
          headers['authorization']?.slice('Bearer '.length) ?? headers['x-api-key'] ?? headers['x-goog-api-key']
        const body = JSON.stringify({
          type: 'error',
          error: { message: `Wrong: ${key}`, code: 400, type: key, status: key },
        })
        return {
          status: 200,
          headers: { 'content-type': type },
          body: type.endsWith('json') ? body : `data: ${body}\n\n`,
        }
      })
    faults.push(() => ({ status: 200, headers: { 'content-type': 'text/html' }, body: 'no' }))
    faults.push(() => ({ status: 302, headers: { location: environment['OPENAI_BASE_URL']! }, body: '' }))
    for (fault of [undefined, ...faults])
      for (const model of ['openai/gpt-4o-mini', 'stored/gpt-4o-mini', 'claude-sonnet-4-5', 'gemini-2.5-flash'])
        for (const stream of [false, true])
          await send('POST', '/v1/chat/completions', chat(model, { stream }), bearer(secrets.BOOTSTRAP_GATEWAY_KEY))
    for (const key of [wrongs[0]!, secrets.ADMIN_TOKEN, secrets.OPENAI_API_KEY])
      await send('POST', '/v1/chat/completions', chat('gpt-4o-mini'), bearer(key))
    await send('GET', `/v1/models?key=${secrets.BOOTSTRAP_GATEWAY_KEY}`)
    await send('GET', `/${secrets.BOOTSTRAP_GATEWAY_KEY}`)

    const { hostname, port } = new URL(server.url)
    for (const line of [`BREW /${wrongs[0]} HTTP/1.1`, `GET /v1/models HTTP/1.1\r\nauthorization : ${wrongs[0]}`]) {
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      socket.write(`${line}\r\nauthorization: Bearer ${wrongs[0]}\r\n\r\n`)
      answers.push(await text(socket).catch(() => ''))
    }

    // And over a second start on what is stored.
    printed.push(server.output())
    await server.stop()
    await start()
    await send('POST', '/api/auth', { email, password: secrets.ADMIN_PASSWORD })
    await server.stop()
    printed.push(server.output())

    const stored = readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((file) => file.isFile())
      .map((file) => readFileSync(join(file.parentPath, file.name), 'latin1'))
      .join('\n')
    const all = [...Object.values(secrets), storedKey, ...inUrls, ...wrongs, ...told]
    expect(told.length).toBeGreaterThan(8)
    const foundIn = (where: string): string[] => all.filter((secret) => where.includes(secret))
    expect(foundIn(printed.join('\n'))).toEqual([])
    expect(foundIn(stored)).toEqual([])
    // None of theirs is told again, to whomever.
    expect(answers.filter((answer) => foundIn(answer.replace(/^GET \S+/, '')).length > 0)).toEqual([])
    expect(answers.length).toBeGreaterThan(300)

    // What was found is what was looked at.
    const hash = createHash('sha256').update(secrets.BOOTSTRAP_GATEWAY_KEY).digest('hex')
    expect([stored.includes(hash), stored.includes(email)]).toEqual([true, true])
    expect(printed.join().match(/"msg":"(request|error)"/g)!.length).toBeGreaterThan(300)
    // Keys are sent in headers, and not in URLs, which are logged on the way.
    const sent = Object.values(upstreams).flatMap(({ requests }) => requests)
    expect(sent.filter(({ path }) => /canary|key/.test(path))).toEqual([])
    expect(sent.filter(({ headers }) => JSON.stringify(headers).includes('canary')).length).toBe(sent.length)
    expect(sent.filter(({ headers }) => JSON.stringify(headers).includes(storedKey)).length).toBeGreaterThan(10)
  })
})
