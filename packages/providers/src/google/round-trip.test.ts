import { describe, expect, it } from 'vitest'
import { ask, contentsOf, run, user } from '../../../../test/support/google.js'
import { googleRefusal } from '../testing/google-rules.js'
import { googleChat } from './index.js'

// What Gemini signs, and the images that it makes, in the forms in which clients send them back.

type Loose = Record<string, unknown>

const UNSIGNED = 'skip_thought_signature_validator'
const tools = [{ type: 'function', function: { name: 'f' } }]
const png = (data = 'AAAA') => ({ inlineData: { mimeType: 'image/png', data } })
const image = (data = 'AAAA') => ({ type: 'image_url', image_url: { url: `data:image/png;base64,${data}` } })
const detail = (data: string, id?: string, format = 'google-gemini-v1') => ({
  type: 'reasoning.encrypted',
  data,
  ...(id && { id }),
  format,
  index: 0,
})
const answerOf = (parts: object[]) => ({
  candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP', index: 0 }],
  responseId: 'abc',
})

/** The message of an answer that comes whole, and of one whose parts are streamed, joined as clients join chunks. */
async function messagesOf(parts: object[]): Promise<Loose[]> {
  const { choices } = googleChat('google').response(answerOf(parts), { model: 'm', messages: [] })
  const { batches } = await run(...parts.map((part) => answerOf([part])))
  const joined: Loose = { role: 'assistant', content: '' }
  for (const { choices: streamed } of batches.flat() as { choices: { delta: Loose }[] }[])
    for (const { delta } of streamed)
      for (const [name, value] of Object.entries(delta)) {
        if (name === 'content') joined[name] = `${joined[name] as string}${(value as string | null) ?? ''}`
        else if (name === 'tool_calls') joined[name] = joinCalls((joined[name] ?? []) as Loose[], value as Loose[])
        else
          joined[name] = Array.isArray(value)
            ? [...((joined[name] ?? []) as unknown[]), ...(value as unknown[])]
            : value
      }
  return [choices[0]!.message, joined]
}

function joinCalls(calls: Loose[], entries: Loose[]): Loose[] {
  for (const { index, ...entry } of entries) {
    const call = calls[index as number]
    if (!call) calls[index as number] = structuredClone(entry)
    else (call['function'] as { arguments: string }).arguments += (entry['function'] as { arguments: string }).arguments
  }
  return calls
}

const without = (fields: Loose, name: string): Loose =>
  Object.fromEntries(Object.entries(fields).filter(([one]) => one !== name))

const resultsOf = ({ tool_calls = [] }: Loose) =>
  (tool_calls as { id: string }[]).map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'x' }))

/** The parts of the model's turn where a message is sent back. */
function sentParts(message: Loose, model: string): Loose[] {
  const again = (message['tool_calls'] ? resultsOf(message) : [{ role: 'user', content: 'Go on' }]) as object[]
  const { body } = ask({ messages: [user, message, ...again], ...(message['tool_calls'] ? { tools } : {}) }, model)
  expect(googleRefusal(model, body)).toBeUndefined()
  return (body['contents'] as { parts: Loose[] }[])[1]!.parts
}

describe('a signed call', () => {
  const parts = [
    { functionCall: { name: 'f', args: { a: 1 }, id: 'own-1' }, thoughtSignature: 'one' },
    { functionCall: { name: 'f', args: {} } },
  ]
  /** What clients leave of a message. */
  const forms: [client: string, of: (message: Loose) => Loose][] = [
    ['OpenAI SDK, all fields', (message) => message],
    ['AI SDK, with extra_content', (message) => without(message, 'reasoning_details')],
    [
      'Cline and others of OpenRouter, with reasoning_details',
      (message) => ({
        ...message,
        tool_calls: (message['tool_calls'] as Loose[]).map((call) => without(call, 'extra_content')),
      }),
    ],
  ]

  it.each(forms)('is sent back as it was, as %s keep it', async (_, of) => {
    for (const model of ['gemini-3.1-pro-preview', 'gemini-4-hydrogen', 'gemini-2.5-pro'])
      for (const message of await messagesOf(parts))
        expect(sentParts(of(message), model)).toMatchObject([
          { functionCall: { name: 'f', args: { a: 1 }, id: 'own-1' }, thoughtSignature: 'one' },
          { functionCall: { name: 'f', args: {} } },
        ])
  })

  it('threat 171: is sent once, also where several calls have its id', () => {
    const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [call, call],
      reasoning_details: [detail('x', 'a')],
    }
    const [first, second] = sentParts(message, 'gemini-3.1-pro-preview')
    expect([first, second]).toMatchObject([{ thoughtSignature: 'x' }, { functionCall: { name: 'f' } }])
    expect(second).not.toHaveProperty('thoughtSignature')
  })

  it('of another family gets the signature that Google documents', () => {
    const call = { id: 'toolu_1', type: 'function', function: { name: 'f', arguments: '{}' } }
    for (const reasoning_details of [undefined, [detail('other', 'toolu_1', 'anthropic-claude-v1')], 'x', [null]]) {
      const message = { role: 'assistant', content: null, tool_calls: [call], reasoning_details }
      expect(sentParts(message, 'gemini-3.1-pro-preview')).toMatchObject([{ thoughtSignature: UNSIGNED }])
      expect(sentParts(message, 'gemini-2.5-pro')[0]).not.toHaveProperty('thoughtSignature')
    }
  })

  it('of another family is named in the warnings', () => {
    const said = { role: 'assistant', content: 'a', thinking_blocks: [{ type: 'thinking' }] }
    const notes = (reasoning_details: object[]) =>
      ask({ messages: [user, { ...said, reasoning_details }, user] }).notes.map(({ field }) => field)
    expect(notes([detail('x', 'a', 'anthropic-claude-v1')])).toEqual([
      'messages.reasoning_details',
      'messages.thinking_blocks',
    ])
    expect(notes([detail('x', 'a')])).toEqual([])
  })
})

