import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { openaiRefusal } from '../testing/openai-rules.js'
import { openaiChat } from './chat.js'

const { request } = openaiChat('openai')
const messages: ChatCompletionRequest['messages'] = [{ role: 'user', content: 'Hi' }]
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } }]

/** What is sent and noted of fields for a model; OpenAI's rules refuse nothing of it. */
function fitted(model: string, fields: object): { sent: Record<string, unknown>; notes: string[] } {
  const { body, notes } = request({ model, messages, ...fields })
  const sent = JSON.parse(JSON.stringify(body)) as Record<string, unknown>
  expect(openaiRefusal(sent), `${model} ${JSON.stringify(fields)}`).toBeUndefined()
  return { sent, notes: notes.map(({ field, action }) => `${action}=${field}`) }
}

/** The models of today, with later ones and those of an organisation of one's own. */
const all = `
  gpt-3.5-turbo gpt-35-turbo gpt-4 gpt-4-turbo gpt-4.1 gpt-4.1-nano-2025-04-14 gpt-4o gpt-4o-mini chatgpt-4o-latest
  gpt-4o-audio-preview gpt-audio gpt-4o-search-preview gpt-4o-mini-search-preview o1 o1-2024-12-17 o3-mini o3 o4-mini gpt-5
  gpt-5-mini gpt-5-nano-2025-08-07 gpt-5-chat-latest gpt-5-search-api gpt-5.1 gpt-5.1-chat-latest gpt-5.2 gpt-5.2-2025-12-11
  gpt-5.3-chat-latest chat-latest gpt-5.4 gpt-5.4-mini gpt-5.4-nano-2026-03-17 gpt-5.5 gpt-5.6 gpt-5.6-sol gpt-5.6-terra gpt-5.6-luna
  gpt-5.7 gpt-6-sol gpt-6-luna gpt-6.1-terra gpt-7 gpt-10 ft:gpt-4o-mini-2024-07-18:org::id ft:gpt-5.5:org:my-chat:id
`
  .trim()
  .split(/\s+/)
