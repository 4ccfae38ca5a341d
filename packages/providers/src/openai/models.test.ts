import { Model } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { CATALOGUE_DATE, listModels } from '../family.js'
import { openaiChat } from './chat.js'
import { isOpenaiModel, openaiCatalogue } from './models.js'

describe('the OpenAI catalogue', () => {
  it('lists valid models once each, under the id of the provider', () => {
    const models = listModels('openai', 'mine', openaiCatalogue)
    for (const model of models) expect(Model['~standard'].validate(model)).not.toHaveProperty('issues')
    expect(new Set(models.map(({ id }) => id)).size).toBe(models.length)
    expect(new Set(models.map(({ provider }) => provider))).toEqual(new Set(['mine']))
    expect(models.find(({ id }) => id === 'gpt-4o-mini')).toEqual({
      id: 'gpt-4o-mini',
      object: 'model',
      created: Date.parse(CATALOGUE_DATE) / 1000,
      owned_by: 'openai',
      provider: 'mine',
      capabilities: ['chat', 'tools', 'vision', 'json_schema'],
    })
    expect(models.every(({ id }) => isOpenaiModel(id))).toBe(true)
  })

  it('says of reasoning and tools what is sent', () => {
    const { request } = openaiChat('openai')
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const sends = (fields: object) => request({ messages: [], ...fields } as never).body as Record<string, unknown>
    for (const [model, capabilities] of Object.entries(openaiCatalogue)) {
      if (!capabilities.includes('chat') || model.startsWith('gpt-audio')) continue
      const effort = sends({ model, reasoning_effort: 'medium' })['reasoning_effort']
      expect(effort !== undefined, model).toBe(capabilities.includes('reasoning'))
      if (capabilities.includes('tools')) expect(sends({ model, tools })['tools']).toEqual(tools)
      else expect(() => sends({ model, tools }), model).toThrow('takes no function tools')
    }
  })

  it.each([
    'gpt-99',
    'chatgpt-4o-latest',
    'o1',
    'o9-mini',
    'text-embedding-3-small',
    'tts-1',
    'whisper-1',
    'dall-e-3',
    'ft:gpt-4o-mini-2024-07-18:org::id',
  ])('recognises %s by the form of its id', (model) => expect(isOpenaiModel(model)).toBe(true))
  it.each([
    '',
    'claude-sonnet-4',
    'gemini-2.5-pro',
    'omni',
    'my-gpt-4o',
    'ft:mistral-small:org::id',
    'GPT-4o',
    'openai/gpt-4o',
  ])('does not own %j', (model) => expect(isOpenaiModel(model)).toBe(false))
})
