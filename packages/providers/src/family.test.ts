import type { UpstreamError } from '@turnpike/core'
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

describe('a function as a key', () => {
  const families = [
    ['openai', openai, 'authorization', 'Bearer '],
    ['anthropic', anthropic, 'x-api-key', ''],
    ['google', google, 'x-goog-api-key', ''],
  ] as const

  it.each(families)('of %s is asked for each request', async (_, make, header, scheme) => {
    const upstream = fake(json({ data: [] }))
    let calls = 0
    const apiKey = () => (++calls % 2 ? `token-${calls}` : Promise.resolve(`token-${calls}`))
    // At the vendor's own address too.
    const provider = make({ apiKey, models: 'live', transport: upstream.transport })
    expect(calls).toBe(0)
    await provider.models(call)
    await provider.check!(call)
    expect(upstream.requests.map(({ headers }) => headers[header])).toEqual([`${scheme}token-1`, `${scheme}token-2`])
  })

  it('is asked again where a request is repeated', async () => {
    const refusal = {
      error: { code: 'unsupported_parameter', param: 'seed', message: "Unsupported parameter: 'seed'" },
    }
    const upstream = fake(json(refusal, 400))
    let calls = 0
    const provider = openai({ ...local, apiKey: () => `token-${++calls}`, transport: upstream.transport })
    const request = { model: 'm', messages: [{ role: 'user' as const, content: 'Hi' }], seed: 1 }
    await expect(provider.chat.complete(request, call)).rejects.toThrow()
    expect(upstream.requests.map(({ headers }) => headers['authorization'])).toEqual([
      'Bearer token-1',
      'Bearer token-2',
    ])
  })

  it.each<[name: string, apiKey: () => unknown, cause: string]>([
    [
      'throws',
      () => {
        throw new Error('no token')
      },
      'no token',
    ],
    ['rejects', () => Promise.reject(new Error('no token')), 'no token'],
    ['returns nothing', () => undefined, 'openai: the option "apiKey" must return visible ASCII'],
    ['returns an empty text', () => '', 'openai: the option "apiKey" must return visible ASCII'],
    ['returns what no header can carry', () => 'secret\n', 'openai: the option "apiKey" must return'],
  ])('that %s sends nothing', async (_, apiKey, cause) => {
    const upstream = fake(json({ data: [] }))
    const provider = openai({ apiKey: apiKey as () => string, models: 'live', transport: upstream.transport })
    const error: UpstreamError = (await provider.models(call).catch((thrown: UpstreamError) => thrown)) as never
    expect(error.message).toBe('The credential for the upstream could not be had')
    expect(error.failure).toMatchObject({ provider: 'openai', kind: 'unavailable', accepted: false })
    expect((error.cause as Error).message).toContain(cause)
    expect((error.cause as Error).message).not.toContain('secret')
    expect(upstream.requests).toEqual([])
  })

  it('is not waited for once the call is aborted', async () => {
    const upstream = fake(json({ data: [] }))
    const provider = openai({ ...local, apiKey: () => new Promise(() => undefined), transport: upstream.transport })
    const controller = new AbortController()
    const models = provider.models({ signal: controller.signal })
    controller.abort(new Error('The client left'))
    await expect(models).rejects.toThrow('The client left')
    await expect(provider.models({ signal: controller.signal })).rejects.toThrow('The client left')
    expect(upstream.requests).toEqual([])
  })

  it.each(families)('of %s is scrubbed from errors', async (_, make) => {
    const upstream = fake(json({ error: { message: 'The key token-4711 is not valid' } }, 401))
    const provider = make({ apiKey: () => 'token-4711', models: 'live', transport: upstream.transport })
    await expect(provider.models(call)).rejects.toThrow('The key [redacted] is not valid')
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
