import { describe, expect, it } from 'vitest'
import { CATALOGUE_DATE, listModels } from '../family.js'
import { googleCatalogue, isGoogleModel, traitsOf } from './models.js'

describe('models', () => {
  it('are listed under the id of the provider', () => {
    const models = listModels('google', 'mine', googleCatalogue)
    expect(models).toHaveLength(15)
    expect(models[1]).toEqual({
      id: 'gemini-2.5-flash',
      object: 'model',
      created: Date.parse(CATALOGUE_DATE) / 1000,
      owned_by: 'google',
      provider: 'mine',
      capabilities: ['chat', 'tools', 'vision', 'json_schema', 'reasoning'],
    })
  })

  it('are recognised by the form of their ids', () => {
    for (const model of ['gemini-9', 'gemma-3-27b-it', 'models/gemini-2.5-pro', 'tunedModels/mine'])
      expect(isGoogleModel(model)).toBe(true)
    for (const model of ['gpt-4o', 'geminix', 'claude-sonnet-5', 'x/gemini-2']) expect(isGoogleModel(model)).toBe(false)
  })

  it.each([
    ['gemini-2.0-flash', false, true, undefined],
    ['gemini-2.5-flash-image', false, false, undefined],
    ['gemini-2.5-pro', false, false, { by: 'budget', least: 128, most: 32_768, off: false }],
    ['gemini-2.5-flash', false, false, { by: 'budget', least: 0, most: 24_576, off: true }],
    ['gemini-2.5-flash-lite', false, false, { by: 'budget', least: 512, most: 24_576, off: true }],
    ['models/gemini-3-flash-preview', true, false, { by: 'level', levels: ['minimal', 'low', 'medium', 'high'] }],
    ['gemini-3.1-pro-preview', true, false, { by: 'level', levels: ['low', 'medium', 'high'] }],
    ['gemini-3.6-flash', true, false, { by: 'level', levels: ['minimal', 'low', 'medium', 'high'] }],
    ['gemini-3.7-flash', true, false, { by: 'level', levels: ['low', 'medium', 'high'] }],
    ['gemini-12-flash', true, false, { by: 'level', levels: ['low', 'medium', 'high'] }],
    ['gemini-flash-latest', true, false, { by: 'level', levels: ['low', 'medium', 'high'] }],
    ['gemini-exp', false, false, undefined],
    ['tunedModels/mine', false, false, undefined],
  ])('%s', (model, gemini3, penalties, thinking) => {
    expect(traitsOf(model)).toEqual({ gemini3, gemma: false, penalties, thinking })
  })

  it('include Gemma', () => {
    expect(traitsOf('gemma-3-27b-it')).toMatchObject({ gemma: true, gemini3: false })
  })
})
