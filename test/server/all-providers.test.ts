import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { documented } from '../platform/requests.js'
import type { AllProviders } from '../support/all-providers.js'
import { CONFIG, COST_CENTRE, credentials, privateKeyPem, startAllProviders } from '../support/all-providers.js'
import { runtime, runtimePath } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

type Name = keyof AllProviders['upstreams'] | 'ollama'

/** What each provider has. */
const models: [provider: Name, chat: string[], embeddings: string[]][] = [
  ['openai', ['gpt-4o-mini'], ['text-embedding-3-small']],
  ['azure', ['gpt-4o-mini'], ['text-embedding-3-small']],
  ['azure-dated', ['gpt-4o-mini'], ['text-embedding-3-small']],
  ['vertex', ['gemini-2.5-flash', 'claude-sonnet-4-5@20250929'], ['text-embedding-005']],
  ['bedrock', ['us.anthropic.claude-sonnet-4-5-20250929-v1:0', 'openai.gpt-oss-120b-1:0'], []],
  ['bedrock-eu', ['claude-sonnet-4-5'], []],
  ['openrouter', ['meta-llama/llama-3.3-70b-instruct'], ['qwen/qwen3-embedding-8b']],
  ['ollama', ['qwen3:8b'], ['nomic-embed-text:latest']],
  ['vllm', ['Qwen/Qwen3-8B'], ['BAAI/bge-m3']],
]
const chats = models.flatMap(([provider, ids]) => ids.map((model) => ({ provider, model })))
const embeddings = models.flatMap(([provider, , ids]) => ids.map((model) => ({ provider, model })))

const messages = [{ role: 'user', content: 'Hi' }]
const lookup = {
  type: 'function',
  function: { name: 'lookup', parameters: { type: 'object', properties: { word: { type: 'string' } } } },
}

interface Message {
  content: string | null
  tool_calls?: { function: { name: string; arguments: string } }[]
}
interface Answer {
  choices: { message: Message; finish_reason: string }[]
  usage: { total_tokens: number }
}

/** Sends requests to a server as a client does. */
function clientOf({ url, key }: Server) {
  const send = (path: string, body?: object): Promise<Response> =>
    fetch(url + path, {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-explain': 'true' },
      ...(body && { body: JSON.stringify(body) }),
    })
  const chat = (model: string, more: object = {}) => send('/v1/chat/completions', { model, messages, ...more })
  return { send, chat }
}

