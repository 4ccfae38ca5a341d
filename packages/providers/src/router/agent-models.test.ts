import type { Capability, Model, Price, Provider } from '@turnpike/core'
import { fixedPrices, priceTable } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { anthropic } from '../anthropic/index.js'
import { CATALOGUE_DATE } from '../family.js'
import { google } from '../google/index.js'
import { openai } from '../openai/index.js'
import { midSize } from './mid-size.js'
import type { RouterOptions } from './router.js'
import { createRouter } from './router.js'

const key = { apiKey: 'none' }
const families = { openai: openai(key), anthropic: anthropic(key), google: google(key) }

const model = (id: string, capabilities: Capability[] = ['chat', 'tools']): Model => ({
  id,
  object: 'model',
  created: 1,
  owned_by: 'x',
  provider: 'x',
  capabilities,
})

describe('the mid-size model', () => {
  const ofOutput = (rates: Record<string, number>): string | undefined =>
    midSize(
      Object.keys(rates).map((id) => model(id)),
      ({ id }) => ({ input: 100, output: rates[id]! }),
    )?.id

  it.each<[string, Record<string, number>, string | undefined]>([
    ['nothing of nothing', {}, undefined],
    ['the only one', { a: 5 }, 'a'],
    ['the cheaper of two', { a: 5, b: 4 }, 'b'],
    ['the one in the middle', { c: 9, a: 1, b: 2 }, 'b'],
    ['the lower one in the middle', { c: 9, a: 1, d: 30, b: 2 }, 'b'],
    ['the first of those with one price', { a: 3, b: 3, c: 3, d: 3 }, 'b'],
    ['the newest version, whatever it costs', { 'x-1': 5, 'x-1-5': 7, 'x-2': 6 }, 'x-2'],
    ['a version by its number', { 'x-5.9': 1, 'x-5.10': 1, 'x-5': 1 }, 'x-5.10'],
    [
      'a version without its preview',
      { 'x-2-pro': 10, 'x-3-pro-preview': 5, 'x-3-mini': 1, 'x-3-max': 9 },
      'x-3-pro-preview',
    ],
    ['a version in a name', { 'gpt-4o': 10, 'gpt-5': 20, 'gpt-4.1': 1, 'gpt-6-mini': 2 }, 'gpt-4o'],
    ['the first id of a version', { 'x-1': 2, 'x-1-2026-01-02': 1, 'x-1-latest': 1 }, 'x-1'],
  ])('is %s', (_, rates, expected) => expect(ofOutput(rates)).toBe(expected))

  it('can chat and call tools, and has a price for its output', () => {
    const prices: Record<string, Price> = { a: { output: 1 }, b: { output: 1 }, c: { input: 1 }, e: { output: 0 } }
    const models = [model('a', ['chat']), model('b', ['tools']), model('c'), model('d'), model('e')]
    const found = (list: Model[]) => midSize(list, ({ id }) => prices[id])?.id
    expect(models.map((one) => found([one]))).toEqual([undefined, undefined, undefined, undefined, 'e'])
  })
})

describe('the models for agents', () => {
  const agentModels = (providers: Provider[], more: Partial<RouterOptions> = {}) =>
    createRouter({ providers, now: () => Date.parse(CATALOGUE_DATE), ...more }).agentModels()

  // With the present catalogue and its prices: change them when a newer one has others, if those are of a middle size.
  it.each<[string, Provider[], string[]]>([
    ['openai', [families.openai], ['openai/gpt-5.4-mini']],
    ['anthropic', [families.anthropic], ['anthropic/claude-sonnet-5-5']],
    ['google', [families.google], ['google/gemini-4-argon']],
    [
      'all in their order',
      [families.google, families.anthropic, families.openai],
      ['google/gemini-4-argon', 'anthropic/claude-sonnet-5-5'],
    ],
    ['two keys of one provider', [families.openai, openai(key)], ['openai/gpt-5.4-mini']],
  ])('of %s are of a middle size', async (_, providers, expected) =>
    expect(await agentModels(providers)).toEqual(expected),
  )

  it('are of the first two providers that have one', async () => {
    // Its models have no price under this id.
    const local = openai({ ...key, id: 'local' })
    expect(await agentModels([local])).toEqual([])
    expect(await agentModels([local, families.google, families.openai])).toEqual([
      'google/gemini-4-argon',
      'openai/gpt-5.4-mini',
    ])
    const prices = fixedPrices(priceTable({ 'local/o3': { input: 1, output: 1 } }))
    expect(await agentModels([families.google, local], { prices })).toEqual(['local/o3'])
  })

  it('follow the prices in force', async () => {
    let output = 1
    const prices = { table: () => priceTable({ 'openai/o3': { output: 2 }, 'openai/gpt-5': { output } }) }
    const router = createRouter({ providers: [families.openai], prices })
    expect(await router.agentModels()).toEqual(['openai/gpt-5'])
    output = 3
    expect(await router.agentModels()).toEqual(['openai/o3'])
  })

  it.each<[defaults: NonNullable<RouterOptions['defaults']>, expected: string[]]>([
    [{ agent: 'openai/o3' }, ['openai/o3', 'anthropic/claude-sonnet-5-5']],
    [{ agent: 'o3' }, ['o3', 'anthropic/claude-sonnet-5-5']],
    [{ agent: 'anthropic/claude-x' }, ['anthropic/claude-x', 'openai/gpt-5.4-mini']],
    [{ agent: 'claude-x' }, ['claude-x', 'openai/gpt-5.4-mini']],
    [{ agent: 'fast' }, ['fast', 'openai/gpt-5.4-mini']],
    [{ agentAlternative: 'openai/o3' }, ['openai/gpt-5.4-mini', 'openai/o3']],
    [{ agent: 'fast', agentAlternative: 'o3' }, ['fast', 'o3']],
  ])('are those of the option %j, else of another provider', async (defaults, expected) => {
    const groups = { fast: ['gpt-4o-mini'] }
    expect(await agentModels([families.openai, families.anthropic], { groups, defaults })).toEqual(expected)
  })

  it('are routed to their providers, and leave the order of keys alone', async () => {
    const named = (name: string): Provider => Object.assign(openai(key), { name })
    const router = createRouter({ providers: [named('1'), named('2'), families.google], defaults: { agent: 'gpt-5' } })
    const order: string[] = []
    for (let i = 0; i < 4; i++)
      for (const id of await router.agentModels()) {
        const need = { task: 'chat', request: { model: id }, expected: () => ({}) } as const
        const { targets } = await router.candidates(need)
        const { target } = await router.attempt(targets, new AbortController().signal, async () => undefined)
        order.push((target.provider as Provider & { name?: string }).name ?? target.provider.id)
      }
    expect(order).toEqual(['1', 'google', '2', 'google', '1', 'google', '2', 'google'])
  })
})
