import type { ListedModel, Need, PriceTable } from '@turnpike/core'
import { priceTable } from '@turnpike/core'
import { beforeEach, expect, it } from 'vitest'
import { anthropic } from '../anthropic/index.js'
import { google } from '../google/index.js'
import { openai } from '../openai/index.js'
import { createRouter } from './router.js'

const facts = (more: Partial<ListedModel> = {}): ListedModel => ({
  context: 500_000,
  maxOutput: 32_000,
  capabilities: ['chat', 'tools'],
  created: 1_800_000_000,
  ...more,
})

let table: PriceTable
const tell = (models: Record<string, ListedModel>, rows: Parameters<typeof priceTable>[0] = {}) => {
  table = { ...priceTable(rows), models }
}
beforeEach(() => tell({}))

const key = { apiKey: 'none' }
const router = createRouter({
  providers: [openai(key), anthropic(key), google(key), openai({ ...key, id: 'local' })],
  prices: { table: () => table },
})
const newer = async () => (await router.models()).filter(({ created }) => created === 1_800_000_000)
const target = async (model: string, provider?: string) => {
  const need: Need = {
    task: 'chat',
    request: { model, provider },
    expected: () => ({}),
    size: () => ({ prompt: 0, output: 40_000 }),
  }
  return (await router.candidates(need)).targets[0]!
}

it('lists the models that a table tells of, as soon as it does', async () => {
  expect(await newer()).toEqual([])
  tell({ 'openai/gpt-9': facts(), 'anthropic/claude-nano-9': facts({ capabilities: ['chat'] }) })
  expect(await newer()).toEqual([
    {
      id: 'gpt-9',
      object: 'model',
      created: 1_800_000_000,
      owned_by: 'openai',
      provider: 'openai',
      capabilities: ['chat', 'tools'],
    },
    expect.objectContaining({ id: 'claude-nano-9', provider: 'anthropic', capabilities: ['chat'] }),
  ])
  expect(await router.model('openai/gpt-9')).toMatchObject({ id: 'gpt-9', fidelity: { user: 'kept' } })
  tell({})
  expect(await newer()).toEqual([])
  expect(await router.model('gpt-9')).toBeUndefined()
})

it('lists only what a provider has that is configured, once, and can be asked for', async () => {
  tell({
    'openai/gpt-4o': facts(),
    'openai/gpt-4o-2024-11-20': facts(),
    'openai/llama-9': facts(),
    'mistral/mistral-large-9': facts(),
    'local/phi-9': facts(),
    'openai/gpt-realtime-9': facts({ capabilities: [] }),
    'google/gemini-9-flash': facts(),
    'google/gemini-9-flash-tts': facts({ capabilities: ['speech'] }),
  })
  expect((await newer()).map(({ id }) => id)).toEqual(['gemini-9-flash'])
  expect((await router.models()).filter(({ id }) => id === 'gpt-4o')).toHaveLength(2)
})

it('routes by what is told: its provider, its limits, its capabilities', async () => {
  // `gpt-9` belongs to the family of both; only one of them lists it.
  expect((await target('gpt-9', undefined)).provider.id).toBe('openai')
  tell({ 'local/gpt-9': facts() }, { 'local/gpt-9': { input: 1, output: 1 } })
  expect((await target('gpt-9')).provider.id).toBe('local')
  expect((await target('gpt-9')).limits?.()).toMatchObject({ context: 500_000, maxOutput: 32_000 })
  await expect(async () => target('gpt-9', 'auto')).rejects.toThrow(/can do what is asked for/)
  tell({ 'local/gpt-9': facts({ maxOutput: 64_000 }) }, { 'local/gpt-9': { input: 1, output: 1 } })
  expect((await target('gpt-9', 'auto')).limits?.()).toMatchObject({ maxOutput: 64_000 })
})

it('makes agents use a newer model of a middle size', async () => {
  const prices = { 'anthropic/claude-sonnet-5-5': { output: 1 }, 'anthropic/claude-sonnet-9': { output: 2 } }
  tell({ 'anthropic/claude-sonnet-9': facts() }, prices)
  expect(await router.agentModels()).toEqual(['anthropic/claude-sonnet-9'])
})