it('threat 171: images in texts are 3,600 at most in a request', () => {
  const answers = (...counts: number[]) =>
    counts.map((count) => ({ role: 'assistant', content: '![](data:image/png;base64,AAAA)'.repeat(count) }))
  const partsOf = (...counts: number[]) => {
    const { contents } = ask({ messages: [user, ...answers(...counts), user] }).body as {
      contents: { parts: object[] }[]
    }
    return contents[1]!.parts.length
  }
  expect(partsOf(3_600)).toBe(3_600)
  expect(partsOf(1_800, 1_800)).toBe(3_600)
  expect(() => partsOf(3_601)).toThrow('at most 3600 images')
  expect(() => partsOf(1_800, 1_801)).toThrow('at most 3600 images')
})

describe('a signed text', () => {
  it.each([
    [[{ text: 'Hello' }, { text: '', thoughtSignature: 'end' }]],
    [[{ text: 'Hel' }, { text: 'lo', thoughtSignature: 'end' }]],
  ])('is sent back with its signature: %j', async (parts) => {
    for (const message of await messagesOf(parts)) {
      const signed = [{ text: 'Hello', thoughtSignature: 'end' }]
      expect(sentParts(message, 'gemini-3.1-pro-preview')).toEqual(signed)
      expect(sentParts(without(message, 'extra_content'), 'gemini-3.1-pro-preview')).toEqual(signed)
    }
  })
})

describe('an image of Gemini', () => {
  const model = 'gemini-3-pro-image'
  const parts = [
    { text: 'Hm', thought: true },
    { text: 'Here.', thoughtSignature: 'text' },
    { ...png(), thoughtSignature: 'image' },
  ]
  const back = [
    { text: 'Here.', thoughtSignature: 'text' },
    { ...png(), thoughtSignature: 'image' },
  ]

  it('is sent back with its signature, as it was given', async () => {
    for (const message of await messagesOf(parts)) {
      expect(message['images']).toMatchObject([
        { ...image(), extra_content: { google: { thought_signature: 'image' } } },
      ])
      for (const id of [model, 'gemini-3.1-flash-image', 'gemini-2.5-flash-image', 'gemini-3.1-pro-preview'])
        expect(sentParts(message, id)).toEqual(back)
    }
  })

  const said = { role: 'assistant', content: 'Here.' }
  const unsigned = [
    { text: 'Here.', thoughtSignature: UNSIGNED },
    { ...png(), thoughtSignature: UNSIGNED },
  ]
  it.each<[form: string, message: Loose, sent: object[]]>([
    ['OpenRouter: the image alone', { ...said, images: [image()] }, unsigned],
    [
      'OpenRouter: signatures in reasoning_details',
      { ...said, images: [{ ...image(), index: 0 }], reasoning_details: [detail('text'), detail('image')] },
      back,
    ],
    [
      'the signature of the image only',
      { ...said, images: [image()], reasoning_details: [detail('image')] },
      [unsigned[0]!, back[1]!],
    ],
    [
      'LangChain: parts of the content',
      {
        ...said,
        content: [
          { type: 'text', text: 'Here.', extra_content: { google: { thought_signature: 'text' } } },
          { ...image(), extra_content: { google: { thought_signature: 'image' } } },
        ],
      },
      back,
    ],
    ['Open WebUI: Markdown in the text', { ...said, content: 'Here.![picture](data:image/png;base64,AAAA)' }, unsigned],
    [
      'no text',
      { role: 'assistant', content: null, images: [image(), image('BBBB')] },
      [unsigned[1]!, { ...png('BBBB'), thoughtSignature: UNSIGNED }],
    ],
  ])('is sent back where a client keeps it in another form: %s', (_, message, sent) => {
    expect(sentParts(message, model)).toEqual(sent)
  })

  it('needs no signature before Gemini 3', () => {
    expect(sentParts({ ...said, images: [image()] }, 'gemini-2.5-flash-image')).toEqual([{ text: 'Here.' }, png()])
  })

  it.each([{ images: 'x' }, { images: [1] }, { images: [{ image_url: {} }] }])('is refused as %j', (fields) => {
    expect(() => ask({ messages: [user, { ...said, ...fields }, user] }, model)).toThrow('images must be a list')
  })
})