/** The texts of the pieces of a stream. */
const textOf = (events: string): string =>
  [...events.matchAll(/^data: (\{.*)$/gm)]
    .map(([, data]) => (JSON.parse(data!) as { choices: { delta: Message }[] }).choices[0]?.delta.content ?? '')
    .join('')

/** The queries of routes that need one. */
const queries: Record<string, string> = { '/admin/usage': '?by=user', '/admin/usage/hours': '?by=user&id=a' }
/** The routes that read what the administration sees. One failed request is as it is in their list. */
const reads = documented('gateway').flatMap((route) => {
  const path = /^GET (\/admin\/.*)$/.exec(route)?.[1]
  return path === undefined || path.includes('{') ? [] : path + (queries[path] ?? '')
})

/** Runs a program of the server. @returns what it writes */
const run = (name: 'config' | 'storage', args: string[], env: Record<string, string>): Promise<string> =>
  new Promise((resolve, reject) => {
    const script = fileURLToPath(new URL(`../../examples/server/dist/${name}.js`, import.meta.url))
    const { PATH, HOME } = process.env
    execFile(runtimePath(), [script, ...args], { env: { PATH, HOME, ...env } }, (error, stdout, stderr) =>
      error ? reject(error) : resolve(stdout + stderr),
    )
  })

let all: AllProviders
beforeAll(async () => void (all = await startAllProviders()))
afterAll(() => all.close())
beforeEach(() => void (all.fault = undefined))

const serve = (env: Record<string, string> = {}) =>
  startServer({ ...all.env, BOOTSTRAP_GATEWAY_RATE_LIMIT: '1000000', ...env })

/** The requests so far to an upstream, by its key where it has several. */
const callsTo = (name: Exclude<Name, 'ollama'>, key = ''): number =>
  all.upstreams[name].requests.filter(
    ({ method, headers }) => method === 'POST' && (headers['authorization'] ?? '').includes(key),
  ).length

describe(`the server with all providers in one file, on ${runtime}`, () => {
  let server: Server
  let client: ReturnType<typeof clientOf>
  beforeAll(async () => {
    server = await serve()
    client = clientOf(server)
  })
  afterAll(() => server.stop())

  it.each(chats)('chats with $model of $provider, whole and streamed', async ({ provider, model }) => {
    const whole = await client.chat(`${provider}/${model}`)
    const { choices, usage } = (await whole.json()) as Answer
    expect([whole.status, whole.headers.get('x-gateway-provider')]).toEqual([200, provider])
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: expect.stringMatching(/\w/) } })
    expect(usage.total_tokens).toBeGreaterThan(0)
    const streamed = await client.chat(`${provider}/${model}`, { stream: true })
    const events = await streamed.text()
    expect([streamed.status, textOf(events)]).toEqual([200, choices[0]!.message.content])
    expect(events).toMatch(/data: \[DONE\]\s*$/)
  })

  it.each(chats)('calls a tool with $model of $provider', async ({ provider, model }) => {
    const tool_choice = { type: 'function', function: { name: 'lookup' } }
    const response = await client.chat(`${provider}/${model}`, { tools: [lookup], tool_choice })
    const { choices } = (await response.json()) as Answer
    expect([response.status, choices?.[0]?.finish_reason]).toEqual([200, 'tool_calls'])
    const [call] = choices[0]!.message.tool_calls!
    expect([call!.function.name, typeof JSON.parse(call!.function.arguments)]).toEqual(['lookup', 'object'])
  })

  it.each(embeddings)('embeds with $model of $provider', async ({ provider, model }) => {
    const response = await client.send('/v1/embeddings', { model: `${provider}/${model}`, input: 'Hi' })
    const { data } = (await response.json()) as { data: { embedding: number[] }[] }
    expect([response.status, response.headers.get('x-gateway-provider')]).toEqual([200, provider])
    expect(data[0]!.embedding.length).toBeGreaterThan(1)
  })

  it('lists what each provider has, and no more', async () => {
    const { data } = (await (await client.send('/v1/models')).json()) as { data: { id: string; provider: string }[] }
    const seen = data.map(({ id, provider }) => `${provider} ${id.replace(`${provider}/`, '')}`)
    const had = models.flatMap(([provider, ...ids]) => ids.flat().map((id) => `${provider} ${id}`))
    // The group shows the provider of its first model.
    expect(seen.toSorted()).toEqual([...had, 'azure mini', 'azure mini-in-europe', 'bedrock claude'].toSorted())
  })

  it.each([
    ['azure', 'mini-in-europe', 'gpt-4o-mini'],
    ['bedrock', 'claude', 'us.anthropic.claude-sonnet-4-5-20250929-v1:0'],
  ])('knows a model of %s as %s, and records it as %s', async (provider, alias, model) => {
    for (const more of [{}, { stream: true }]) {
      const response = await client.chat(alias, more)
      expect([response.status, response.headers.get('x-gateway-provider')]).toEqual([200, provider])
      await response.text()
    }
    const path = '/v1/users/00000000-0000-7000-8000-000000000001/usage?limit=2'
    const { records } = (await (await client.send(path)).json()) as { records: object[] }
    expect(records).toMatchObject([
      { provider, model },
      { provider, model },
    ])
  })

  it('charges the price beside a model of Azure, and sends the header beside it', async () => {
    const response = await client.chat('azure/gpt-4o-mini')
    const { usage } = (await response.json()) as {
      usage: { prompt_tokens: number; completion_tokens: number; cost: number }
    }
    expect(usage.cost).toBeCloseTo((usage.prompt_tokens * 0.165 + usage.completion_tokens * 0.66) / 1e6, 9)
    const posts = all.upstreams.azure.requests.filter(({ method }) => method === 'POST')
    expect(posts.every(({ headers }) => headers['x-cost-centre'] === COST_CENTRE)).toBe(true)
    expect(all.upstreams.openai.requests.some(({ headers }) => 'x-cost-centre' in headers)).toBe(false)
  })

  it('names the provider in the record of each request', async () => {
    for (const { provider, model } of chats) await (await client.chat(`${provider}/${model}`)).text()
    const path = '/v1/users/00000000-0000-7000-8000-000000000001/usage?limit=100'
    const { records } = (await (await client.send(path)).json()) as { records: { provider: string; model: string }[] }
    const seen = new Set(records.map(({ provider, model }) => `${provider} ${model}`))
    for (const { provider, model } of chats) expect(seen).toContain(`${provider} ${model}`)
  })

  it('shares 2,000 requests between the two keys of OpenAI by their weights', async () => {
    const counts = () => [credentials.OPENAI_KEY_ONE, credentials.OPENAI_KEY_TWO].map((key) => callsTo('openai', key))
    const before = counts()
    let left = 2_000
    const statuses = new Set<number>()
    const caller = async (): Promise<void> => {
      while (left-- > 0) {
        const response = await client.chat('openai/gpt-4o-mini', { max_tokens: 1 })
        await response.arrayBuffer()
        statuses.add(response.status)
      }
    }
    await Promise.all(Array.from({ length: 16 }, caller))
    const [one, two] = counts().map((count, i) => count - before[i]!) as [number, number]
    expect([[...statuses], one + two]).toEqual([[200], 2_000])
    expect(Math.abs(one / 2_000 - 0.75)).toBeLessThan(0.05 * 0.75)
    expect(Math.abs(two / 2_000 - 0.25)).toBeLessThan(0.05 * 0.25)
  }, 180_000)
})