describe('nothing that a model of OpenAI refuses is sent to it', () => {
  const fields = {
    temperature: [undefined, 0, 1],
    reasoning_effort: [undefined, 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'],
    tools: [undefined, tools],
    verbosity: [undefined, 'low', 'medium'],
  }
  const others = {
    top_p: 0.5,
    frequency_penalty: 1,
    presence_penalty: 1,
    logprobs: true,
    top_logprobs: 2,
    logit_bias: { 1: 2 },
    stop: ['x'],
    prediction: { type: 'content', content: 'x' },
    max_tokens: 5,
  }
  it.each(all)('%s', (model) => {
    for (const temperature of fields.temperature)
      for (const reasoning_effort of fields.reasoning_effort)
        for (const given of fields.tools)
          for (const verbosity of fields.verbosity)
            for (const more of [{}, others]) {
              const all = { temperature, reasoning_effort, tools: given, verbosity, ...more }
              fitted(model, given ? { ...all, parallel_tool_calls: false } : all)
            }
  })
})

describe('B1: a temperature', () => {
  it.each([
    'gpt-5.5',
    'gpt-5.5-2026-04-23',
    'gpt-5.6-luna',
    'gpt-5.9',
    'gpt-6-sol',
    'gpt-8-mini',
    'gpt-5.2-chat-latest',
  ])('is dropped for %s, which reasons where nothing is said', (model) => {
    const { sent, notes } = fitted(model, { temperature: 0.2, top_p: 0.5 })
    expect([sent['temperature'], sent['top_p'], notes]).toEqual([
      undefined,
      undefined,
      ['dropped=temperature', 'dropped=top_p'],
    ])
    expect(fitted(model, { temperature: 1 }).notes).toEqual([])
  })
  it.each(['gpt-5.1', 'gpt-5.4-mini', 'gpt-5.5', 'gpt-5.6-terra', 'gpt-5.9'])(
    'is sent to %s with the effort none',
    (model) => {
      const { sent, notes } = fitted(model, { temperature: 0.2, logprobs: true, reasoning_effort: 'none' })
      expect([sent['temperature'], sent['logprobs'], notes]).toEqual([0.2, true, []])
    },
  )
  it('is dropped for gpt-6 and later with any effort', () => {
    expect(fitted('gpt-6-luna', { temperature: 0.2, reasoning_effort: 'none' }).notes).toEqual(['dropped=temperature'])
  })
  it('is sent to models that do not reason, and to gpt-5.1 to gpt-5.4 where nothing is said', () => {
    for (const model of [
      'gpt-4o',
      'gpt-4.1-mini',
      'chatgpt-4o-latest',
      'gpt-5-chat-latest',
      'gpt-5.1',
      'gpt-5.4',
      'gpt-35-turbo',
    ])
      expect(fitted(model, { temperature: 0.2 })).toMatchObject({ sent: { temperature: 0.2 }, notes: [] })
  })
})

describe('B2: function tools', () => {
  const models = ['gpt-5.4', 'gpt-5.4-mini', 'gpt-5.5', 'gpt-5.6-sol', 'gpt-5.8', 'gpt-6-luna', 'gpt-7.1']
  it.each(models)('of %s need the effort none', (model) => {
    for (const reasoning_effort of [undefined, 'low', 'xhigh'])
      expect(fitted(model, { tools, reasoning_effort })).toMatchObject({
        sent: { reasoning_effort: 'none', tools },
        notes: ['clamped=reasoning_effort'],
      })
    expect(fitted(model, { tools, reasoning_effort: 'none' }).notes).toEqual([])
  })
  it.each(['gpt-5', 'gpt-5.1', 'gpt-5.2', 'o3'])('of %s may have an effort', (model) => {
    expect(fitted(model, { tools, reasoning_effort: 'high' })).toMatchObject({
      sent: { reasoning_effort: 'high' },
      notes: [],
    })
    expect(fitted(model, { tools }).sent).not.toHaveProperty('reasoning_effort')
  })
  it('leave the temperature of a model that then does not reason', () => {
    expect(fitted('gpt-5.5', { tools, temperature: 0.2 })).toMatchObject({
      sent: { temperature: 0.2 },
      notes: ['clamped=reasoning_effort'],
    })
  })
  it.each(['gpt-6-astra', 'gpt-6.2-astra', 'gpt-6.1-sol', 'gpt-6.2-sol', 'gpt-7-sol'])(
    'are refused by %s, which no effort lets through',
    (model) => {
      for (const reasoning_effort of [undefined, 'low', 'none'])
        expect(() => request({ model, messages, tools, reasoning_effort } as ChatCompletionRequest)).toThrow(
          `${model} takes no function tools on Chat Completions`,
        )
    },
  )
})

describe('B3: an effort', () => {
  it.each<[model: string, given: string, sent: string | undefined, notes: string[]]>([
    ['gpt-4o', 'low', undefined, ['dropped=reasoning_effort']],
    ['gpt-4.1-mini', 'high', undefined, ['dropped=reasoning_effort']],
    ['gpt-3.5-turbo', 'medium', undefined, ['dropped=reasoning_effort']],
    ['gpt-5-chat-latest', 'medium', undefined, ['dropped=reasoning_effort']],
    ['gpt-4o-search-preview', 'low', undefined, ['dropped=reasoning_effort']],
    ['ft:gpt-4.1:org::id', 'low', undefined, ['dropped=reasoning_effort']],
    ['gpt-4o', 'none', undefined, []],
    ['gpt-5', 'none', 'minimal', ['clamped=reasoning_effort']],
    ['gpt-5-mini', 'xhigh', 'high', ['clamped=reasoning_effort']],
    ['o3', 'minimal', 'low', ['clamped=reasoning_effort']],
    ['o4-mini', 'none', 'low', ['clamped=reasoning_effort']],
    ['o1', 'max', 'high', ['clamped=reasoning_effort']],
    ['gpt-5.1', 'minimal', 'low', ['clamped=reasoning_effort']],
    ['gpt-5.1', 'xhigh', 'high', ['clamped=reasoning_effort']],
    ['gpt-5.1-codex-max', 'max', 'xhigh', ['clamped=reasoning_effort']],
    ['gpt-5.2', 'max', 'xhigh', ['clamped=reasoning_effort']],
    ['gpt-5.6-sol', 'max', 'xhigh', ['clamped=reasoning_effort']],
    ['gpt-5.3-chat-latest', 'high', 'medium', ['clamped=reasoning_effort']],
    ['gpt-6-astra', 'none', 'low', ['clamped=reasoning_effort']],
    ['gpt-6.1-sol', 'none', 'low', ['clamped=reasoning_effort']],
    ['gpt-6.2-astra', 'minimal', 'low', ['clamped=reasoning_effort']],
    ['gpt-9', 'minimal', 'low', ['clamped=reasoning_effort']],
    ['gpt-5', 'minimal', 'minimal', []],
    ['gpt-5.5', 'xhigh', 'xhigh', []],
    ['gpt-6-sol', 'none', 'none', []],
  ])('to %s: %s becomes %s', (model, given, sent, notes) => {
    const made = fitted(model, { reasoning_effort: given })
    expect([made.sent['reasoning_effort'], made.notes]).toEqual([sent, notes])
  })

  it('that OpenAI does not have is left to it', () => {
    expect(
      request({ model: 'gpt-5', messages, reasoning_effort: 'ultra' } as ChatCompletionRequest).body,
    ).toMatchObject({
      reasoning_effort: 'ultra',
    })
  })
})

describe('B3: other parameters', () => {
  it.each<[models: string[], fields: object, notes: string[]]>([
    [['gpt-4o', 'o3', 'gpt-5-chat-latest', 'gpt-4.1'], { verbosity: 'low' }, ['dropped=verbosity']],
    [['gpt-4o', 'o4-mini', 'gpt-5.1'], { verbosity: 'medium' }, []],
    [['gpt-5', 'gpt-5.2-chat-latest', 'gpt-5.6', 'gpt-6-sol'], { verbosity: 'high' }, []],
    [['o1', 'o3-mini', 'o3', 'o4-mini'], { tools, parallel_tool_calls: false }, ['dropped=parallel_tool_calls']],
    [['o3'], { tools, parallel_tool_calls: true }, []],
    [['gpt-5'], { tools, parallel_tool_calls: false, reasoning_effort: 'minimal' }, ['dropped=parallel_tool_calls']],
    [['gpt-4o', 'gpt-5', 'gpt-5.1'], { tools, parallel_tool_calls: false }, []],
    [['gpt-5', 'gpt-5.5', 'o3', 'gpt-4-turbo', 'gpt-4o-audio-preview'], { prediction: {} }, ['dropped=prediction']],
    [['gpt-4o', 'gpt-4o-mini-2024-07-18', 'gpt-4.1-nano'], { prediction: {} }, []],
    [['gpt-5.1', 'gpt-5.2', 'gpt-5.4-mini', 'gpt-6-sol', 'gpt-5.1-chat-latest'], { stop: 'x' }, ['dropped=stop']],
    [['gpt-4o', 'o1', 'o3-mini', 'gpt-5.5', 'gpt-5.6-luna'], { stop: 'x' }, []],
    [['gpt-4.1', 'gpt-5', 'gpt-5.1', 'gpt-5.5'], { prompt_cache_retention: '24h' }, []],
    [
      ['gpt-5.6', 'gpt-5.6-sol', 'gpt-6-luna', 'gpt-6.2-astra', 'gpt-7'],
      { prompt_cache_retention: '24h' },
      ['dropped=prompt_cache_retention'],
    ],
  ])('%j with %j: %j', (models, fields, notes) => {
    for (const model of models) expect(fitted(model, fields).notes, model).toEqual(notes)
  })

  const said = (part: object) => [{ role: 'user', content: [part] }]
  const sound = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
  const video = { type: 'video_url', video_url: { url: 'https://example.com/a.mp4' } }
  it.each([
    ['gpt-4o', sound],
    ['gpt-5.5', sound],
    ['o3', sound],
    ['gpt-4.1', video],
    ['gpt-6-luna', video],
    ['gpt-audio', video],
  ])('%s takes no %o', (model, part) => {
    expect(openaiRefusal({ model, messages: said(part) })).toBeDefined()
    expect(() => request({ model, messages: said(part) } as ChatCompletionRequest)).toThrow(
      `${model} takes no ${part.type} in messages`,
    )
  })
  it.each(['gpt-audio', 'gpt-audio-1.5', 'gpt-4o-audio-preview', 'gpt-4o-mini-audio-preview', 'qwen3-omni'])(
    '%s hears',
    (model) => {
      expect(fitted(model, { messages: said(sound) }).sent['messages']).toEqual(said(sound))
    },
  )

  it.each<[fields: object, sent: object, notes: string[]]>([
    [{ parallel_tool_calls: false }, {}, ['dropped=parallel_tool_calls']],
    [{ parallel_tool_calls: true, tools: [] }, {}, []],
    [{ tool_choice: 'auto', tools: [] }, {}, []],
    [{ tool_choice: 'none' }, {}, []],
    [{ max_tokens: 5, max_completion_tokens: 7 }, { max_completion_tokens: 7 }, ['dropped=max_tokens']],
    [{ max_tokens: 7, max_completion_tokens: 7 }, { max_completion_tokens: 7 }, []],
  ])('%j without tools is sent as %j', (fields, expected, notes) => {
    for (const model of ['gpt-4o', 'gpt-5.5', 'o3', 'gpt-3.5-turbo', 'gpt-6-astra'])
      expect(fitted(model, fields), model).toEqual({ sent: { model, messages, ...expected }, notes })
  })
  it('a choice that demands a call is left to OpenAI, which refuses it without tools', () => {
    expect(request({ model: 'gpt-4o', messages, tool_choice: 'required' }).body).toMatchObject({
      tool_choice: 'required',
    })
  })

  it('of models of others are sent as they are', () => {
    const fields = { reasoning_effort: 'minimal', verbosity: 'low', prediction: {}, temperature: 0.2, tools }
    for (const model of ['gpt-oss-120b', 'openai/gpt-5.5', 'my-deployment', 'mistral-large-latest'])
      expect(request({ model, messages, ...fields } as ChatCompletionRequest)).toMatchObject({
        body: fields,
        notes: [],
      })
  })
})
