import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const script = fileURLToPath(new URL('../.ci/catalogue.mjs', import.meta.url))
const lines = async (source: string) => (await run(process.execPath, [script, source])).stdout.split('\n')

const text = { modalities: { input: ['text'], output: ['text'] } }
const modelsDev = {
  openai: {
    models: {
      'gpt-9': { ...text, release_date: '2027-05-06', limit: { context: 9, output: 2 }, cost: { input: 1, output: 3 } },
      'gpt-9-2027-05-06': { ...text, cost: { input: 1, output: 3 } },
      'gpt-9-codex': { ...text, cost: { input: 1, output: 3 } },
      'gpt-4o': { ...text, limit: { context: 128_000, output: 20_000 }, cost: { input: 2.5, output: 9 } },
      'gpt-4o-mini': { ...text, limit: { context: 128_000, output: 16_384 }, cost: { input: 0.15, output: 0.6 } },
    },
  },
  google: { models: { 'gemini-8-flash': { ...text, release_date: '2027-04-01', cost: { input: -1 } } } },
  acme: { models: { 'acme-1': text } },
}

it('is compared with models.dev, from a file and from an address', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-catalogue-'))
  const file = join(folder, 'api.json')
  await writeFile(file, JSON.stringify(modelsDev))
  const server = createServer((_, response) => response.end(JSON.stringify(modelsDev))).listen(0, '127.0.0.1')
  try {
    const printed = await lines(file)
    expect(printed.slice(0, 6)).toEqual([
      'New, the latest first: 2',
      '  2027-05-06 openai/gpt-9 {"context":9,"maxOutput":2,"capabilities":["chat"],"price":{"input":1,"output":3}}',
      '  2027-04-01 google/gemini-8-flash {"capabilities":["chat"]}',
      'Different: 1',
      '  openai/gpt-4o maxOutput 16384 -> 20000, output 10 -> 9',
      expect.stringMatching(/^Not in the table: \d+$/),
    ])
    expect(printed).toContain('  google/gemini-2.5-pro')
    expect(printed).not.toContain('  openai/gpt-4o-mini')
    expect(printed.slice(-3)).toEqual([
      'Not read: 1',
      '  google/gemini-8-flash input is -1; expected US dollars per million, 0 to 2000',
      '',
    ])
    const { port } = server.address() as AddressInfo
    expect(await lines(`http://127.0.0.1:${port}/api.json`)).toEqual(printed)
  } finally {
    server.close()
    await rm(folder, { recursive: true })
  }
})

it('is compared with the prices of litellm', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'turnpike-catalogue-'))
  const file = join(folder, 'prices.json')
  const row = { litellm_provider: 'openai', mode: 'chat', input_cost_per_token: 2e-6, input_cost_per_token_flex: 9e-7 }
  await writeFile(file, JSON.stringify({ 'gpt-6.1-sol': row, 'gpt-9': row, 'ft:gpt-9': row, '1024-x-1024/gpt-9': row }))
  try {
    expect((await lines(file)).slice(0, 4)).toEqual([
      'New, the latest first: 1',
      '  openai/gpt-9 {"price":{"input":2,"service_tiers":{"flex":{"input":0.9}}}}',
      'Different: 1',
      '  openai/gpt-6.1-sol service_tiers.flex.input 1 -> 0.9',
    ])
  } finally {
    await rm(folder, { recursive: true })
  }
})
