import { expect } from 'vitest'
import type { Answer } from './pass.js'
import { pass, whole } from './pass.js'

export const says = (text: string) => ({ type: 'text', text })
export const user = (...content: object[]) => ({ role: 'user', content })
export const assistant = (...content: object[]) => ({ role: 'assistant', content })
/** A call in an assistant message of OpenAI's form. */
export const call = (id: string, name: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
/** A tool without parameters in OpenAI's form. */
export const tool = (name: string) => ({ type: 'function', function: { name } })
/** The same as Claude has it. */
export const claudeTool = (name: string) => ({ name, input_schema: { type: 'object', properties: {} } })

/** What Claude is sent for the smallest request. */
export const asked = { model: 'claude-sonnet-4-5', max_tokens: 8192, messages: [user(says('Hi'))] }

/** A message as Claude answers it, `fields` in it. */
export const answer = (fields: object): Answer =>
  whole({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-5-20250929',
    content: [says('Hello.')],
    stop_reason: 'end_turn',
    stop_sequence: null,
    usage: { input_tokens: 12, output_tokens: 30 },
    ...fields,
  })

const used =
  '{"prompt_tokens":12,"completion_tokens":30,"total_tokens":42,' +
  '"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}'

/** What the client gets of it, to the byte; `message` is the JSON of the choice's message behind its role. */
export const completion = (message: string, finish: string, usage = used): string =>
  '{"id":"msg_1","object":"chat.completion","created":0,"model":"claude-sonnet-4-5-20250929","choices":[{"index":0,' +
  `"message":{"role":"assistant",${message}},"logprobs":null,"finish_reason":"${finish}"}],"usage":${usage}}`

/** Claude is sent `body` over the smallest one; the client gets the answer, and `warnings` of what is not as it asked. */
export async function expectSent(request: object, body: object, warnings: string | null = null): Promise<void> {
  const { status, headers, text, sent } = await pass('anthropic', request, answer({}))
  expect(sent.map((one) => one.body)).toEqual([{ ...asked, ...body }])
  expect(status).toBe(200)
  expect(text).toBe(completion('"content":"Hello.","refusal":null', 'stop'))
  expect(headers.get('x-gateway-warnings')).toBe(warnings)
}

/** The client gets a 400, and nothing is sent. */
export async function expectRefused(
  request: object,
  message: string,
  code: 'invalid_body' | 'unsupported_parameter' = 'invalid_body',
): Promise<void> {
  const { status, text, sent } = await pass('anthropic', request, answer({}))
  expect(sent).toEqual([])
  expect(status).toBe(400)
  expect(text).toBe(`{"error":{"type":"invalid_request_error","message":${JSON.stringify(message)},"code":"${code}"}}`)
}
