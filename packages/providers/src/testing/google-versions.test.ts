import { describe, expect, it } from 'vitest'
import { fakeGoogle } from './fake-google.js'
import { googleRefusal } from './google-rules.js'

// What Google refuses by the version of a model, as of November 2026.

const user = { role: 'user', parts: [{ text: 'Hi' }] }
const model = (...parts: object[]) => ({ role: 'model', parts })
const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } }
const signed = { thoughtSignature: 'x' }
const call = (id?: string) => ({ functionCall: { name: 'f', args: {}, id }, ...signed })
const result = (id?: string, parts?: object[]) => ({
  role: 'user',
  parts: [{ functionResponse: { name: 'f', response: {}, id, parts } }],
})
const refusal = (id: string, contents: object[], more: object = {}) => googleRefusal(id, { contents, ...more })

describe('Google refuses', () => {
  it.each<[what: string, refused: string, taken: string, contents: object[], message: string]>([
    ['an ending answer', 'gemini-3.6-flash', 'gemini-3.5-flash', [user, model({ text: 'a' })], 'Requests ending with'],
    ['it', 'gemini-3.5-flash-lite', 'gemini-3.1-flash-lite', [user, model({ text: 'a' })], 'Requests ending with'],
    [
      'an unsigned image',
      'gemini-3-pro-image',
      'gemini-2.5-flash-image',
      [user, model({ ...signed, text: 'a' }, image), user],
      'Image part is missing a thought_signature in content position 2, part position 2',
    ],
    [
      'an unsigned text of an image model',
      'gemini-3-pro-image',
      'gemini-3.1-pro-preview',
      [user, model({ text: 'a' }), user],
      'Text part is missing a thought_signature',
    ],
    [
      'a result without an id',
      'gemini-3.5-flash',
      'gemini-3.1-pro-preview',
      [user, model(call()), result()],
      'Please ensure that each function response',
    ],
    [
      'a result with another id',
      'gemini-4-argon',
      'gemini-3-flash-preview',
      [user, model(call('1')), result('2')],
      'Please ensure that each function response',
    ],
    [
      'an image in a result',
      'gemini-2.5-pro',
      'gemini-3.1-pro-preview',
      [user, model(call('1')), result('1', [image])],
      'Multimodal function responses',
    ],
  ])('%s on %s, and not on %s', (_, refused, taken, contents, message) => {
    expect(refusal(refused, contents)).toContain(message)
    expect(refusal(taken, contents)).toBeUndefined()
  })

  it('other media in a result', () => {
    const of = (part: object) => refusal('gemini-3.1-pro-preview', [user, model(call()), result(undefined, [part])])
    expect(of({ inlineData: { mimeType: 'audio/wav', data: 'AAAA' } })).toContain('Unsupported MIME type')
    expect(of({ text: 'a' })).toContain('Unknown name "text"')
    expect(
      refusal('gemini-3.1-pro-preview', [
        user,
        model(call()),
        { role: 'user', parts: [{ functionResponse: { name: 'f', response: {}, parts: {} } }] },
      ]),
    ).toContain('Invalid value')
  })

  it.each([
    ['gemini-3-pro-preview', 'medium'],
    ['gemini-3.1-pro-preview', 'minimal'],
    ['gemini-3.8-flash', 'MINIMAL'],
    ['gemini-4-argon', 'xhigh'],
    ['gemini-3.1-pro-preview', 'xhigh'],
    ['gemini-3-pro-image', 'medium'],
    ['gemini-3.1-flash-image', 'low'],
  ])('on %s the thinking level %s', (id, thinkingLevel) => {
    const generationConfig = { thinkingConfig: { thinkingLevel } }
    expect(refusal(id, [user], { generationConfig })).toContain('is not supported for this model')
  })

  const schema = (properties: object, required: string[], more: object) => ({
    type: 'object',
    properties,
    required,
    ...more,
  })
  it.each([
    ['definitions', schema({}, [], { definitions: {} }), 'definitions'],
    [
      'siblings of $ref',
      schema({ a: { $ref: '#/$defs/A', description: 'x' } }, [], { $defs: { A: {} } }),
      'must not have',
    ],
    [
      'required circles',
      schema({ a: { $ref: '#/$defs/A' } }, [], { $defs: { A: schema({ a: { $ref: '#/$defs/A' } }, ['a'], {}) } }),
      'circular',
    ],
    ['required circles of lists', schema({ a: { type: 'array', items: { $ref: '#' } } }, ['a'], {}), 'circular'],
  ])('%s', (_, responseJsonSchema, message) => {
    const generationConfig = { responseMimeType: 'application/json', responseJsonSchema }
    expect(refusal('gemini-3.5-flash', [user], { generationConfig })).toContain(message)
    const tools = [{ functionDeclarations: [{ name: 'f', parametersJsonSchema: responseJsonSchema }] }]
    expect(refusal('gemini-3.5-flash', [user], { tools })).toContain(message)
  })

  it('circles that are not required, in neither', () => {
    const responseJsonSchema = schema({ a: { $ref: '#/$defs/A' } }, ['a'], {
      $defs: { A: schema({ a: { $ref: '#/$defs/A' } }, [], {}) },
    })
    const generationConfig = { responseMimeType: 'application/json', responseJsonSchema }
    expect(refusal('gemini-3.5-flash', [user], { generationConfig })).toBeUndefined()
  })

  it('models of the Live API', async () => {
    const { transport } = fakeGoogle()
    const { status } = await transport({
      method: 'POST',
      url: 'https://generativelanguage.googleapis.com/v1beta/models/gemini-3.1-flash-live-preview:generateContent',
      headers: { 'x-goog-api-key': 'k' },
      body: JSON.stringify({ contents: [user] }),
      signal: new AbortController().signal,
    })
    expect(status).toBe(404)
  })
})
