import { describe, expect, it } from 'vitest'
import { fakeGoogle } from './fake-google.js'
import type { FakeOptions } from './fake-upstream.js'

const user = { role: 'user', parts: [{ text: 'Hi there' }] }
const parametersJsonSchema = {
  type: 'object',
  properties: { city: { type: 'string' }, days: { type: ['integer', 'null'] } },
}
const tools = [{ functionDeclarations: [{ name: 'time' }, { name: 'weather', parametersJsonSchema }] }]
const calling = (mode: string, ...allowedFunctionNames: string[]) => ({
  functionCallingConfig: { mode, ...(allowedFunctionNames.length > 0 && { allowedFunctionNames }) },
})

interface Part {
  text?: string
  thought?: boolean
  thoughtSignature?: string
}

interface Body {
  responseId: string
  candidates: { content: { role: string; parts: Part[] }; finishReason?: string; index: number }[]
  usageMetadata: { promptTokenCount: number; candidatesTokenCount: number; totalTokenCount: number }
  error: object
}

function setUp(options: FakeOptions = {}, model = 'gemini-2.5-flash') {
  const fake = fakeGoogle(options)
  const send = async (fields: object, method = 'generateContent', key = 'any', prefix = `/v1beta/models/${model}:`) => {
    const { signal } = new AbortController()
    const body = JSON.stringify({ contents: [user], ...fields })
    const headers: Record<string, string> = key === '' ? {} : { 'x-goog-api-key': key }
    const answer = await fake.transport({
      url: `https://fake${prefix}${method}`,
      method: 'POST',
      headers,
      body,
      signal,
    })
    let text = ''
    for await (const piece of answer.body) text += new TextDecoder().decode(piece)
    return { status: answer.status, type: answer.header('content-type'), text }
  }
  const ask = async (fields: object): Promise<Body> => JSON.parse((await send(fields)).text) as Body
  const stream = async (fields: object): Promise<Body[]> =>
    (await send(fields, 'streamGenerateContent?alt=sse')).text
      .split('\r\n\r\n')
      .slice(0, -1)
      .map((event) => JSON.parse(/^data: (.*)$/.exec(event)![1]!) as Body)
  return { fake, send, ask, stream }
}

const textOf = (chunks: Body[]) => chunks.flatMap((chunk) => chunk.candidates[0]!.content.parts[0]!.text ?? '').join('')

