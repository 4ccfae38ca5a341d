import { fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { loadConfig } from '../packages/turnpike/src/config/load.js'
import { blocksOf, openPage, runExample } from './support/page.js'
import { startServer } from './support/server.js'

afterEach(() => vi.unstubAllEnvs())

/** The settings of a page: the variables that its shell lines export. */
const settingsOf = (page: string): Record<string, string> =>
  Object.fromEntries(
    blocksOf(page, 'sh').flatMap((lines) =>
      [...lines.matchAll(/^export (\w+)='?(.*?)'?$/gm)].map(([, name, value]) => [name!, value!]),
    ),
  )

/**
 * Runs a client's program of a page against a server with the page's settings, while OpenAI is overloaded.
 * @returns the requests that the providers got
 */
async function runClient(code: string, address: string, settings: Record<string, string>) {
  const down = {
    status: 503,
    headers: { 'content-type': 'application/json' },
    body: '{"error":{"message":"Overloaded"}}',
  }
  const fakes = [fakeOpenAI({ override: () => down }), fakeGoogle()]
  const [openai, google] = await Promise.all(fakes.map((fake) => fake.listen()))
  expect(await loadConfig(settings)).toMatchObject({ server: { port: Number(new URL(address).port) } })
  const server = await startServer({
    ...settings,
    PORT: '0',
    STORAGE: 'memory',
    OPENAI_BASE_URL: `${openai!.url}/v1`,
    GEMINI_BASE_URL: `${google!.url}/v1beta`,
  })
  try {
    vi.stubEnv('GATEWAY_KEY', server.key)
    expect(code).toContain(address)
    await runExample(code.replace(address, server.url))
    return fakes.map(({ requests }) => requests)
  } finally {
    await server.stop()
    await Promise.all([openai!.close(), google!.close()])
  }
}

describe('docs/moving-from-litellm.md', () => {
  const { text: page, blocks } = openPage('moving-from-litellm.md')

  it('has the same models in both configurations', () => {
    const { model_list, router_settings } = parse(blocksOf(page, 'yaml')[0]!) as {
      model_list: { model_name: string; litellm_params: { model: string } }[]
      router_settings: { fallbacks: Record<string, string[]>[] }
    }
    const modelOf = (name: string) => model_list.find((one) => one.model_name === name)!.litellm_params.model
    const [[name, fallbacks]] = Object.entries(router_settings.fallbacks[0]!) as [[string, string[]]]
    expect(settingsOf(page)['MODEL_GROUPS']).toBe(`${name}=${[name, ...fallbacks].map(modelOf).join(',')}`)
  })

  it('has settings with which its client is answered by the fallback', async () => {
    const [openai, google] = await runClient(blocks[0]!, 'http://127.0.0.1:4000', settingsOf(page))
    expect([openai!.length, google!.length]).toEqual([1, 1])
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

  it('has the same models in both configurations', () => {
    const { targets } = JSON.parse(blocksOf(page, 'json')[0]!) as {
      targets: { provider: string; override_params: { model: string } }[]
    }
    const models = targets.map(({ provider, override_params: { model } }) => `${provider}/${model}`)
    expect(settingsOf(page)['MODEL_GROUPS']).toBe(`chat=${models.join(',')}`)
  })

  it('has settings with which its client is answered by the second target', async () => {
    // A client that still sends a header of theirs.
    const old = blocks[0]!.replace('{ headers: {', "{ headers: { 'x-portkey-custom-host': 'http://127.0.0.1:9/v1', ")
    expect(old).not.toBe(blocks[0])
    const requests = await runClient(old, 'http://127.0.0.1:8787', settingsOf(page))
    expect(requests.map(({ length }) => length)).toEqual([1, 1])
    const names = requests.flat().flatMap(({ headers }) => Object.keys(headers))
    expect(names.filter((name) => name.startsWith('x-portkey-'))).toEqual([])
  })

  it('has a router with several keys of one provider', async () => {
    expect(blocks).toHaveLength(2)
    await runExample(blocks[1]!)
  })
})
