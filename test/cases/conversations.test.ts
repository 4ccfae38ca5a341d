import { expect, it } from 'vitest'
import type { Family } from './pass.js'
import { pass, stream, whole } from './pass.js'

// Conversations that OpenAI takes and the other families do not take in the same form.

const families: Family[] = ['openai', 'anthropic', 'google']
const user = { role: 'user', content: 'Hi' }
const system = { role: 'system', content: 'Be brief.' }
const developer = { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] }
const greeting = { role: 'assistant', content: 'Welcome.' }
const called = {
  role: 'assistant',
  content: null,
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: '{}' } }],
}
const result = { role: 'tool', tool_call_id: 'call_1', content: '22C' }
const tools = [{ type: 'function', function: { name: 'f' } }]

const text = (words: string) => ({ type: 'text', text: words })

/** The members of an upstream body that hold the conversation. */
const conversationOf = (body: unknown): object => {
  const { messages, system: prompt, contents, systemInstruction } = body as Record<string, unknown>
  return JSON.parse(JSON.stringify({ messages, system: prompt, contents, systemInstruction })) as object
}

/** A short answer of each family, as a whole or as a stream. */
const answers: Record<Family, (streams: boolean) => ReturnType<typeof whole>> = {
  openai: (streams) => {
    const head = { id: 'chatcmpl-1', created: 5, model: 'gpt-4o' }
    return streams
      ? stream(
          { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: { content: 'Yes' } }] },
          { ...head, object: 'chat.completion.chunk', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
          'data: [DONE]\n\n',
        )
      : whole({
          ...head,
          object: 'chat.completion',
          choices: [{ index: 0, message: { role: 'assistant', content: 'Yes' }, finish_reason: 'stop' }],
        })
  },
  anthropic: (streams) => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-sonnet-4-5',
      content: [text('Yes')],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 1 },
    }
    return streams
      ? stream(
          { type: 'message_start', message: { ...message, content: [], stop_reason: null } },
          { type: 'content_block_start', index: 0, content_block: text('') },
          { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Yes' } },
          { type: 'content_block_stop', index: 0 },
          { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
          { type: 'message_stop' },
        )
      : whole(message)
  },
  google: (streams) => {
    const answer = { candidates: [{ content: { role: 'model', parts: [{ text: 'Yes' }] }, finishReason: 'STOP' }] }
    return streams ? stream(answer) : whole(answer)
  },
}

/** Expects each family to receive its form of the conversation, streamed and not, and the response to have these `warnings`. */
async function expectSent(request: object, forms: Record<Family, [body: object, warnings: string | null]>) {
  for (const family of families)
    for (const streams of [false, true]) {
      const passed = await pass(family, { ...request, ...(streams && { stream: true }) }, answers[family](streams))
      const [body, warnings] = forms[family]
      expect([family, passed.status, passed.headers.get('x-gateway-warnings')]).toEqual([family, 200, warnings])
      expect(passed.sent.map((one) => conversationOf(one.body))).toEqual([body])
      expect(passed.text).toContain('Yes')
    }
}

it.each([
  ['alone', { messages: [system, developer] }, [system, developer], ['Be brief.', 'Be kind.']],
  [
    'after the system shorthand',
    { system: 'Be clear.', messages: [system] },
    [{ role: 'system', content: 'Be clear.' }, system],
    ['Be clear.', 'Be brief.'],
  ],
])('system messages %s are a user turn for Claude and Gemini, with a warning', (_, request, messages, texts) =>
  expectSent(request, {
    openai: [{ messages }, null],
    anthropic: [{ messages: [{ role: 'user', content: texts.map(text) }] }, 'emulated=messages'],
    google: [{ contents: [{ role: 'user', parts: texts.map((one) => ({ text: one })) }] }, 'emulated=messages'],
  }),
)

it('an instruction of the gateway is not merged with system messages alone', async () => {
  const request = { messages: [system], response_format: { type: 'json_object' } }
  const claude = await pass('anthropic', request, answers.anthropic(false))
  expect(claude.sent.map(({ body }) => conversationOf(body))).toEqual([
    {
      messages: [{ role: 'user', content: [text('Be brief.')] }],
      system: [text('Answer with a JSON object and nothing else, without a code fence.')],
    },
  ])
  expect(claude.headers.get('x-gateway-warnings')).toBe('emulated=messages,response_format')
  const gemma = await pass('google', { ...request, model: 'gemma-3-27b-it' }, answers.google(false))
  expect(gemma.sent.map(({ body }) => conversationOf(body))).toEqual([
    {
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Answer with a JSON object and nothing else, without a code fence.' }, { text: 'Be brief.' }],
        },
      ],
    },
  ])
})

it('empty system messages are refused for Claude and Gemini', async () => {
  for (const family of ['anthropic', 'google'] as const) {
    const { status, text: body, sent } = await pass(family, { messages: [{ role: 'system', content: '' }] }, whole({}))
    expect([status, sent]).toEqual([400, []])
    expect(body).toContain('The messages have no content')
  }
})

it("the first message may be the assistant's, for every family", () =>
  expectSent(
    { messages: [system, greeting, user] },
    {
      openai: [{ messages: [system, greeting, user] }, null],
      anthropic: [
        {
          system: [text('Be brief.')],
          messages: [
            { role: 'assistant', content: [text('Welcome.')] },
            { role: 'user', content: [text('Hi')] },
          ],
        },
        null,
      ],
      google: [
        {
          systemInstruction: { parts: [{ text: 'Be brief.' }] },
          contents: [
            { role: 'model', parts: [{ text: 'Welcome.' }] },
            { role: 'user', parts: [{ text: 'Hi' }] },
          ],
        },
        null,
      ],
    },
  ))

it('for Gemini, a blank user turn precedes a tool call that comes first, with a warning', () =>
  expectSent(
    { messages: [system, called, result], tools },
    {
      openai: [{ messages: [system, called, result] }, null],
      anthropic: [
        {
          system: [text('Be brief.')],
          messages: [
            { role: 'assistant', content: [{ type: 'tool_use', id: 'call_1', name: 'f', input: {} }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '22C' }] },
          ],
        },
        null,
      ],
      google: [
        {
          systemInstruction: { parts: [{ text: 'Be brief.' }] },
          contents: [
            { role: 'user', parts: [{ text: ' ' }] },
            { role: 'model', parts: [{ functionCall: { name: 'f', args: {} } }] },
            { role: 'user', parts: [{ functionResponse: { name: 'f', response: { output: '22C' } } }] },
          ],
        },
        'emulated=messages',
      ],
    },
  ))
