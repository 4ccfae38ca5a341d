import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { fakeAnthropic } from '@turnpike/providers/testing'
import { limitedKeys } from '../security/limited-keys.js'
import type { FakeOllama } from '../support/fake-ollama.js'
import { startOllama } from '../support/fake-ollama.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const MODELS = ['llama3.2:latest', 'library/llama3.2:1b', 'hf.co/a/Llama-3.1-8B:Q4', 'nomic-embed-text:latest']
/** What a newcomer sets, and no more. */
const live = (ollama: FakeOllama) => ({ OPENAI_BASE_URL: ollama.url, OPENAI_MODELS: '' })
const folder = mkdtempSync(join(tmpdir(), 'turnpike-local-'))
afterAll(() => rmSync(folder, { recursive: true }))

const clientOf = ({ url, key }: Server): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 })
const idsOf = async (client: OpenAI) => (await client.models.list()).data.map(({ id }) => id)
const ask = async (client: OpenAI, model: string): Promise<string | null> => {
  const { choices } = await client.chat.completions.create({ model, messages: [{ role: 'user', content: 'Hi' }] })
  return choices[0]!.message.content
}
describe('a local server as the only provider', () => {
  let ollama: FakeOllama
  let server: Server
  let client: OpenAI
  beforeAll(async () => {
    ollama = await startOllama([...MODELS])
    const prices = join(folder, 'prices.json')
    writeFileSync(prices, JSON.stringify({ 'llama3.2': { input: 1_000, output: 2_000 } }))
    server = await startServer({ ...live(ollama), PRICES: prices })
    client = clientOf(server)
  })
  afterAll(async () => {
    await server.stop()
    await ollama.close()
  })

  it('is listed with what it has', async () => {
    expect(await idsOf(client)).toEqual(MODELS)
    const [first] = (await client.models.list()).data
    expect(first).toEqual({
      id: 'llama3.2:latest',
      object: 'model',
      created: 1_764_000_000,
      owned_by: 'library',
      provider: 'openai',
      capabilities: [],
    })
    for (const id of [...MODELS, 'llama3.2', 'openai/llama3.2:latest'])
      expect(await client.models.retrieve(id)).toMatchObject({ provider: 'openai', fidelity: { user: 'kept' } })
    await expect(client.models.retrieve('gpt-4o')).rejects.toMatchObject({ status: 404 })
  })

  it.each(['llama3.2', 'llama3.2:latest', 'openai/llama3.2', 'library/llama3.2:1b', 'hf.co/a/Llama-3.1-8B:Q4'])(
    'answers as %s, whole and streamed',
    async (model) => {
      const sent = model.replace('openai/', '')
      expect(await ask(client, model)).toBe(`I am ${sent}.`)
      let text = ''
      for await (const { choices } of await client.chat.completions.create({
        model,
        stream: true,
        messages: [{ role: 'user', content: 'Hi' }],
      }))
        text += choices[0]?.delta.content ?? ''
      expect(text).toBe(`I am ${sent}.`)
    },
  )

  it('embeds, and refuses what it refuses', async () => {
    const { data } = await client.embeddings.create({
      model: 'nomic-embed-text',
      input: 'Hi',
      encoding_format: 'float',
    })
    expect(data[0]!.embedding).toEqual([0.6, -0.8])
    await expect(ask(client, 'nomic-embed-text')).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('does not support chat'),
    })
    // Nothing is known of what it can do: it says so itself.
    const tools = [{ type: 'function' as const, function: { name: 'f' } }]
    const messages = [{ role: 'user' as const, content: 'Hi' }]
    const cheapest = { model: 'llama3.2', tools, messages, provider: 'auto' }
    await expect(client.chat.completions.create(cheapest)).rejects.toMatchObject({
      status: 400,
      message: expect.stringContaining('does not support tools'),
    })
  })

  it('is asked for models that it does not list, and says that it has none', async () => {
    await expect(ask(client, 'llama9')).rejects.toMatchObject({ status: 400, code: 'model_not_found' })
    expect(ollama.asked).toContain('POST /v1/chat/completions llama9')
    // Pulled a moment ago: it is not listed yet.
    ollama.models.push('qwen3:8b')
    expect(await ask(client, 'qwen3:8b')).toBe('I am qwen3:8b.')
  })

  it('gets no credential, and is asked for its list once a minute at most', () => {
    expect(ollama.credentials).toEqual([])
    expect(ollama.asked.filter((one) => one === 'GET /v1/models')).toHaveLength(1)
  })

  it('costs what the file of prices says, with and without a tag, and nothing is known of others', async () => {
    const userId = '00000000-0000-7000-8000-000000000001'
    const usage = await fetch(`${server.url}/v1/users/${userId}/usage`, {
      headers: { authorization: `Bearer ${server.key}` },
    })
    const { records } = (await usage.json()) as { records: { model: string; cost_usd: number; priced: boolean }[] }
    const costOf = (model: string) => records.find((record) => record.model === model)
    for (const model of ['llama3.2', 'llama3.2:latest'])
      expect(costOf(model)).toMatchObject({ cost_usd: (3 * 1_000 + 4 * 2_000) / 1e6 })
    expect(costOf('library/llama3.2:1b')).toMatchObject({ cost_usd: 0, priced: false })
  })

  it('is described to model pickers by the models that a key may use', async () => {
    const response = await fetch(`${server.url}/v1/models?provider=openai`, {
      headers: { authorization: `Bearer ${server.key}` },
    })
    expect(((await response.json()) as { data: object[] }).data).toHaveLength(MODELS.length)
  })
})

