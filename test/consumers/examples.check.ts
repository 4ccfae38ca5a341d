import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@turnpike/client'
import { decodeJwt, decodeProtectedHeader, generateKeyPair, SignJWT } from 'jose'
import OpenAI, { AuthenticationError } from 'openai'
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest'
import { postgres, startPostgres } from '../support/postgres.js'
import type { Started } from './started-example.js'
import { startExample } from './started-example.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'turnpike-examples-'))
const clone = join(folder, 'tu\'rn "pike" [1] #2 100% ü (1)')
let example: Started | undefined

beforeAll(() => {
  execFileSync('git', ['clone', '--quiet', root, clone])
})
afterEach(() => example?.stop())
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Lists the models and asks for a whole and a streamed answer, as OpenAI's client does; then with a wrong key. */
async function drive(baseURL: string, apiKey: string): Promise<void> {
  /** How many pieces the body of the last answer came in. */
  let pieces = 0
  const counting: typeof fetch = async (url, init) => {
    const response = await fetch(url, init)
    pieces = 0
    const count = new TransformStream<Uint8Array, Uint8Array>({
      transform(piece, controller) {
        pieces++
        controller.enqueue(piece)
      },
    })
    return new Response(response.body!.pipeThrough(count), response)
  }
  const client = new OpenAI({ baseURL, apiKey, fetch: counting, maxRetries: 0 })
  const ask = { model: 'gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello' }] }
  const answer = 'This is a simulated answer. You said: Hello'

  const ids = (await client.models.list()).data.map(({ id }) => id)
  expect(ids).toContain('gpt-4o-mini')
  const { choices } = await client.chat.completions.create(ask)
  expect(choices[0]!.message.content).toBe(answer)

  let text = ''
  for await (const chunk of await client.chat.completions.create({ ...ask, stream: true }))
    text += chunk.choices[0]?.delta.content ?? ''
  expect(text).toBe(answer)
  // Between two words of the simulated answer are 50 ms.
  expect(pieces).toBeGreaterThan(2)

  const wrong = await client
    .withOptions({ apiKey: 'gw-wrong' })
    .models.list()
    .catch((error: unknown) => error)
  expect(wrong).toBeInstanceOf(AuthenticationError)
  expect(wrong).toMatchObject({ status: 401, type: 'authentication_error', code: 'invalid_api_key' })
}

/** The texts of the files in a folder, at any depth; none where there is no such folder. */
function filesOf(folder: string): string[] {
  if (!existsSync(folder)) return []
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  return entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8'))
}

it.each([
  ['embed-express', '/ai/v1'],
  ['embed-hono', '/v1'],
  ['embed-next', '/v1'],
  ['embed-workers', '/v1'],
])('%s: serves the gateway', async (name, path) => {
  example = await startExample(clone, name, `${path}/models`, 'Gateway key: ')
  await drive(example.url + path, example.printed('Gateway key: '))

  if (name === 'embed-workers') {
    // In a plain Worker, which shares no signals between requests, this fails.
    const health: unknown = await (await fetch(`${example.url}/health`)).json()
    expect(health).toMatchObject({ status: 'ok', simulated: true })
    return
  }
  // The platform, and the application's own pages.
  const platform = createClient({ baseUrl: example.url })
  await platform.signIn({ email: 'admin@localhost', password: example.printed('password ') })
  expect(await platform.get('/api/account')).toMatchObject({ email: 'admin@localhost', role: 'admin' })
  expect((await platform.get('/.well-known/jwks.json')).keys).not.toEqual([])
  expect(await (await fetch(example.url)).text()).toContain('My app')
})

it('own-identity: accepts the tokens of the identity provider, and no others', async () => {
  const { url, printed } = (example = await startExample(clone, 'own-identity', '/api/account', 'Access token: '))
  const token = printed('Access token: ')
  const account = (credential: string): Promise<Response> =>
    fetch(`${url}/api/account`, { headers: { authorization: `Bearer ${credential}` } })
  const accepted = await account(token)
  expect(accepted.status).toBe(200)
  expect(await accepted.json()).toMatchObject({ id: 'auth0|ada', email: 'ada@example.org', role: 'developer' })

  // Everything is right but the key.
  const { privateKey } = await generateKeyPair('RS256')
  const forged = await new SignJWT(decodeJwt(token))
    .setProtectedHeader({ ...decodeProtectedHeader(token), alg: 'RS256' })
    .sign(privateKey)
  for (const wrong of [forged, 'none']) {
    const refused = await account(wrong)
    expect(refused.status).toBe(401)
    expect(await refused.json()).toEqual({ error: expect.stringContaining('Sign in first') as string })
  }

  const client = new OpenAI({ baseURL: `${url}/api/gateway/v1`, apiKey: token, maxRetries: 0 })
  const { choices } = await client.chat.completions.create({
    model: 'gpt-4o-mini',
    messages: [{ role: 'user', content: 'Hello' }],
  })
  expect(choices[0]!.message.content).toBe('This is a simulated answer. You said: Hello')
})

