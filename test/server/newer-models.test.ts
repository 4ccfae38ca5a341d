import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { limitedKeys } from '../security/limited-keys.js'
import { catalogues } from '../support/catalogues.js'

const chat = {
  release_date: '2027-05-06',
  reasoning: true,
  tool_call: true,
  structured_output: false,
  modalities: { input: ['text'], output: ['text'] },
}
/** Models that the release does not know; the table has no price of the last one. */
const table = {
  openai: {
    id: 'openai',
    models: { 'gpt-9-vega': { ...chat, limit: { context: 9_000, output: 2_000 }, cost: { input: 1, output: 1_000 } } },
  },
  anthropic: {
    id: 'anthropic',
    models: {
      'claude-nano-9': { ...chat, limit: { context: 50_000, output: 7_000 }, cost: { input: 1, output: 1_000 } },
    },
  },
  google: { id: 'google', models: { 'gemini-9-radon': { ...chat, limit: { context: 9_000, output: 2_000 } } } },
}
const served = createServer((_, response) => response.end(JSON.stringify(table))).listen(0, '127.0.0.1')

let stack: FamiliesStack
let callers: ReturnType<typeof limitedKeys>
const get = async (path: string) =>
  (await fetch(stack.url + path, { headers: { authorization: `Bearer ${stack.key}` } })).json() as Promise<never>

beforeAll(async () => {
  const { port } = served.address() as AddressInfo
  stack = await startFamilies({
    PRICES: `models.dev:http://127.0.0.1:${port}/api.json`,
    // As the vendors list them.
    OPENAI_MODELS: [...catalogues.openai, 'gpt-9-vega'].join(),
    ANTHROPIC_MODELS: [...catalogues.anthropic, 'claude-nano-9'].join(),
    GEMINI_MODELS: [...catalogues.google, 'gemini-9-radon'].join(),
  })
  callers = limitedKeys(stack)
  await vi.waitFor(async () =>
    expect(await get('/models/gpt-9-vega')).toMatchObject({ capabilities: ['chat', 'tools', 'reasoning'] }),
  )
})
afterAll(async () => {
  await stack.stop()
  served.close()
})

/** The status of a chat that a key with so many dollars makes while another one runs, of which only the beginning has come. */
async function beside(usd: number, fields: object): Promise<number> {
  const key = await callers.create({ budget: { usd } })
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const begun = new Promise<void>((resolve) => {
    stack.fault = () => {
      stack.fault = undefined
      const body = (async function* () {
        yield ': begun\n\n'
        resolve()
        await ended
      })()
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, body }
    }
  })
  const first = callers.chat({ ...fields, stream: true }, key)
  await begun
  const { status } = await callers.chat({ ...fields, stream: true }, key)
  end()
  await first
  return status
}
const status = async (model: string) =>
  (await callers.chat({ model }, await callers.create({ budget: { usd: 99 } }))).status

it('an old release knows what models.dev tells of newer models', async () => {
  const { data } = (await get('/models')) as { data: { id: string }[] }
  expect(data.filter(({ id }) => /-9/.test(id))).toEqual(
    [
      ['gpt-9-vega', 'openai'],
      ['claude-nano-9', 'anthropic'],
      ['gemini-9-radon', 'google'],
    ].map(([id, provider]) => ({
      id,
      object: 'model',
      created: Date.UTC(2027, 4, 6) / 1000,
      owned_by: provider,
      provider,
      capabilities: ['chat', 'tools', 'reasoning'],
    })),
  )
})

it('asks Claude for no more tokens than it has', async () => {
  const sent = async (model: string) => {
    await callers.chat({ model, stream: true })
    return (stack.upstreams.anthropic.requests.at(-1)!.body as { max_tokens: number }).max_tokens
  }
  expect(await sent('claude-nano-9')).toBe(7_000)
  expect(await sent('claude-opus-9')).toBe(128_000)
})

it('holds what an answer may cost, and lets no key with a budget use what has no price', async () => {
  // A tenth of a cent for each of at most 2,000 tokens, and of Claude's 7,000.
  expect(await beside(3.9, { model: 'gpt-9-vega' })).toBe(403)
  expect(await beside(4.1, { model: 'gpt-9-vega' })).toBe(200)
  expect(await beside(13.9, { model: 'claude-nano-9' })).toBe(403)
  expect(await beside(14.1, { model: 'claude-nano-9' })).toBe(200)
  expect(await Promise.all(['gpt-9-vega', 'gemini-9-radon', 'gpt-9-mini'].map(status))).toEqual([200, 403, 403])
  expect((await callers.chat({ model: 'gemini-9-radon' })).status).toBe(200)
})

it('has `auto` know their limits', async () => {
  const long = { model: 'gpt-9-vega', provider: 'auto', max_tokens: 2_001 }
  expect((await callers.chat(long)).status).toBe(400)
  expect((await callers.chat({ ...long, max_tokens: 2_000 })).status).toBe(200)
})
