import { memoryKV } from '@turnpike/core'
import { sealing } from '@turnpike/platform'
import { builtInPrices, fetchTransport } from '@turnpike/providers'
import { describe, expect, it } from 'vitest'
import { providerMaker } from '../providers.js'
import { faultsOf, readEntries } from './read.js'
import type { OverlayEntry } from './store.js'

const kv = await memoryKV()
const secrets = sealing(kv, ['a secret of at least 32 characters'], 'p')
const updated_at = '2026-01-02T00:00:00.000Z'
const entry = (kind: OverlayEntry['kind'], name: string, value: OverlayEntry['value']): OverlayEntry => ({
  kind,
  name,
  value,
  updated_at,
})
const provider = async (name: string, settings: { type: string; id?: string; [name: string]: unknown }, by = secrets) =>
  entry('providers', name, {
    id: settings.id ?? settings.type,
    type: settings.type,
    sealed: await by.seal(JSON.stringify(settings)),
  })
const read = (entries: OverlayEntry[], groups = {}) =>
  readEntries({ entries }, { sealing: secrets, maker: providerMaker(fetchTransport(), builtInPrices()), groups })

describe('what is read of an overlay', () => {
  it('is what can be used; the rest is left out, with its reason and without its secrets', async () => {
    const other = sealing(kv, ['b secret of at least 32 characters'], 'p')
    const found = await read(
      [
        await provider('1', { type: 'groq', apiKey: 'key-1', weight: '2' }),
        await provider('2', { type: 'openai', apiKey: 'key-2', disabled: true }),
        await provider('3', { type: 'openai', apiKey: 'key-3' }, other),
        await provider('4', { type: 'openai', id: 'four' }),
        await provider('5', { type: 'gone', apiKey: 'key-5' }),
        await provider('6', { type: 'openai', id: 'auto', apiKey: 'key-6' }),
        entry('groups', 'fast', { models: ['m'] }),
        entry('groups', 'taken', { models: ['m'] }),
        entry('groups', 'twice', {
          models: [
            { model: 'm', weight: 1 },
            { model: 'm', weight: 1 },
          ],
        }),
        entry('groups', 'none', { models: [] }),
        entry('prices', 'p/m', { input: 1 }),
        entry('prices', 'p/n', { input: -1 }),
      ],
      { taken: ['n'] },
    )
    expect(found.providers.map(({ deployment }) => deployment && 'weight' in deployment && deployment.weight)).toEqual([
      2,
      undefined,
      undefined,
      undefined,
      undefined,
      undefined,
    ])
    expect(found.providers.map(({ fault }) => fault !== undefined)).toEqual([false, false, true, true, true, true])
    expect(found.groups.flatMap(({ entry, group }) => (group ? [entry.name] : []))).toEqual(['fast'])
    expect(found.prices.map(({ row }) => row)).toEqual([{ input: 1 }, undefined])
    const told = faultsOf(found)
    expect(told.map((fault) => fault.replace(/ must be one of.*/, ' …'))).toEqual([
      'The provider openai (3) of the store is left out: its settings cannot be decrypted: SESSION_SECRET is another one',
      'The provider four (4) of the store is left out: openai: the option "apiKey" is not set',
      'The provider gone (5) of the store is left out: type …',
      'The provider auto (6) of the store is left out: id must be letters, digits, dots, dashes and underscores, other than auto, and not "auto"',
      'The group none of the store is left out: none.models must be a list of models, each an id or { model, weight }, and not []',
      'The group taken of the store is left out: the configuration has a group "taken" (routing.groups, MODEL_GROUPS), which prevails and is changed there',
      'The group twice of the store is left out: createRouter: groups.twice: models[1]: "m" stands there twice',
      'The price p/n of the store is left out: input is -1; expected US dollars per million, 0 to 2000',
    ])
    expect(told.join()).not.toContain('key-')
  })

  it('is in the order in which providers were made, in whatever order they come', async () => {
    const entries = await Promise.all(['3', '1', '2'].map((name) => provider(name, { type: 'ollama' })))
    expect((await read(entries)).providers.map(({ entry }) => entry.name)).toEqual(['1', '2', '3'])
  })

  it('takes no path of a file, no variable and no credentials in an address', async () => {
    const faults = faultsOf(
      await read([
        await provider('1', { type: 'vertex', credentials: '/etc/passwd' }),
        await provider('2', { type: 'openai', apiKey: 'k', baseURL: 'http://user:secret@host' }),
      ]),
    )
    expect(faults[0]).toContain('not the path of its file')
    expect(faults[1]).toContain('baseURL must be without credentials')
    expect(faults.join()).not.toContain('secret')
    const { providers } = await read([await provider('3', { type: 'openai', apiKey: '${HOME}' })])
    expect(providers[0]!.given!['apiKey']).toBe('${HOME}')
  })
})

describe('providers', () => {
  const given = { type: 'groq' as const, apiKey: 'key', disabled: false }
  it('with the same settings are those of before, each once; their part of the load may differ', async () => {
    const transport = fetchTransport()
    const before = providerMaker(transport, builtInPrices())
    const makeBy = async ({ make }: typeof before, one: Parameters<typeof before.make>[0]) =>
      ((await make(one)) as { provider: object }).provider
    const first = [await makeBy(before, given), await makeBy(before, given)]
    const after = providerMaker(transport, builtInPrices(), before.made)
    const made: object[] = []
    for (const one of [{ ...given, weight: 3 }, given, given, { ...given, apiKey: 'other' }])
      made.push(await makeBy(after, one))
    expect(made.slice(0, 2)).toEqual(first)
    expect([made[0] === first[0], made[1] === first[1], first[0] === first[1]]).toEqual([true, true, false])
    expect(new Set(made).size).toBe(4)
    expect(after.made).toHaveLength(4)
    const elsewhere = providerMaker(fetchTransport(), builtInPrices(), before.made)
    expect(first).not.toContain(await makeBy(elsewhere, given))
  })
})
