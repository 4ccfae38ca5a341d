import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parse, stringify } from 'yaml'
import { fromLitellm } from '../packages/turnpike/src/config/from-litellm.js'
import { checkProviders } from '../packages/turnpike/src/providers.js'
import { loadConfig } from '../packages/turnpike/src/config/load.js'
import { blocksOf, openPage, runExample } from './support/page.js'
import { startServer } from './support/server.js'

afterEach(() => vi.unstubAllEnvs())

interface File {
  server?: { port: number }
  providers: { type: 'openai' | 'google'; baseURL?: string }[]
  routing: { groups: Record<string, string[]> }
}

/** The variables that a file of a page takes. */
const environment = {
  OPENAI_API_KEY: 'sk-example',
  OPENAI_API_KEY_1: 'sk-1',
  OPENAI_API_KEY_2: 'sk-2',
  GEMINI_API_KEY: 'example',
  LITELLM_MASTER_KEY: 'a-long-secret-for-operators',
  DATABASE_URL: 'postgres://turnpike@127.0.0.1/turnpike',
}

/** Runs with the path of a file that has a text. */
async function withFile<T>(yaml: string, run: (CONFIG: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'turnpike-moving-'))
  try {
    const file = join(folder, 'turnpike.config.yaml')
    writeFileSync(file, yaml)
    return await run(file)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** What a file of a page says once its variables are set. */
const load = (yaml: string) => withFile(yaml, (CONFIG) => loadConfig({ ...environment, CONFIG }))

/**
 * Runs a client's program of a page against a server with the page's file, while OpenAI is overloaded.
 * @returns the requests that the providers got
 */
async function runClient(code: string, address: string, yaml: string) {
  const down = {
    status: 503,
    headers: { 'content-type': 'application/json' },
    body: '{"error":{"message":"Overloaded"}}',
  }
  const fakes = { openai: fakeOpenAI({ override: () => down }), google: fakeGoogle() }
  const [openai, google] = await Promise.all([fakes.openai.listen(), fakes.google.listen()])
  expect(await load(yaml)).toMatchObject({ server: { port: Number(new URL(address).port) } })
  const file = parse(yaml) as File
  const addresses = { openai: `${openai.url}/v1`, google: `${google.url}/v1beta` }
  for (const provider of file.providers) provider.baseURL = addresses[provider.type]
  try {
    return await withFile(stringify(file), async (CONFIG) => {
      const server = await startServer({ ...environment, CONFIG, PRICES: 'built-in' })
      try {
        vi.stubEnv('GATEWAY_KEY', server.key)
        expect(code).toContain(address)
        await runExample(code.replace(address, server.url))
        return [fakes.openai.requests, fakes.google.requests]
      } finally {
        await server.stop()
      }
    })
  } finally {
    await Promise.all([openai.close(), google.close()])
  }
}

describe('docs/moving-from-litellm.md', () => {
  const { text: page, blocks } = openPage('moving-from-litellm.md')
  const [theirs, ours] = blocksOf(page, 'yaml') as [string, string]

  it('has the file and the notes that its conversion makes', () => {
    const { config, notes } = fromLitellm(parse(theirs))
    expect(ours).toBe(stringify(config))
    expect(blocksOf(page, 'text')).toEqual([notes.map(({ path, reason }) => `${path}: ${reason}\n`).join('')])
  })

  it('has a command that prints both', async () => {
    const script = fileURLToPath(new URL('../examples/server/dist/config.js', import.meta.url))
    await withFile(theirs, async (file) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'from-litellm', file], {
        encoding: 'utf8',
      })
      expect([status, stdout, stderr]).toEqual([0, ours, blocksOf(page, 'text')[0]])
    })
  })

  it('has a file with which its client is answered by the fallback', async () => {
    const [openai, google] = await runClient(blocks[0]!, 'http://127.0.0.1:4000', ours)
    expect([openai!, google!].map((all) => all.filter(({ method }) => method === 'POST').length)).toEqual([1, 1])
  })

  it('has a gateway with deployments and keys as there', async () => {
    expect(blocks).toHaveLength(2)
    const fake = fakeOpenAI()
    const { url, close } = await fake.listen()
    vi.stubEnv('OPENAI_BASE_URL', `${url}/v1`)
    for (const n of [1, 2]) vi.stubEnv(`OPENAI_API_KEY_${n}`, `sk-${n}`)
    try {
      await runExample(blocks[1]!)
      const sent = fake.requests.filter(({ method }) => method === 'POST')
      expect(sent.map(({ path }) => path)).toEqual(['/v1/chat/completions'])
    } finally {
      await close()
    }
  })
})

describe('docs/moving-from-portkey.md', () => {
  const { text: page, blocks } = openPage('moving-from-portkey.md')
  const files = blocksOf(page, 'yaml')

  it('has the same models in both configurations', () => {
    const { targets } = JSON.parse(blocksOf(page, 'json')[0]!) as {
      targets: { provider: string; override_params: { model: string } }[]
    }
    const models = targets.map(({ provider, override_params: { model } }) => `${provider}/${model}`)
    expect((parse(files[0]!) as File).routing.groups).toEqual({ chat: models })
  })

  it('has a file with which its client is answered by the second target', async () => {
    // A client that still sends a header of theirs.
    const old = blocks[0]!.replace('{ headers: {', "{ headers: { 'x-portkey-custom-host': 'http://127.0.0.1:9/v1', ")
    expect(old).not.toBe(blocks[0])
    const requests = await runClient(old, 'http://127.0.0.1:8787', files[0]!)
    expect(requests.map((all) => all.filter(({ method }) => method === 'POST').length)).toEqual([1, 1])
    const names = requests.flat().flatMap(({ headers }) => Object.keys(headers))
    expect(names.filter((name) => name.startsWith('x-portkey-'))).toEqual([])
  })

  it('has a file with several keys of one provider', async () => {
    expect([blocks.length, files.length]).toEqual([1, 2])
    const config = await load(files[1]!)
    await checkProviders(config)
    expect(config).toMatchObject({
      providers: [
        { apiKey: 'sk-1', weight: 0.7 },
        { apiKey: 'sk-2', weight: 0.3 },
      ],
    })
  })
})
