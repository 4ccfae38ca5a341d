import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it, vi } from 'vitest'
import { openPrices } from '../../packages/turnpike/src/prices.js'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-prices-'))
const fail = (error: unknown): never => {
  throw error
}

/** Serves a public table. */
const pages: Record<string, string> = {}
const server = createServer((request, response) => {
  const page = pages[request.url!]
  response.writeHead(page === undefined ? 404 : 200).end(page)
}).listen(0, '127.0.0.1')
const url = (path: string): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`

afterAll(() => {
  server.close()
  rmSync(folder, { recursive: true })
})

function file(text: string): string {
  const path = join(folder, 'prices.json')
  writeFileSync(path, text)
  return path
}

it('are built-in by default', async () => {
  const prices = await openPrices('built-in', fail)
  expect(prices.table().price('openai', 'gpt-4o')).toEqual({ input: 2.5, output: 10, cache_read: 1.25 })
})

it('are those of a file, and built-in where it has none', async () => {
  const path = file('{"openai/gpt-4o":{"input":9,"output":18},"acme/llama":{"input":0.5,"output":0.5}}')
  const table = (await openPrices(path, fail)).table()
  expect(table.price('openai', 'gpt-4o')).toEqual({ input: 9, output: 18 })
  expect(table.price('acme', 'llama')).toEqual({ input: 0.5, output: 0.5 })
  expect(table.price('openai', 'gpt-4o-mini')).toMatchObject({ input: 0.15 })
  // The name of the file and nothing of where it is.
  const builtIn = (await openPrices('built-in', fail)).table().origin
  expect(builtIn).toEqual({ source: 'built-in', since: expect.stringMatching(/^20\d\d-\d\d-\d\d$/) as string })
  expect([table.originOf('acme', 'llama')?.source, table.originOf('openai', 'gpt-4o-mini')]).toEqual([
    'prices.json',
    builtIn,
  ])
})

it('are those of a file by the name of the model alone, whoever serves it', async () => {
  const path = file(
    JSON.stringify({
      'llama3.2': { input: 1, output: 2 },
      'meta-llama/Llama-3.1-8B': { input: 3, output: 4 },
      'openai/qwen3': { input: 5, output: 6 },
      qwen3: { input: 7, output: 8 },
      'gpt-4o': { input: 9, output: 9 },
    }),
  )
  const table = (await openPrices(path, fail)).table()
  expect(table.price('openai', 'llama3.2')).toEqual({ input: 1, output: 2 })
  // Ollama's tag, which it takes for granted.
  expect(table.price('openai', 'llama3.2:latest')).toEqual({ input: 1, output: 2 })
  expect(table.price('other', 'meta-llama/Llama-3.1-8B')).toEqual({ input: 3, output: 4 })
  expect([table.price('openai', 'qwen3'), table.price('other', 'qwen3')]).toMatchObject([{ input: 5 }, { input: 7 }])
  // The file goes before what is built in.
  expect(table.price('openai', 'gpt-4o')).toEqual({ input: 9, output: 9 })
  expect(table.price('openai', 'llama3.2:1b')).toBeUndefined()
  expect(table.originOf('openai', 'llama3.2')?.source).toBe('prices.json')
})

it.each(['anthropic/claude-sonnet-5', 'google/gemma-3-27b-it', 'gpt-4o'])(
  'of a vendor are not those of %s of another provider',
  async (model) => {
    const openFile = await openPrices(file('{"acme/llama":{"input":0.5,"output":0.5}}'), fail)
    for (const prices of [await openPrices('built-in', fail), openFile])
      expect(prices.table().price('local', model)).toBeUndefined()
  },
)

it.each([
  ['no JSON', 'x'],
  ['a price that cannot be right', '{"acme/llama":{"input":-1,"output":1}}'],
])('do not let a server start with %s', async (_, text) => {
  await expect(openPrices(file(text), fail)).rejects.toThrow(/^prices must be .* the path of a table: /)
})

it('do not let a server start without their file', async () => {
  await expect(openPrices(join(folder, 'none.json'), fail)).rejects.toThrow(
    /^prices must be .* the path of a table: ENOENT/,
  )
})

it.each([
  ['models.dev', { openai: { id: 'openai', models: { 'gpt-4o': { id: 'gpt-4o', cost: { input: 7, output: 8 } } } } }],
  [
    'litellm',
    {
      'gpt-4o': { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 7e-6, output_cost_per_token: 8e-6 },
    },
  ],
])('are loaded from %s', async (name, table) => {
  pages['/table.json'] = JSON.stringify(table)
  pages['/table.json?token=secret'] = pages['/table.json']
  const prices = await openPrices(`${name}:${url('/table.json?token=secret')}`, fail)
  await expect.poll(() => prices.table().price('openai', 'gpt-4o')).toEqual({ input: 7, output: 8 })
  expect(prices.table().price('openai', 'gpt-4o-mini')).toMatchObject({ input: 0.15 })
  expect(prices.table().originOf('openai', 'gpt-4o')?.source).toBe(url('/table.json'))
})

it('stay where a table cannot be loaded, with a report', async () => {
  const onError = vi.fn()
  const prices = await openPrices(`litellm:${url('/none.json')}`, onError)
  await expect.poll(() => onError).toHaveBeenCalledOnce()
  expect(String(onError.mock.calls[0]![0])).toMatch(/failed with status 404$/)
  expect(prices.table().price('openai', 'gpt-4o')).toMatchObject({ input: 2.5 })
})

it.each([
  ['many bytes', `{"a":"${'x'.repeat(17 * 1024 * 1024)}"}`, /has more than 16777216 bytes$/],
  ['many values', `[${'1,'.repeat(1_100_000)}1]`, /has more than 1000000 values$/],
])('threat 153: stay where a table has too %s', async (_, text, told) => {
  pages['/large.json'] = text
  const onError = vi.fn()
  const prices = await openPrices(`litellm:${url('/large.json')}`, onError)
  await expect.poll(() => onError).toHaveBeenCalledOnce()
  expect(String(onError.mock.calls[0]![0])).toMatch(told)
  expect(prices.table().price('openai', 'gpt-4o')).toMatchObject({ input: 2.5 })
})