describe('the first start', () => {
  it.each<[name: string, models: string[], tried: string]>([
    ['has an example with a model that the server has', ['nomic-embed-text:latest', 'llama3.2:1b'], 'llama3.2:1b'],
    ['has the usual example where that is there', ['a', 'gpt-4o-mini'], 'gpt-4o-mini'],
  ])('%s', async (_, models, tried) => {
    const ollama = await startOllama(models)
    const server = await startServer({ ...live(ollama), BOOTSTRAP_GATEWAY_KEY: '' })
    onTestFinished(async () => {
      await server.stop()
      await ollama.close()
    })
    await expect.poll(() => server.output()).toContain(`{"model":"${tried}",`)
    expect(server.output()).not.toContain('No models')
  })

  it('says where no models are listed, as by an address without /v1', async () => {
    const ollama = await startOllama([...MODELS])
    const url = ollama.url.replace('/v1', '')
    const server = await startServer({ ...live(ollama), OPENAI_BASE_URL: url, BOOTSTRAP_GATEWAY_KEY: '' })
    onTestFinished(async () => {
      await server.stop()
      await ollama.close()
    })
    await expect
      .poll(() => server.output())
      .toContain(
        'No models are listed. Does the upstream run, and are its address and its key right? OPENAI_BASE_URL includes /v1, such as http://localhost:11434/v1.',
      )
  })
})

describe('a list that does not come', () => {
  it('does not keep a request from its only provider, and is asked for again', async () => {
    const ollama = await startOllama([...MODELS])
    ollama.fault = 'silent'
    const server = await startServer(live(ollama))
    onTestFinished(async () => {
      await server.stop()
      await ollama.close()
    })
    const client = clientOf(server)
    expect(await ask(client, 'llama3.2')).toBe('I am llama3.2.')
    expect(await idsOf(client)).toEqual([])
    ollama.fault = undefined
    await expect.poll(() => idsOf(client), { timeout: 20_000, interval: 500 }).toEqual(MODELS)
  })

  it('stays the last one while the server is down', async () => {
    const ollama = await startOllama([...MODELS])
    const server = await startServer(live(ollama))
    onTestFinished(() => void server.stop())
    const client = clientOf(server)
    expect(await idsOf(client)).toEqual(MODELS)
    await ollama.close()
    expect(await idsOf(client)).toEqual(MODELS)
    await expect(ask(client, 'llama3.2')).rejects.toMatchObject({ status: 502 })
  })
})

describe('a local server beside a vendor', () => {
  it('has its own ids without a prefix, and others are refused', async () => {
    const ollama = await startOllama([...MODELS, 'anthropic/opus-like:7b'])
    const vendor = fakeAnthropic({ apiKey: 'sk-ant' })
    const { url, close } = await vendor.listen()
    const server = await startServer({ ...live(ollama), ANTHROPIC_API_KEY: 'sk-ant', ANTHROPIC_BASE_URL: url })
    onTestFinished(async () => {
      await server.stop()
      await Promise.all([ollama.close(), close()])
    })
    const client = clientOf(server)
    expect(await ask(client, 'llama3.2')).toBe('I am llama3.2.')
    expect(await ask(client, 'anthropic/opus-like:7b')).toBe('I am anthropic/opus-like:7b.')
    expect(await ask(client, 'claude-sonnet-4-5')).toContain('simulated')
    expect(await ask(client, 'anthropic/claude-sonnet-4-5')).toContain('simulated')
    await expect(ask(client, 'llama9')).rejects.toMatchObject({ status: 400, code: 'model_not_found' })
    expect(ollama.asked.filter((one) => one.includes('llama9'))).toEqual([])
  })
})

it('a key with a budget is refused models without a price', async () => {
  const ollama = await startOllama([...MODELS])
  const server = await startServer(live(ollama))
  onTestFinished(async () => {
    await server.stop()
    await ollama.close()
  })
  const { create } = limitedKeys({ url: `${server.url}/v1` })
  const limited = clientOf({ ...server, key: await create({ budget: { usd: 1 } }) })
  await expect(ask(limited, 'llama3.2')).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining('The price of this model is not known'),
  })
  const some = clientOf({ ...server, key: await create({ models: ['llama3.2'] }) })
  expect(await idsOf(some)).toEqual(['llama3.2:latest'])
  expect(await ask(some, 'llama3.2')).toBe('I am llama3.2.')
})

describe('a conversation', () => {
  /** The status and the text of the answer to a message. */
  async function converse(env: Record<string, string>): Promise<[number, string]> {
    const ollama = await startOllama([...MODELS])
    const server = await startServer({ ...live(ollama), ...env })
    onTestFinished(async () => {
      await server.stop()
      await ollama.close()
    })
    let token = ''
    const post = (path: string, body: object, headers: object = {}) =>
      fetch(server.url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, ...headers },
        body: JSON.stringify(body),
      })
    const signedIn = await post('/api/auth', { email: 'admin@localhost', password: 'the password of the tests' })
    token = ((await signedIn.json()) as { access_token: string }).access_token
    const project = (await (await post('/api/projects', { name: 'A' })).json()) as { id: string }
    const reply = await post(
      `/api/projects/${project.id}/conversation/messages`,
      { text: 'Hi' },
      {
        accept: 'text/event-stream',
      },
    )
    return [reply.status, await reply.text()]
  }

  it('is by the model that AGENT_MODEL names', async () => {
    expect(await converse({ AGENT_MODEL: 'llama3.2' })).toEqual([200, expect.stringContaining('llama3.2.')])
  })

  it('has no model without it, as neither prices nor abilities are known', async () => {
    expect(await converse({})).toEqual([503, expect.stringContaining('There is no model that could reply')])
  })
})