it.skipIf(postgres.isMissing)(
  'embed-own-users: gateway and platform know the customers of the application',
  async () => {
    const database = await startPostgres()
    try {
      vi.stubEnv('DATABASE_URL', database.url)
      const { url } = (example = await startExample(clone, 'embed-own-users', '/', 'My shop: '))
      const ownPage = { 'sec-fetch-site': 'same-origin' }
      const signUp = async (email: string) => {
        const body = new URLSearchParams({ email, password: 'correct horse' })
        const response = await fetch(`${url}/sign-up`, { method: 'POST', body, redirect: 'manual' })
        expect(response.status).toBe(303)
        return response.headers.getSetCookie()[0]!.split(';')[0]!
      }
      const send = async (cookie: string, path: string, body?: object | FormData, headers: object = ownPage) => {
        const isForm = body === undefined || body instanceof FormData
        const response = await fetch(url + path, {
          method: body ? 'POST' : 'GET',
          headers: { cookie, ...headers, ...(!isForm && { 'content-type': 'application/json' }) },
          ...(body && { body: isForm ? body : JSON.stringify(body) }),
        })
        return { status: response.status, body: await response.text() }
      }
      const question = { model: 'gpt-4o', max_tokens: 500, messages: [{ role: 'user', content: 'Hello' }] }
      const ask = (cookie: string) => send(cookie, '/ai/v1/chat/completions', question)

      // The first request makes the user with the budget of the plan, wherever it is sent.
      const [ada, bob] = [await signUp('ada@example.org'), await signUp('bob@example.org')]
      expect(await send(bob, '/api/account')).toMatchObject({
        status: 200,
        body: expect.stringContaining('bob@example.org') as string,
      })
      for (const cookie of [ada, bob]) {
        expect((await ask(cookie)).status).toBe(200)
        // An answer of 500 tokens may cost $0.005, and the plan has $0.01.
        expect(await send(cookie, '/ai/v1/chat/completions', { ...question, max_tokens: 1_000 })).toMatchObject({
          status: 403,
          body: expect.stringContaining('budget_exceeded') as string,
        })
      }

      // A page of another site makes a browser send the cookie.
      const form = new FormData()
      form.append('model', 'whisper-1')
      form.append('file', new Blob(['RIFF']), 'a.wav')
      const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }
      for (const path of ['/ai/v1/audio/transcriptions', '/api/gateway/v1/audio/transcriptions'])
        expect((await send(ada, path, form, foreign)).status).toBe(403)
      expect((await send('shop_session=none', '/ai/v1/models')).status).toBe(401)

      const project = JSON.parse((await send(ada, '/api/projects', { name: 'Website' })).body) as { id: string }
      expect((await send(ada, '/api/tasks', { projectId: project.id, title: 'Headline' })).status).toBe(200)
      expect((await send(bob, `/api/projects/${project.id}`)).status).toBe(404)

      expect((await send(ada, '/usage')).body).toMatch(/plan free[^]*\$0\.0001\d\d of \$0\.010000 this month[^]*gpt-4o/)
      await fetch(`${url}/plan`, { method: 'POST', headers: { cookie: ada } })
      expect((await send(ada, '/ai/v1/chat/completions', { ...question, max_tokens: 1_000 })).status).toBe(200)
    } finally {
      await example?.stop()
      vi.unstubAllEnvs()
      await database.stop()
    }
  },
)

it('task-policy: refuses the changes that it forbids', async () => {
  example = await startExample(clone, 'task-policy', '/api/account', 'password ')
  const platform = createClient({ baseUrl: example.url })
  await platform.signIn({ email: 'admin@localhost', password: example.printed('password ') })
  const { id: projectId } = await platform.post('/api/projects', { body: { name: 'Website' } })
  const { id } = await platform.post('/api/tasks', {
    body: { projectId, title: 'Headline', requiresUserApproval: true },
  })
  const change = (body: object) => platform.patch('/api/tasks/{id}', { params: { id }, body })

  const early = 'This task has to wait for approval first'
  await expect(change({ status: 'done' })).rejects.toMatchObject({ status: 403, message: early })
  expect(await change({ status: 'waiting_approval', draft_output: 'A headline' })).toMatchObject({ output: null })
  expect(await change({ status: 'done', output: 'A headline' })).toMatchObject({ status: 'done' })
  const late = 'A task that is done cannot be changed'
  await expect(change({ output: 'Another' })).rejects.toMatchObject({ status: 403, message: late })
})

it('guards: redacts, refuses, keeps by consent and answers again', async () => {
  const { url, printed } = (example = await startExample(clone, 'guards', '/v1/models', 'Gateway key: '))
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: printed('Gateway key: '), maxRetries: 0 })
  const ask = (content: string, store = false) =>
    client.chat.completions
      .create({ model: 'gpt-4o-mini', store, messages: [{ role: 'user', content }] })
      .withResponse()
  const said = 'This is a simulated answer. You said: '

  const { data, response } = await ask('I am ada@example.org', true)
  expect([data.choices[0]!.message.content, response.headers.get('x-gateway-answered-by')]).toEqual([
    `${said}I am ada@example.org`,
    null,
  ])
  const folder = join(clone, 'examples/guards/.turnpike/kept/blobs/chunk')
  await expect.poll(() => filesOf(folder)).toEqual([expect.stringContaining(`${said}I am <PERSONAL_0>`)])
  const again = await ask('I am bob@example.org')
  expect([again.data.choices[0]!.message.content, again.response.headers.get('x-gateway-answered-by')]).toEqual([
    `${said}I am bob@example.org`,
    'cache',
  ])
  await expect(ask('Say something harmful')).rejects.toMatchObject({ status: 400, code: 'content_filter' })
  expect(filesOf(folder)).toHaveLength(1)
})
