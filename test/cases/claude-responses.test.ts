import { expect, it } from 'vitest'
import { answer, asked, completion, says } from './claude.js'
import { pass } from './pass.js'

/** Of an answer with `fields`, the client gets `text`. @returns the usage records */
async function expectText(fields: object, expected: string) {
  const { status, text, sent, records } = await pass('anthropic', {}, answer(fields))
  expect(sent.map(({ body }) => body)).toEqual([asked])
  expect(status).toBe(200)
  expect(text).toBe(expected)
  return records
}

const use = (id: string, name: string, input: object) => ({ type: 'tool_use', id, name, input })

it('returns text and two calls with indices of their own', async () => {
  await expectText(
    {
      stop_reason: 'tool_use',
      content: [says('Two calls.'), use('toolu_1', 'a', { x: 1 }), use('toolu_2', 'b', {})],
    },
    '{"id":"msg_1","object":"chat.completion","created":0,"model":"claude-sonnet-4-5-20250929","choices":[{"index":0,' +
      '"message":{"role":"assistant","content":"Two calls.","refusal":null,"tool_calls":[' +
      '{"id":"toolu_1","type":"function","function":{"name":"a","arguments":"{\\"x\\":1}"}},' +
      '{"id":"toolu_2","type":"function","function":{"name":"b","arguments":"{}"}}]},' +
      '"logprobs":null,"finish_reason":"tool_calls"}],"usage":{"prompt_tokens":12,"completion_tokens":30,"total_tokens":42,' +
      '"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}',
  )
})

it('joins text blocks', async () => {
  await expectText({ content: [says('a'), says('b')] }, completion('"content":"ab","refusal":null', 'stop'))
})

it('separates thinking from the text', async () => {
  await expectText(
    { content: [{ type: 'thinking', thinking: 'Let me see.', signature: 'EqQB' }, says('42')] },
    completion(
      '"content":"42","refusal":null,"reasoning_content":"Let me see.",' +
        '"reasoning_details":[{"type":"reasoning.text","text":"Let me see.","signature":"EqQB","id":null,"format":"anthropic-claude-v1","index":0}],' +
        '"thinking_blocks":[{"type":"thinking","thinking":"Let me see.","signature":"EqQB"}]',
      'stop',
    ),
  )
})

it('maps each stop_reason to a finish_reason, and an unknown one to stop', async () => {
  const finishes = [
    ['end_turn', 'stop'],
    ['stop_sequence', 'stop'],
    ['pause_turn', 'stop'],
    ['max_tokens', 'length'],
    ['model_context_window_exceeded', 'length'],
    ['refusal', 'content_filter'],
    ['compaction', 'stop'],
    ['of_the_future', 'stop'],
    [null, 'stop'],
  ] as const
  for (const [stop_reason, finish] of finishes)
    await expectText({ stop_reason }, completion('"content":"Hello.","refusal":null', finish))
  await expectText(
    { stop_reason: 'tool_use', content: [use('toolu_1', 'f', {})] },
    completion(
      '"content":null,"refusal":null,"tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"f","arguments":"{}"}}]',
      'tool_calls',
    ),
  )
})

it('reports a refusal without content', async () => {
  const refusal = { stop_reason: 'refusal', content: [] }
  await expectText(refusal, completion('"content":"","refusal":null', 'content_filter'))
  await expectText(
    { ...refusal, stop_details: { type: 'refusal', category: 'cyber', explanation: 'Not that.' } },
    completion('"content":null,"refusal":"Not that."', 'content_filter'),
  )
})

it('reports a call that was cut', async () => {
  await expectText(
    { stop_reason: 'max_tokens', content: [says('I write.'), use('toolu_1', 'write', { path: 'a' })] },
    completion(
      '"content":"I write.","refusal":null,"tool_calls":[{"id":"toolu_1","type":"function",' +
        '"function":{"name":"write","arguments":"{\\"path\\":\\"a\\"}"}}]',
      'length',
    ),
  )
})

it('counts tokens that were read from the cache and written to it', async () => {
  const records = await expectText(
    {
      usage: {
        input_tokens: 12,
        cache_read_input_tokens: 10_000,
        cache_creation_input_tokens: 2_000,
        output_tokens: 30,
      },
    },
    completion(
      '"content":"Hello.","refusal":null',
      'stop',
      '{"prompt_tokens":12012,"completion_tokens":30,"total_tokens":12042,' +
        '"prompt_tokens_details":{"cached_tokens":10000,"cache_write_tokens":2000},' +
        '"completion_tokens_details":{"reasoning_tokens":0}}',
    ),
  )
  expect(records).toMatchObject([{ prompt_tokens: 12_012, completion_tokens: 30, tokens: 12_042 }])
})

it('treats null token counts as 0', async () => {
  const records = await expectText(
    {
      usage: {
        input_tokens: null,
        cache_read_input_tokens: null,
        cache_creation_input_tokens: null,
        // Without any count, the usage would be estimated: no answer is free.
        output_tokens: 2,
        output_tokens_details: null,
      },
    },
    completion(
      '"content":"Hello.","refusal":null',
      'stop',
      '{"prompt_tokens":0,"completion_tokens":2,"total_tokens":2,' +
        '"prompt_tokens_details":{"cached_tokens":0,"cache_write_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}',
    ),
  )
  expect(records).toMatchObject([{ prompt_tokens: 0, completion_tokens: 2, tokens: 2 }])
})

it('omits blocks that no client can use', async () => {
  await expectText(
    {
      content: [
        says('I search.'),
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'tea' } },
        {
          type: 'web_search_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: [{ type: 'web_search_result', title: 'T' }],
        },
        { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'f', server_name: 's', input: {} },
        { type: 'of_the_future', id: 'toolu_1', name: 'f', input: {}, text: 'No.', thinking: 'No.' },
        says(' I found.'),
      ],
    },
    completion('"content":"I search. I found.","refusal":null', 'stop'),
  )
})
