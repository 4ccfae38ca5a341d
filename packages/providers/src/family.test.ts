import { describe, expect, it } from 'vitest'
import { anthropic } from './anthropic/index.js'
import { google } from './google/index.js'
import { openai } from './openai/index.js'
import type { FakeAnswer } from './testing/index.js'
import { fakeUpstream } from './testing/fake-upstream.js'

const call = { signal: new AbortController().signal }
const json = (body: unknown, status = 200): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
const fake = (answer: FakeAnswer) => fakeUpstream(() => answer)
const local = { baseURL: 'http://localhost:11434/v1' }

describe('the models of a provider', () => {
  it.each<[name: string, options: { baseURL?: string; models?: string[] | 'live' }, listed: string[] | 'built-in']>([
    ['its own address', {}, 'built-in'],
    ['its own address, written out', { baseURL: 'https://api.openai.com/v1/' }, 'built-in'],
    ['a region of it', { baseURL: 'https://eu.api.openai.com/v1' }, 'built-in'],
    ['its own address, asked', { models: 'live' }, ['llama3.2:1b']],
    ['another address', local, ['llama3.2:1b']],
    ['an address that looks alike', { baseURL: 'https://api.openai.com.example/v1' }, ['llama3.2:1b']],
    ['a list', { ...local, models: ['a/b', 'gpt-4o'] }, ['a/b', 'gpt-4o']],
  ])('of %s', async (_, options, listed) => {
    const upstream = fake(json({ data: [{ id: 'llama3.2:1b' }] }))
    const provider = openai({ apiKey: 'k', transport: upstream.transport, ...options })
    const models = await provider.models(call)
    const asked = listed === 'built-in' || Array.isArray(options.models) ? [] : ['/v1/models']
    expect(upstream.requests.map(({ path }) => path)).toEqual(asked)
    expect(provider.listsAll).toBe(listed === 'built-in' ? undefined : true)
    if (listed === 'built-in') expect(models.length).toBeGreaterThan(20)
    else expect(models.map(({ id }) => id)).toEqual(listed)
  })

  it('have the capabilities of a list that are known', async () => {
    const models = await openai({ ...local, models: ['gpt-4o', 'x'] }).models(call)
    expect(models.map(({ capabilities }) => capabilities.length)).toEqual([4, 0])
  })

  it.each([
    ['anthropic', anthropic, { data: [{ id: 'x', type: 'model' }] }, '/v1/models?limit=1000'],
    ['google', google, { models: [{ name: 'models/x' }] }, '/models?pageSize=1000'],
  ])('are asked of %s too', async (_, make, body, path) => {
    const upstream = fake(json(body))
    const provider = make({ apiKey: 'k', baseURL: 'http://proxy.example', transport: upstream.transport })
    expect((await provider.models(call)).map(({ id }) => id)).toEqual(['x'])
    expect(upstream.requests[0]!.path).toBe(path)
  })

  it.each<[name: string, answer: FakeAnswer]>([
    ['a 404', json({ error: 'no' }, 404)],
    ['no JSON', json('<html>')],
    ['no list', json({ ok: true })],
    ['a list of over 8 MiB', json({ data: [{ id: 'x'.repeat(8 * 1024 * 1024) }] })],
    ['a list of too many values', json({ data: Array.from({ length: 210_000 }, () => 1) })],
  ])('cannot be told by %s', async (_, answer) => {
    await expect(openai({ ...local, transport: fake(answer).transport }).models(call)).rejects.toThrow()
  })
})

describe('a key', () => {
  const families = [
    ['openai', openai, 'authorization', 'Bearer k'],
    ['anthropic', anthropic, 'x-api-key', 'k'],
    ['google', google, 'x-goog-api-key', 'k'],
  ] as const

  it.each(families)('of %s is sent where there is one', async (_, make, header, value) => {
    const headersOf = async (options: { apiKey?: string }) => {
      const upstream = fake(json({ data: [] }))
      await make({ ...local, ...options, transport: upstream.transport }).models(call)
      return upstream.requests[0]!.headers[header]
    }
    expect(await headersOf({ apiKey: 'k' })).toBe(value)
    expect(await headersOf({ apiKey: '' })).toBeUndefined()
    expect(await headersOf({})).toBeUndefined()
  })

  it.each(families)('of %s is demanded where the vendor does', (name, make) => {
    const missing = `${name}: the option "apiKey" is not set`
    expect(() => make({})).toThrow(missing)
    expect(() => make({ apiKey: '' })).toThrow(missing)
    expect(() => make({ apiKey: process.env['NO_SUCH_KEY'] })).toThrow(missing)
    // A variable that is not set is no server without keys.
    expect(() => make({ ...local, apiKey: process.env['NO_SUCH_KEY'] })).toThrow(missing)
  })

  it.each(['key ', 'key\n', 'schlüssel', 7 as unknown as string])('is not %j, and is not in the error', (apiKey) => {
    expect(() => openai({ apiKey })).toThrow(
      /^openai: the option "apiKey" must be visible ASCII characters, without a space or line break at its end$/,
    )
  })
})

describe('a wrong option', () => {
  it.each<[name: string, options: object, message: string]>([
    ['of another name', { apikey: 'k' }, 'openai: there is no option "apikey"; there are apiKey, '],
    ['of another family', { apiKey: 'k', remoteContent: {} }, 'openai: there is no option "remoteContent"; '],
    [
      'that is no URL',
      { apiKey: 'k', baseURL: 'localhost:11434/v1' },
      'openai: the option "baseURL" must be a URL that begins with http:// or https://',
    ],
    ['that is no URL at all', { apiKey: 'k', baseURL: '/v1' }, 'openai: the option "baseURL" must be a URL'],
    ['of models', { apiKey: 'k', models: 'all' }, 'openai: the option "models" must be "live" or a list of ids'],
    [
      'with models that are no ids',
      { apiKey: 'k', models: ['a\n'] },
      'openai: the option "models" must be "live" or a list of ids',
    ],
  ])('%s', (_, options, message) => {
    expect(() => openai(options as never)).toThrow(message)
  })

  it('is refused by every family', () => {
    expect(() => anthropic({ apiKey: 'k', thinkTags: true } as never)).toThrow(
      'anthropic: there is no option "thinkTags"',
    )
    expect(() => google({ apiKey: 'k', thinkTags: true } as never)).toThrow('google: there is no option "thinkTags"')
    expect(() => openai(undefined as never)).toThrow('openai: expected an object of options')
  })
})
