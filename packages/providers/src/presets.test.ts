import type { UpstreamError } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { PresetId, PresetOptions } from './presets.js'
import { preset, presets } from './presets.js'
import { fakeOpenAI } from './testing/index.js'
import type { Transport } from './upstream/transport.js'

const call = { signal: new AbortController().signal }
const request = { model: 'llama-3.3-70b', messages: [{ role: 'user' as const, content: 'Hi' }] }
const names = Object.keys(presets) as PresetId[]

/** A fake that accepts one key, and the URLs that it was asked for. */
function upstream(apiKey?: string) {
  const fake = fakeOpenAI({ ...(apiKey && { apiKey }) })
  const urls: string[] = []
  const transport: Transport = (sent) => {
    urls.push(sent.url)
    // The fake demands a key, as most servers do; those on the own machine do not.
    if (!apiKey) {
      expect(sent.headers).not.toHaveProperty('authorization')
      return fake.transport({ ...sent, headers: { ...sent.headers, authorization: 'Bearer none' } })
    }
    return fake.transport(sent)
  }
  return { urls, transport }
}

describe.each(names)('the preset %s', (name) => {
  const { baseURL, ...known }: { baseURL: string; local?: boolean; models?: readonly string[] } = presets[name]
  const account = baseURL.includes('{accountId}') ? { accountId: 'acc/1' } : {}
  const address = baseURL.replace('{accountId}', 'acc%2F1')

  it('calls its server with the key', async () => {
    const { urls, transport } = upstream('key-of-mine')
    const provider = preset(name, { apiKey: () => 'key-of-mine', ...account, transport })
    expect(provider.id).toBe(name)
    const answer = await provider.chat.complete(request, call)
    expect(answer.choices[0]!.message.content).toContain('You said: Hi')
    const models = await provider.models(call)
    expect(models.map(({ id }) => id)).toEqual(known.models ?? ['gpt-4o', 'gpt-4o-mini'])
    expect(urls).toEqual([`${address}/chat/completions`, ...(known.models ? [] : [`${address}/models`])])
    expect(provider.listsAll).toBe(true)
  })

  it('reports a key that is refused', async () => {
    const { transport } = upstream('key-of-mine')
    const provider = preset(name, { apiKey: 'another-key', ...account, transport })
    const error = await provider.chat.complete(request, call).catch((thrown: UpstreamError) => thrown)
    expect(error).toMatchObject({ failure: { status: 401, credential: true } })
  })

  it(`${known.local ? 'wants no' : 'demands a'} key at its address, and none at another`, async () => {
    const options: PresetOptions = { ...account, transport: upstream().transport }
    if (known.local) await preset(name, options).chat.complete(request, call)
    else expect(() => preset(name, options)).toThrow(`${name}: the option "apiKey" is not set`)
    const { urls, transport } = upstream()
    await preset(name, { baseURL: 'http://proxy.example/v1', transport }).chat.complete(request, call)
    expect(urls).toEqual(['http://proxy.example/v1/chat/completions'])
  })
})

it('has options that prevail', async () => {
  const provider = preset('perplexity', { apiKey: 'k', id: 'search', models: ['sonar'] })
  expect(provider.id).toBe('search')
  expect((await provider.models(call)).map(({ id }) => id)).toEqual(['sonar'])
})

it('knows the differences of a server by its address', () => {
  const { chat } = preset('mistral', { apiKey: 'k' })
  expect(chat!.preview({ ...request, logit_bias: { 1: 1 } })).toEqual([{ field: 'logit_bias', action: 'dropped' }])
})

it.each<[name: string, options: PresetOptions, message: string]>([
  ['grok', { apiKey: 'k' }, 'There is no preset "grok"; there are cerebras, '],
  ['toString', { apiKey: 'k' }, 'There is no preset "toString"'],
  ['groq', { apiKey: process.env['NO_SUCH_KEY'] }, 'groq: the option "apiKey" is not set'],
  ['ollama', { apiKey: process.env['NO_SUCH_KEY'] }, 'openai: the option "apiKey" is not set'],
  ['groq', { apiKey: 'k', accountId: '1' }, 'there is no option "accountId"'],
  ['cloudflare', { apiKey: 'k' }, 'cloudflare: the option "accountId" is not set'],
])('%s with %j is refused', (name, options, message) => {
  expect(() => preset(name as PresetId, options)).toThrow(message)
})