describe('the fake Google', () => {
  it('returns the same answer for the same question, with the text of the user', async () => {
    const { ask, fake } = setUp()
    const first = await ask({})
    const { responseId, ...again } = await ask({})
    expect(first).toEqual({ ...again, responseId: expect.not.stringContaining(responseId) as string })
    const parts = [{ text: 'This is a simulated answer. You said: Hi there' }]
    expect(first.candidates).toEqual([{ content: { parts, role: 'model' }, finishReason: 'STOP', index: 0 }])
    const { promptTokenCount, candidatesTokenCount, totalTokenCount } = first.usageMetadata
    expect(totalTokenCount).toBe(promptTokenCount + candidatesTokenCount)
    expect(fake.requests).toHaveLength(2)
    expect(fake.active).toBe(0)
  })

  it('streams the same answer in the order of the API', async () => {
    const { send, ask, stream } = setUp({ delayMs: 1 })
    const method = 'streamGenerateContent'
    expect((await send({}, `${method}?alt=sse`)).type).toBe('text/event-stream')
    const given = await stream({})
    const { candidates, usageMetadata } = await ask({})
    expect(textOf(given)).toBe(candidates[0]!.content.parts[0]!.text)
    expect(given.flatMap((chunk) => chunk.candidates[0]!.finishReason ?? [])).toEqual(['STOP'])
    expect(given.at(-1)!.candidates[0]!.finishReason).toBe('STOP')
    const counts = given.map((chunk) => chunk.usageMetadata.candidatesTokenCount)
    expect(counts).toEqual(counts.toSorted((a, b) => a - b))
    expect(given.at(-1)!.usageMetadata).toEqual(usageMetadata)
    const list = JSON.parse((await send({}, method)).text) as typeof given
    const withoutId = (chunks: typeof given) => chunks.map((chunk) => ({ ...chunk, responseId: '' }))
    expect(withoutId(list)).toEqual(withoutId(given))
    expect(new Set(given.map(({ responseId }) => responseId)).size).toBe(1)
  })

  it('calls a function that is forced, required or named, and then uses its result', async () => {
    const { ask, stream } = setUp()
    const named = [{ role: 'user', parts: [{ text: 'Use weather' }] }]
    const call = { functionCall: { name: 'weather', args: { city: 'city', days: 1 } } }
    for (const fields of [{ toolConfig: calling('ANY', 'weather') }, { contents: named }])
      expect((await ask({ tools, ...fields })).candidates).toMatchObject([
        { content: { parts: [call] }, finishReason: 'STOP' },
      ])
    expect((await ask({ tools, toolConfig: calling('ANY') })).candidates[0]!.content.parts).toEqual([
      { functionCall: { name: 'time', args: {} } },
    ])
    for (const fields of [{}, { toolConfig: calling('NONE'), contents: named }])
      expect((await ask({ tools, ...fields })).candidates[0]!.content.parts[0]!.text).toBeDefined()
    const streamed = await stream({ tools, contents: named })
    expect(streamed.map((chunk) => chunk.candidates[0]!.content.parts)).toEqual([[call], [{ text: '' }]])

    const response = { role: 'user', parts: [{ functionResponse: { name: 'weather', response: { output: 'sunny' } } }] }
    const contents = [user, { role: 'model', parts: [call] }, response]
    const after = await ask({ tools, toolConfig: calling('ANY'), contents })
    expect(after.candidates[0]!.content.parts[0]!.text).toBe('The tools answered: {"output":"sunny"}')
  })

  it('signs the parts of Gemini 3', async () => {
    const { ask, stream } = setUp({}, 'gemini-3-flash-preview')
    const signature = { thoughtSignature: 'c2lnbmF0dXJl' }
    const forced = { tools, toolConfig: calling('ANY', 'weather') }
    expect((await ask(forced)).candidates[0]!.content.parts).toMatchObject([signature])
    expect((await ask({})).usageMetadata).toMatchObject({ thoughtsTokenCount: 5 })
    const words = await stream({})
    expect(words.at(-1)!.candidates[0]!.content.parts).toEqual([{ text: '', ...signature }])
    const calls = await stream(forced)
    expect(calls[0]!.candidates[0]!.content.parts).toMatchObject([signature])
    expect(calls[1]!.candidates[0]!.content.parts).toEqual([{ text: '' }])
  })

  it('applies limits, formats and candidateCount, and returns thoughts on request', async () => {
    const { ask, stream } = setUp()
    const text = async (generationConfig: object) => (await ask({ generationConfig })).candidates[0]!.content.parts
    expect(await ask({ generationConfig: { maxOutputTokens: 2 } })).toMatchObject({
      candidates: [{ content: { parts: [{ text: 'This is ' }] }, finishReason: 'MAX_TOKENS' }],
      usageMetadata: { candidatesTokenCount: 2 },
    })
    const json = { responseMimeType: 'application/json' }
    expect(await text(json)).toEqual([{ text: '{"simulated":true}' }])
    expect(await text({ ...json, responseJsonSchema: parametersJsonSchema })).toEqual([
      { text: '{"city":"city","days":1}' },
    ])
    const responseSchema = { type: 'OBJECT', properties: { type: { type: 'BOOLEAN' } } }
    expect(await text({ ...json, responseSchema })).toEqual([{ text: '{"type":true}' }])
    const told = { parts: [{ text: 'Answer with JSON.' }, { text: 'Hi there' }] }
    for (const fields of [{ systemInstruction: told }, { contents: [{ role: 'user', ...told }] }])
      expect((await ask(fields)).candidates[0]!.content.parts).toEqual([{ text: '{"simulated":true}' }])
    const two = { generationConfig: { candidateCount: 2 } }
    expect((await ask(two)).candidates.map(({ index }) => index)).toEqual([0, 1])
    expect(new Set((await stream(two)).map((chunk) => chunk.candidates[0]!.index)).size).toBe(2)
    const thinking = { generationConfig: { thinkingConfig: { includeThoughts: true } } }
    expect((await ask(thinking)).candidates[0]!.content.parts[0]).toEqual({
      text: 'A simulated thought.',
      thought: true,
    })
    const thoughts = (await stream(thinking)).filter((chunk) => chunk.candidates[0]!.content.parts[0]!.thought)
    expect(textOf(thoughts)).toBe('A simulated thought.')
  })

  it('refuses like the API', async () => {
    const { send } = setUp({ apiKey: 'right' })
    const error = async (...given: Parameters<typeof send>) => {
      const { status, text } = await send(...given)
      return [status, (JSON.parse(text) as Body).error]
    }
    const refused = [400, { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] }]
    expect(await error({}, 'generateContent', 'wrong')).toMatchObject(refused)
    expect(await error({}, 'generateContent', '')).toMatchObject(refused)
    expect(await error({}, 'generateContent?key=right', 'right')).toMatchObject(refused)
    expect(await error({}, 'countTokens', 'right')).toMatchObject([404, { code: 404, status: 'NOT_FOUND' }])
    expect(await error({}, 'generateContent', 'right', '/v1beta/')).toMatchObject([404, { status: 'NOT_FOUND' }])
    expect(await error({ foo: 1 }, 'generateContent', 'right')).toEqual([
      400,
      {
        code: 400,
        message: 'Invalid JSON payload received. Unknown name "foo": Cannot find field.',
        status: 'INVALID_ARGUMENT',
      },
    ])
    expect((await send({}, 'generateContent', 'right')).status).toBe(200)
  })

  it('can be overridden', async () => {
    const { send } = setUp({ override: ({ path }) => ({ status: 418, headers: {}, body: path }) })
    const path = '/v1beta/models/gemini-2.5-flash:generateContent'
    expect(await send({})).toEqual({ status: 418, type: undefined, text: path })
  })
})
