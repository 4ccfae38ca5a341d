import { describe, expect, it } from 'vitest'
import { ask, refusal } from '../../../../test/support/google.js'
import { CATALOGUE_DATE, listModels } from '../family.js'
import { googleRefusal } from '../testing/google-rules.js'
import { googleCatalogue, isGoogleModel, traitsOf } from './models.js'

describe('models', () => {
  it('are listed under the id of the provider', () => {
    const models = listModels('google', 'mine', googleCatalogue)
    expect(models).toHaveLength(Object.keys(googleCatalogue).length)
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

  const all = ['minimal', 'low', 'medium', 'high']
  const upper = ['low', 'medium', 'high']
  const xhigh = [...upper, 'xhigh']
  const budget = (least: number, most: number, off: boolean) => ({ by: 'budget', least, most, off })

  it.each([
    ['gemini-2.0-flash', undefined],
    ['gemini-2.5-flash-image', undefined],
    ['gemini-2.5-pro', budget(128, 32_768, false)],
    ['gemini-2.5-flash', budget(0, 24_576, true)],
    ['gemini-2.5-flash-lite', budget(512, 24_576, true)],
    ['models/gemini-3-flash-preview', all],
    ['gemini-3-pro-preview', ['low', 'high']],
    ['gemini-3.1-pro-preview', upper],
    ['gemini-3.1-pro-preview-customtools', upper],
    ['gemini-3.1-flash-lite', all],
    ['gemini-3.5-flash-lite', all],
    ['gemini-3.6-flash', all],
    ['gemini-3.7-flash', upper],
    ['gemini-3.8-flash', upper],
    ['gemini-4-argon', upper],
    ['gemini-4-hydrogen', xhigh],
    ['gemini-5-helium', xhigh],
    ['gemini-12-flash', upper],
    ['gemini-flash-latest', upper],
    ['gemini-flash-lite-latest', all],
    ['gemini-pro-latest', upper],
    ['gemini-3-pro-image', ['low', 'high']],
    ['gemini-3.1-flash-image', ['minimal', 'high']],
    ['gemini-nano-banana-2.1', ['minimal', 'high']],
    ['gemini-3.1-flash-tts-preview', undefined],
    ['gemini-embedding-2', undefined],
    ['gemini-exp', undefined],
    ['tunedModels/mine', undefined],
    ['gemma-3-27b-it', undefined],
  ])('%s has its levels or budget of thinking', (model, thinking) =>
    expect(traitsOf(model).thinking).toEqual(Array.isArray(thinking) ? { by: 'level', levels: thinking } : thinking),
  )

  const flags = (model: string) => {
    const { thinking: _, ...traits } = traitsOf(model)
    return Object.entries(traits).flatMap(([name, value]) => (value ? name : []))
  }
  const old = ['penalties', 'sampling', 'prefill']

  it.each([
    ['gemini-2.0-flash', old],
    ['gemini-2.5-flash', ['sampling', 'prefill']],
    ['gemini-2.5-flash-image', ['image', 'noVideo', 'sampling', 'prefill']],
    ['gemini-3-pro-preview', ['gemini3', 'sampling', 'prefill']],
    ['gemini-3-pro-image', ['gemini3', 'image', 'noVideo', 'sampling', 'prefill']],
    ['gemini-3.5-flash', ['gemini3', 'sampling', 'prefill', 'ids']],
    ['gemini-3.5-flash-lite', ['gemini3', 'ids']],
    ['gemini-3.6-flash', ['gemini3', 'ids']],
    ['gemini-4-argon', ['gemini3', 'ids']],
    ['gemini-9-neon', ['gemini3', 'ids']],
    ['gemini-nano-banana-2.1', ['gemini3', 'image', 'ids']],
    ['gemma-3-27b-it', ['gemma', 'sampling', 'prefill']],
    ['gemini-exp', ['sampling', 'prefill']],
  ])('%s has the features of its version', (model, features) => expect(flags(model)).toEqual(features))

  it.each([
    ['gemini-3-pro-preview', 'medium', 'high'],
    ['gemini-3-pro-preview', 'minimal', 'low'],
    ['gemini-3.1-flash-image', 'low', 'minimal'],
    ['gemini-3.1-flash-image', 'medium', 'high'],
    ['gemini-4-argon', 'xhigh', 'high'],
    ['gemini-4-argon', 'none', 'low'],
    ['gemini-4-hydrogen', 'xhigh', 'xhigh'],
    ['gemini-4-hydrogen', 'max', 'xhigh'],
    ['gemini-3.8-flash', 'minimal', 'low'],
  ])('%s gets the level that is nearest to the effort %s', (model, reasoning_effort, thinkingLevel) => {
    const { body, notes } = ask({ reasoning_effort }, model)
    expect(body['generationConfig']).toMatchObject({ thinkingConfig: { thinkingLevel } })
    expect(notes).toEqual(reasoning_effort === thinkingLevel ? [] : [{ field: 'reasoning_effort', action: 'clamped' }])
  })

  it.each(['gemini-3.6-flash', 'gemini-3.5-flash-lite', 'gemini-4-hydrogen', 'gemini-flash-latest'])(
    '%s ignores sampling parameters, which are named',
    (model) => {
      const { body, notes } = ask({ temperature: 0.2, top_p: 0.9, top_k: 5 }, model)
      expect(body['generationConfig']).toBeUndefined()
      expect(notes).toEqual(['temperature', 'top_p', 'top_k'].map((field) => ({ field, action: 'dropped' })))
    },
  )

  const withFile = (type: string) => [
    { role: 'user', content: [{ type: 'file', file: { file_data: `data:${type};base64,AAAA` } }] },
  ]
  it.each(['gemini-3-pro-image-preview', 'gemini-2.5-flash-image', 'gemini-3.1-flash-lite-image'])(
    '%s sees no video',
    (model) => {
      expect(refusal({ messages: withFile('video/mp4') }, model)).toMatchObject({ code: 'unsupported_parameter' })
      expect(googleRefusal(model, ask({ messages: withFile('video/mp4') }).body)).toBeDefined()
      expect(googleRefusal(model, ask({ messages: withFile('audio/mp3') }).body)).toBeDefined()
    },
  )
  it.each(['gemini-3.1-flash-image', 'gemini-3.1-flash-image-preview', 'gemini-nano-banana-2.1'])(
    '%s sees videos',
    (model) => {
      const { body } = ask({ messages: withFile('video/mp4') }, model)
      expect(body['contents']).toMatchObject([{ parts: [{ inlineData: { mimeType: 'video/mp4' } }] }])
      expect(googleRefusal(model, body)).toBeUndefined()
    },
  )

  it.each(['gemini-3-pro-image-preview', 'gemini-3.1-flash-image', 'gemini-2.5-flash-image', 'gemini-nano-banana-2.1'])(
    '%s has neither tools nor a JSON mode, nor ears',
    (model) => {
      const tools = [{ type: 'function', function: { name: 'f' } }]
      const code = 'unsupported_parameter'
      expect(refusal({ tools }, model)).toMatchObject({ status: 400, code })
      expect(refusal({ messages: withFile('audio/mp3') }, model)).toMatchObject({ status: 400, code })
      const { body, notes } = ask({ response_format: { type: 'json_object' } }, model)
      expect(notes).toEqual([{ field: 'response_format', action: 'emulated' }])
      expect(googleRefusal(model, body)).toBeUndefined()
    },
  )

  it.each([
    'gemini-3.1-flash-live-preview',
    'gemini-2.5-flash-native-audio-latest',
    'models/gemini-3.5-live-translate',
  ])('%s of the Live API is refused', (model) =>
    expect(refusal({}, model)).toMatchObject({ status: 400, code: 'model_not_found' }),
  )
})