it('a deployment at its tokens a minute gets none, and the group goes on without it', async () => {
  const server = await serve({ AZURE_TOKENS_PER_MINUTE: '100' })
  onTestFinished(() => void server.stop())
  const { chat } = clientOf(server)
  const minute = (): number => Math.floor(Date.now() / 60_000)
  const run = async () => {
    const before = callsTo('azure')
    const served = new Set<string | null>()
    for (let i = 0; i < 60; i++) {
      const response = await chat('mini', { max_tokens: 20 })
      await response.arrayBuffer()
      expect(response.status).toBe(200)
      served.add(response.headers.get('x-gateway-provider'))
    }
    const calls = callsTo('azure') - before
    // Nothing is left for one that cannot go elsewhere.
    const alone = await chat('azure/gpt-4o-mini', { max_tokens: 90 })
    return { calls, served, alone, late: callsTo('azure') - before - calls }
  }
  // Again where a minute has ended meanwhile, as another begins with all of its tokens.
  let begun: number
  let seen: Awaited<ReturnType<typeof run>>
  do {
    begun = minute()
    seen = await run()
  } while (minute() !== begun)
  expect([seen.calls > 0, seen.calls < 10]).toEqual([true, true])
  expect([...seen.served].toSorted()).toEqual(expect.arrayContaining(['azure-dated', 'openai']))
  expect([seen.alone.status, seen.late]).toEqual([429, 0])
  expect(Number(seen.alone.headers.get('retry-after'))).toBeGreaterThan(0)
})