describe('an image in the result of a tool', () => {
  const call = { id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }
  const asked = { role: 'assistant', content: null, tool_calls: [call] }
  const result = (...content: object[]) => [user, asked, { role: 'tool', tool_call_id: 'call_1', content }]
  const text = { type: 'text', text: 'A cat' }
  const pdf = { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBE' } }
  const audio = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }

  it.each<[string, object[], object[]]>([
    ['an image', [text, image()], [png()]],
    ['images', [image(), text, image('BBBB')], [png(), png('BBBB')]],
    ['a document', [text, pdf], [{ inlineData: { mimeType: 'application/pdf', data: 'JVBE' } }]],
  ])('is a part of it on Gemini 3: %s', (_, content, parts) => {
    const { body } = ask({ messages: result(...content), tools }, 'gemini-3.1-pro-preview')
    const output = content.includes(text) ? 'A cat' : ''
    expect((body['contents'] as object[]).slice(2)).toEqual([
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output }, parts } }] },
    ])
    expect(googleRefusal('gemini-3.1-pro-preview', body)).toBeUndefined()
  })

  it.each([
    ['gemini-2.5-flash', image(), png()],
    ['gemini-3.1-pro-preview', audio, { inlineData: { mimeType: 'audio/wav', data: 'UklGRg==' } }],
  ])('is a content of the user after the result on %s', (model, part, sent) => {
    const { body } = ask({ messages: [...result(text, part), { role: 'user', content: 'Well?' }], tools }, model)
    expect((body['contents'] as object[]).slice(2)).toEqual([
      { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: 'A cat' } } }] },
      { role: 'user', parts: [{ text: 'From the result of f:' }, sent] },
      { role: 'user', parts: [{ text: 'Well?' }] },
    ])
    expect(googleRefusal(model, body)).toBeUndefined()
  })
})

describe('ids of calls', () => {
  const call = (id: string) => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
  const history = (id: string) => [
    user,
    { role: 'assistant', content: null, tool_calls: [call(id)] },
    { role: 'tool', tool_call_id: id, content: 'x' },
  ]
  const idsOf = (id: string, model: string) =>
    (contentsOf(history(id), model) as { parts: Record<string, { id?: string }>[] }[])
      .slice(1)
      .map(({ parts }) => (parts[0]!['functionCall'] ?? parts[0]!['functionResponse'])!.id)

  it.each(['toolu_01', 'call_abc', 'own-1', ''])('are the same for the call and its result from 3.5 on: %j', (id) => {
    for (const model of ['gemini-3.5-flash', 'gemini-4-argon', 'gemini-flash-latest'])
      expect(idsOf(id, model)).toEqual([id || 'call_0', id || 'call_0'])
  })

  it('are those of Gemini itself before', () => {
    expect(idsOf('toolu_01', 'gemini-3.1-pro-preview')).toEqual([undefined, undefined])
    expect(idsOf('own-1', 'gemini-3.1-pro-preview')).toEqual(['own-1', 'own-1'])
  })
})

describe('a conversation that ends with an answer', () => {
  const messages = [user, { role: 'assistant', content: '{"a":' }]

  it.each(['gemini-3.6-flash', 'gemini-3.5-flash-lite', 'gemini-4-argon'])('is asked to go on for %s', (model) => {
    const { body, notes } = ask({ messages }, model)
    expect(notes).toEqual([{ field: 'messages', action: 'emulated' }])
    const contents = body['contents'] as { role: string; parts: { text: string }[] }[]
    expect(contents.map(({ role }) => role)).toEqual(['user', 'model', 'user'])
    expect(contents[2]!.parts[0]!.text).toMatch(/^Go on/)
    expect(googleRefusal(model, body)).toBeUndefined()
  })

  it.each(['gemini-3.5-flash', 'gemini-2.5-pro'])('is continued by %s itself', (model) => {
    const { body, notes } = ask({ messages }, model)
    expect(notes).toEqual([])
    expect(body['contents']).toHaveLength(2)
  })
})
