// Run by turnpike.test.ts: calls the built package in this process, and prints a line for each case.
import assert from 'node:assert/strict'
import { memoryKV } from '@turnpike/core'
import { operation, route } from '@turnpike/http'
import { turnpike } from 'turnpike'

const KEY = 'gw-a-key-of-the-tests-0123'
const ADMIN = { email: 'admin@localhost', password: 'correct horse' }
const base = {
  store: 'memory',
  admin: { password: ADMIN.password, key: KEY },
  platform: { passwordCost: 8 },
  providers: [{ type: 'openai', simulated: true }],
}
const silent = { onError: () => undefined }

const call = (app, path, token, body) =>
  app.fetch(
    new Request(`http://localhost${path}`, {
      method: body ? 'POST' : 'GET',
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      ...(body && { body: JSON.stringify(body) }),
    }),
  )
const chat = async (app) =>
  (await call(app, '/v1/chat/completions', KEY, { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }))
    .status
const signIn = async (app) => (await (await call(app, '/api/auth', undefined, ADMIN)).json()).access_token

const cases = {
  async 'serves the gateway, the platform and the pages'(start) {
    const app = await start()
    assert.equal(await chat(app), 200)
    assert.equal((await call(app, '/api/account', await signIn(app))).status, 200)
    for (const path of ['/', '/admin', '/console', '/docs', '/health', '/v1/openapi.json', '/api/openapi.json'])
      assert.deepEqual([path, (await call(app, path)).status], [path, 200])
    assert.deepEqual([app.current.simulated, app.firstKey], [true, undefined])
  },

  async 'has routes of a file of code, and tells it of finished requests'(start) {
    const told = []
    const own = (path) => [
      () => [route('GET', path, operation({ id: 'own', summary: 'Own.', access: 'open', run: () => 'own' }))],
    ]
    const app = await start({
      ...base,
      gateway: { routes: own('/v1/own') },
      platform: { ...base.platform, routes: own('/api/own'), onRequest: ({ route }) => told.push(route) },
    })
    for (const path of ['/v1/own', '/api/own']) assert.equal(await (await call(app, path)).json(), 'own')
    assert.deepEqual(told, ['/api/own'])
  },

  async 'waits for the body of a request as long as it says'(start) {
    const app = await start({ ...base, server: { bodyIdleMs: 50 } })
    const body = new ReadableStream({ pull: () => new Promise(() => undefined) })
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${KEY}` }
    const request = new Request('http://localhost/v1/embeddings', { method: 'POST', headers, body, duplex: 'half' })
    assert.equal((await app.fetch(request)).status, 408)
  },

  async 'has the console for browsers at its address, and what it is for programs'(start) {
    const app = await start()
    const first = (accept) => app.fetch(new Request('http://localhost/', { headers: { accept } }))
    const page = await (await call(app, '/console')).text()
    assert.equal(await (await first('text/html,application/xhtml+xml,*/*;q=0.8')).text(), page)
    for (const accept of ['*/*', 'application/json', 'application/json, text/html;q=0.5'])
      assert.equal((await (await first(accept)).json()).name, 'turnpike')
  },

  async 'makes and prints the administrator and the first key where none are given'(start) {
    const { log } = console
    const said = []
    console.log = (text) => said.push(text)
    const app = await start({ admin: {} }).finally(() => (console.log = log))
    assert.match(app.firstKey, /^gw-/)
    assert.ok(said.join().includes(app.firstKey))
    assert.ok(said.join().includes('admin@localhost'))
  },

  async 'takes a store that is open, and leaves it open'() {
    const kv = await memoryKV()
    const app = await turnpike({ ...base, store: { kv }, files: { store: 'memory' } })
    assert.equal(await chat(app), 200)
    await app.close()
    assert.equal((await kv.health()).ok, true)
  },

  async 'refuses what cannot work, by its name'() {
    for (const [config, fault] of [
      [{ providers: [] }, 'providers must be a list of at least one provider, and not []'],
      [{ providers: undefined }, 'providers is missing: it must be a list of providers'],
      [
        { providers: [{ type: 'openai', simulated: true, disabled: true }] },
        'providers must have one that is not disabled',
      ],
      [{ providers: [{ type: 'openai' }] }, 'providers[0].apiKey is not set'],
      [
        { providers: [{ type: 'vertex', credentials: '/no/such/key.json' }] },
        'providers[0].credentials cannot be read as the key of a service account',
      ],
      [{ gateway: { guards: [{}] } }, 'guards[0].name must be'],
    ])
      await assert.rejects(turnpike({ ...base, ...config }), ({ message }) => {
        assert.ok(message.startsWith(fault), message)
        return true
      })
  },

  async 'has the teams of the configuration'(start) {
    const research = [{ id: 7, name: 'Reader', role: 'Reads', model: null }]
    const app = await start({ platform: { passwordCost: 8, teams: { research } } })
    const teams = await (await call(app, '/api/teams', await signIn(app))).json()
    assert.equal(teams.find(({ type }) => type === 'research').agents[0].name, 'Reader')
    assert.ok(teams.find(({ type }) => type === 'custom').agents.length > 0)
  },

  async 'reports to OpenTelemetry where that is set'(start) {
    assert.equal(await chat(await start({ gateway: { openTelemetry: true } })), 200)
  },

  async 'takes another configuration, keeps the store, and names what waits for another start'(start) {
    const app = await start()
    const before = app.current.gateway
    const no = {
      name: 'no',
      request() {
        throw new Error('no')
      },
    }
    const waiting = await app.reload({
      ...base,
      store: 'fs:elsewhere',
      admin: { token: 'a-token-of-16-characters' },
      gateway: { guards: [no] },
    })
    assert.deepEqual(waiting, ['store'])
    assert.notEqual(app.current.gateway, before)
    // The key is that of the first start, in the same store.
    assert.equal(await chat(app), 500)
    assert.equal((await call(app, '/admin/providers', 'a-token-of-16-characters')).status, 200)
  },

  async 'believes as many proxies as the configuration says, also after a reload'(start) {
    const withHops = (trustedHops) => ({
      ...base,
      server: { trustedHops },
      platform: { ...base.platform, apiRateLimits: { address: 3 } },
    })
    const app = await start(withHops(1))
    const statuses = () =>
      Promise.all(
        Array.from({ length: 5 }, async (_, i) => {
          const headers = { 'x-forwarded-for': `9.0.0.${i}` }
          const request = new Request('http://localhost/api/account', { headers })
          return (await app.fetch(request, { ip: '10.0.0.1' })).status
        }),
      )
    assert.deepEqual(await statuses(), [401, 401, 401, 401, 401])
    assert.deepEqual(await app.reload(withHops(0)), [])
    assert.deepEqual(await statuses(), [401, 401, 401, 429, 429])
  },

  async 'changes nothing where another configuration is wrong'(start) {
    const app = await start()
    const before = app.current
    await assert.rejects(
      app.reload({ ...base, gateway: { maxInFlight: 0 } }),
      /^ConfigError: gateway.maxInFlight must be/,
    )
    await assert.rejects(app.reload({ ...base, prices: '/no/such/file' }), /prices must be .* the path of a table/)
    assert.equal(app.current, before)
    assert.equal(await chat(app), 200)
  },

  async 'counts on: the requests of a minute go over to another configuration'(start) {
    const app = await start({ admin: { ...base.admin, keyRateLimit: 2 } })
    assert.equal(await chat(app), 200)
    await app.reload(base)
    assert.deepEqual([await chat(app), await chat(app)], [200, 429])
  },
}

for (const [name, run] of Object.entries(cases)) {
  const apps = []
  try {
    await run(async (more = {}) => {
      const app = await turnpike({ ...base, ...more }, silent)
      apps.push(app)
      return app
    })
    console.log(`ok ${name}`)
  } catch (error) {
    console.log(`not ok ${name}: ${error.stack}`)
  }
  for (const app of apps) await app.close()
}
process.exit()