describe(`threat 4: credentials of all providers, on ${runtime}`, () => {
  it('are checked: by others, no provider that has one answers', async () => {
    const wrong = Object.fromEntries(Object.entries(credentials).map(([name, value]) => [name, `${value}x`]))
    const server = await serve({ ...wrong, VERTEX_KEY_FILE: all.otherKeyFile })
    onTestFinished(() => void server.stop())
    const { chat } = clientOf(server)
    for (const { provider, model } of chats) {
      const response = await chat(`${provider}/${model}`)
      await response.arrayBuffer()
      expect([provider, model, response.status === 200]).toEqual([provider, model, provider === 'ollama'])
    }
  })

  it('are in no log, answer, printed configuration or dump', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'turnpike-canary-'))
    // No provider rests, so that each error is seen of each.
    const patient = join(folder, 'turnpike.config.yaml')
    writeFileSync(patient, readFileSync(CONFIG, 'utf8').replace(/^routing:$/m, '$&\n  failures: 1000000'))
    const env = {
      ...all.env,
      CONFIG: patient,
      STORAGE: `fs:${join(folder, 'store')}`,
      LOG: 'debug',
      ADMIN_TOKEN: 'canary-admin-token-0123456789',
    }
    const server = await serve(env)
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const answers: string[] = []
    const send = async (path: string, body?: object, key = server.key): Promise<void> => {
      const stop = new AbortController()
      const response = await fetch(server.url + path, {
        method: body ? 'POST' : 'GET',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-gateway-explain': 'true' },
        ...(body && { body: JSON.stringify(body) }),
        signal: stop.signal,
      })
      const head = JSON.stringify([...response.headers])
      // A stream that does not end.
      const text = path === '/admin/events' ? '' : await response.text()
      stop.abort()
      answers.push(`${path} ${response.status} ${head} ${text}`)
    }
    const askAll = async (): Promise<void> => {
      for (const { provider, model } of chats)
        for (const stream of [false, true])
          await send('/v1/chat/completions', { model: `${provider}/${model}`, messages, stream })
      for (const { provider, model } of embeddings)
        await send('/v1/embeddings', { model: `${provider}/${model}`, input: 'Hi' })
      await send('/v1/models')
    }

    // Errors that repeat what was sent: first before there is a token of Google, and then with one.
    const repeat = ({ headers, bytes }: FakeRequest, status: number): FakeAnswer => {
      const key = (headers['api-key'] ?? headers['authorization'] ?? '').replace('Bearer ', '')
      const sent = `Incorrect API key provided: ${key}. ${JSON.stringify([headers, new TextDecoder().decode(bytes)])}`
      return {
        status,
        headers: { 'content-type': 'application/json', 'x-sent': JSON.stringify(headers) },
        body: JSON.stringify({
          error: { message: sent, code: sent, status: sent },
          message: sent,
          error_description: sent,
        }),
      }
    }
    for (const givesTokens of [false, true])
      for (const status of [400, 401, 403, 404, 429, 500, 200]) {
        let repeated = 0
        all.fault = (request) => {
          if (givesTokens && request.path === '/token') return undefined
          if (request.method === 'POST') repeated++
          return repeat(request, status)
        }
        await askAll()
        expect([givesTokens, status, repeated >= 2 * (chats.length - 1) + embeddings.length - 1]).toEqual([
          givesTokens,
          status,
          true,
        ])
      }
    all.fault = undefined
    await askAll()
    const probes = models.map(([provider]) => `/admin/providers/${provider}/probe`)
    for (const path of [...reads, '/health/providers'])
      for (const key of [server.key, env.ADMIN_TOKEN]) await send(path, undefined, key)
    for (const path of probes) await send(path, {}, env.ADMIN_TOKEN)
    await server.stop()

    const printed = await run('config', ['print'], env)
    expect(printed).toContain('type: bedrock')
    const dump = await run('storage', ['export', env.STORAGE], {})
    expect(dump).toContain('azure-dated')

    const sent = Object.values(all.upstreams).flatMap(({ requests }) => requests)
    const tokens = sent.flatMap(({ headers }) => /Bearer (ya29\..+)/.exec(headers['authorization'] ?? '')?.[1] ?? [])
    const assertions = sent.flatMap(({ path, bytes }) =>
      path === '/token' ? new URLSearchParams(new TextDecoder().decode(bytes)).get('assertion')! : [],
    )
    expect([tokens.length > 0, assertions.length > 0]).toEqual([true, true])
    const lines = privateKeyPem.split('\n').filter((line) => line.length > 20 && !line.startsWith('-'))
    const secrets = [...Object.values(credentials), COST_CENTRE, env.ADMIN_TOKEN, ...tokens, ...assertions, ...lines]
    const foundIn = (text: string): string[] => secrets.filter((secret) => text.includes(secret))
    expect(foundIn(server.output())).toEqual([])
    expect(answers.filter((answer) => foundIn(answer).length > 0)).toEqual([])
    expect(foundIn(printed)).toEqual([])
    expect(foundIn(dump)).toEqual([])
    // What was looked at is what would have them.
    for (const path of [...reads, '/health/providers'])
      expect(answers.filter((answer) => answer.startsWith(`${path} 200 `)).length, path).toBeGreaterThan(0)
    expect(server.output().match(/"msg":"(request|error)"/g)!.length).toBeGreaterThan(200)
    expect(answers.length).toBeGreaterThan(200)
  })
})
