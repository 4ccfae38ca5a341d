import { expect, it } from 'vitest'
import { pass, whole } from './pass.js'

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 30 },
}
const asked = {
  model: 'claude-sonnet-4-5',
  max_tokens: 8192,
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }],
}

it('#25 gives text and two calls with indices of their own', async () => {
  const content = [
    { type: 'text', text: 'Two calls.' },
    { type: 'tool_use', id: 'toolu_1', name: 'a', input: { x: 1 } },
    { type: 'tool_use', id: 'toolu_2', name: 'b', input: {} },
  ]
  const { text, sent } = await pass('anthropic', {}, whole({ ...message, stop_reason: 'tool_use', content }))
  expect(sent.map(({ body }) => body)).toEqual([asked])
  expect(text).toBe(
    '{"id":"msg_1","object":"chat.completion","created":0,"model":"claude-sonnet-4-5-20250929","choices":[{"index":0,' +
      '"message":{"role":"assistant","content":"Two calls.","refusal":null,"tool_calls":[' +
      '{"id":"toolu_1","type":"function","function":{"name":"a","arguments":"{\\"x\\":1}"}},' +
      '{"id":"toolu_2","type":"function","function":{"name":"b","arguments":"{}"}}]},' +
      '"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":12,"completion_tokens":30,"total_tokens":42,' +
      '"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}',
  )
})
