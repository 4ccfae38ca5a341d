import { describe, expect, it } from 'vitest'
import { modelsFromModelsDev } from './listed-models.js'

const text = { input: ['text'], output: ['text'] }
/** What is read of one model of the table. */
const read = (id: string, facts: unknown, provider = 'acme') =>
  modelsFromModelsDev({ [provider]: { models: { [id]: facts } } })[`${provider}/${id}`]

describe('what models.dev tells of a model', () => {
  it('are its limits, its capabilities and its date', () => {
    const facts = {
      id: 'gpt-7',
      attachment: true,
      reasoning: true,
      tool_call: true,
      structured_output: true,
      release_date: '2027-02-03',
      modalities: { input: ['text', 'image', 'pdf'], output: ['text'] },
      limit: { context: 2_000_000, input: 1_800_000, output: 200_000 },
    }
    expect(read('gpt-7', facts)).toEqual({
      context: 2_000_000,
      maxOutput: 200_000,
      capabilities: ['chat', 'tools', 'vision', 'json_schema', 'reasoning'],
      created: Date.UTC(2027, 1, 3) / 1000,
    })
  })

  it.each<[what: string, id: string, facts: object, capabilities: string[]]>([
    ['text', 'a', { modalities: text }, ['chat']],
    ['tools in words of later tables', 'a', { modalities: text, tool_call: 'yes' }, ['chat']],
    ['an embedding', 'text-embedding-9', { modalities: text }, ['embeddings']],
    ['an image', 'a', { modalities: { input: ['text', 'image'], output: ['image'] } }, ['images']],
    [
      'text and an image',
      'a',
      { modalities: { input: ['text', 'image'], output: ['text', 'image'] } },
      ['chat', 'images', 'vision'],
    ],
    ['speech', 'a-tts', { modalities: { input: ['text'], output: ['audio'] } }, ['speech']],
    ['what was said', 'a', { modalities: { input: ['audio'], output: ['text'] } }, ['transcription']],
    ['a video', 'a', { modalities: { input: ['text'], output: ['video'] } }, []],
    ['a live conversation', 'gemini-9-flash-live-preview', { modalities: text }, []],
    ['a live conversation of OpenAI', 'gpt-realtime-9', { modalities: text }, []],
    ['nothing any more', 'a', { modalities: text, status: 'deprecated' }, []],
    ['nothing that is told', 'a', {}, []],
  ])('are the capabilities of one that makes %s', (_, id, facts, capabilities) => {
    expect(read(id, facts)?.capabilities).toEqual(capabilities)
  })

  it.each<[provider: string, id: string, capabilities: string[]]>([
    ['openai', 'gpt-9-codex', []],
    ['openai', 'gpt-9-pro-2027-01-02', []],
    ['openai', 'o9-deep-research', []],
    ['openai', 'gpt-9-profound', ['chat', 'images']],
    ['openai', 'gpt-image-9', ['images']],
    ['google', 'gemini-9-pro', ['chat', 'images']],
    ['google', 'gemini-9-flash-image', ['chat', 'images']],
  ])(
    'are not those of an API that is not asked, nor chats of image models of OpenAI: %s/%s',
    (provider, id, expected) => {
      const facts = { modalities: { input: ['text'], output: ['text', 'image'] } }
      expect(read(id, facts, provider)?.capabilities).toEqual(expected)
    },
  )

  it('is undefined or 0 where it is not told', () => {
    expect(read('a', { limit: { context: 0, output: -1 }, release_date: '2027-13' })).toMatchObject({
      context: undefined,
      maxOutput: undefined,
      created: 0,
    })
    expect(read('text-embedding-9', { limit: { context: 8_191, output: 1_536 } })).toMatchObject({
      context: 8_191,
      maxOutput: undefined,
    })
    expect(read('a', { release_date: '2027-02' })?.created).toBe(Date.UTC(2027, 1, 1) / 1000)
  })

  it.each([null, 'no', [], { openai: null }, { openai: { models: [] } }])('is nothing of %j', (json) => {
    expect(modelsFromModelsDev(json)).toEqual({})
  })
})
