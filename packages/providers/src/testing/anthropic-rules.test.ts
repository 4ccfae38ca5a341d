// Longer than 250 lines: two tables of bodies: taken and refused.
import { describe, expect, it } from 'vitest'
import { anthropicRefusal } from './anthropic-rules.js'

const user = { role: 'user', content: 'Hi' }
const tool = { name: 'f', input_schema: { type: 'object' } }
const call = { type: 'tool_use', id: 'toolu_1', name: 'f', input: {} }
const result = { type: 'tool_result', tool_use_id: 'toolu_1', content: '1' }
const text = { type: 'text', text: 'x' }
const thought = { type: 'thinking', thinking: 'x', signature: 'x' }
const mark = { type: 'ephemeral' }
const enabled = { type: 'enabled', budget_tokens: 1024 }
const model = 'claude-opus-4-8'

const says = (...content: object[]) => ({ messages: [{ role: 'user', content }] })
const rounds = (calls: object[], results: object[], ...more: object[]) => ({
  tools: [tool],
  messages: [user, { role: 'assistant', content: calls }, { role: 'user', content: results }, ...more],
})
const prefilled = (content: unknown) => ({ messages: [user, { role: 'assistant', content }] })
const image = (source: object) => says({ type: 'image', source })
const document = (source: object) => says({ type: 'document', source })
const format = (schema: object) => ({ output_config: { format: { type: 'json_schema', schema } } })
const closed = (properties: object) => ({ type: 'object', properties, additionalProperties: false })
const chosen = (tool_choice: unknown) => ({ tools: [tool], tool_choice })
const effort = (value: string) => ({ output_config: { effort: value } })
const forced = chosen({ type: 'any' })
const bound = { type: 'adaptive', block_binding: { prefix_mismatch_behavior: 'drop_block' } }
const fields = (count: number, schema: object = {}) =>
  Object.fromEntries(Array.from({ length: count }, (_, i) => [`f${i}`, schema]))
const twoCalls = rounds(
  [thought, call],
  [result],
  { role: 'assistant', content: [{ ...call, id: 'b' }] },
  { role: 'user', content: [{ ...result, tool_use_id: 'b' }] },
)
const node = closed({ next: { $ref: '#/$defs/node' } })
const refusal = (fields: object) =>
  anthropicRefusal({ model: 'claude-sonnet-4-5', max_tokens: 2048, messages: [user], ...fields })

describe('Anthropic takes', () => {
  it.each<[what: string, fields: object]>([
    ['a plain request', {}],
    ['a system', { system: 'x' }],
    ['system blocks', { system: [text, { ...text, cache_control: { type: 'ephemeral', ttl: '1h' } }] }],
    ['a sampling of its own', { temperature: 0, top_k: 5 }],
    ['top_p alone', { top_p: 1 }],
    ['temperature and top_p of an unknown model', { model: 'other', temperature: 1, top_p: 0.5 }],
    ['temperature and top_p of Claude 4', { model: 'claude-opus-4-20250514', temperature: 0.2, top_p: 0.5 }],
    ['temperature and top_p of Claude 3', { model: 'claude-3-7-sonnet-latest', temperature: 0.2, top_p: 0.5 }],
    ['the defaults of a late model', { model, temperature: 1 }],
    ['nearly all of a late model', { model, top_p: 0.99 }],
    ['a sampling of 4.6', { model: 'claude-opus-4-6', temperature: 0.5, top_k: 3 }],
    ['a dated id', { model: 'claude-sonnet-4-20250514', temperature: 0.5 }],
    ['stops and a user', { stop_sequences: ['a', 'b'], metadata: { user_id: 'x' } }],
    ['a tool round', rounds([text, call], [result, text])],
    ['empty results', rounds([call], [{ type: 'tool_result', tool_use_id: 'toolu_1', content: '', is_error: true }])],
    ['results of blocks', rounds([call], [{ ...result, content: [text] }])],
    ['parallel calls', rounds([call, { ...call, id: 'b' }], [{ ...result, tool_use_id: 'b' }, result])],
    ['strict tools', { tools: [{ ...tool, type: 'custom', strict: true, input_schema: closed({}) }] }],
    ['auto', chosen({ type: 'auto', disable_parallel_tool_use: true })],
    ['any', chosen({ type: 'any' })],
    ['none', chosen({ type: 'none' })],
    ['a tool by name', chosen({ type: 'tool', name: 'f', disable_parallel_tool_use: false })],
    ['thinking', { thinking: enabled, temperature: 1, ...chosen({ type: 'auto' }) }],
    ['thinking with top_p', { thinking: enabled, top_p: 0.95 }],
    ['adaptive thinking', { model, thinking: { type: 'adaptive' }, ...effort('xhigh') }],
    ['no thinking', { thinking: { type: 'disabled' } }],
    ['a thought before its call', { thinking: enabled, ...rounds([thought, call], [result]) }],
    ['a redacted thought', prefilled([{ type: 'redacted_thinking', data: 'x' }, text])],
    ['a call without a thought within a turn', { thinking: enabled, ...twoCalls }],
    [
      'a forced call of sonnet-5 without thinking',
      { model: 'claude-sonnet-5', thinking: { type: 'disabled' }, ...forced },
    ],
    ['a forced call of fable-5', { model: 'claude-fable-5', ...forced }],
    ['a forced call of haiku-5-5', { model: 'claude-haiku-5-5', ...forced }],
    [
      'between_tools of sonnet-5-5',
      { model: 'claude-sonnet-5-5', thinking: { type: 'between_tools' }, ...effort('high') },
    ],
    ['disabled thinking of haiku-5-5', { model: 'claude-haiku-5-5', thinking: { type: 'disabled' } }],
    [
      'a format of definitions',
      format({ ...closed({ a: { $ref: '#/$defs/a' } }), $defs: { a: { enum: ['x', null] } } }),
    ],
    ['a list that is not empty', format({ type: 'array', minItems: 1 })],
    ['24 optional fields', format(closed(fields(24)))],
    ['16 unions', format({ ...closed(fields(16, { type: ['string', 'null'] })), required: Object.keys(fields(16)) })],
    ['effort of opus-4-5', { model: 'claude-opus-4-5', ...effort('low') }],
    [
      'a schema with properties that are named as keywords',
      format(closed({ pattern: { type: 'string', format: 'date' } })),
    ],
    ['an image', image({ type: 'base64', media_type: 'image/png', data: 'AAAA' })],
    ['an image by address', image({ type: 'url', url: 'https://x/y.png' })],
    ['a PDF', document({ type: 'base64', media_type: 'application/pdf', data: 'AA==' })],
    ['a text document', document({ type: 'text', media_type: 'text/plain', data: 'x' })],
    ['a document by address', document({ type: 'url', url: 'https://x/y.pdf' })],
    ['prefill of 4.5', prefilled('x')],
    ['four marks', says(...Array.from({ length: 4 }, () => ({ ...text, cache_control: mark })))],
  ])('%s', (_, fields) => expect(refusal(fields)).toBeUndefined())
})

describe('Anthropic refuses', () => {
  it.each<[what: string, fields: object, message: string]>([
    ['no model', { model: undefined }, 'model: Field required'],
    ['no max_tokens', { max_tokens: undefined }, 'max_tokens: Field required'],
    ['max_tokens 0', { max_tokens: 0 }, 'max_tokens: Input should be greater than or equal to 1'],
    ['a fraction', { max_tokens: 1.5 }, 'max_tokens: Input should be a valid integer'],
    ['an unknown field', { n: 1 }, 'n: Extra inputs are not permitted'],
    ['an unknown field of a message', { messages: [{ ...user, name: 'x' }] }, 'messages.0.name: Extra inputs'],
    ['an unknown field of a block', says({ ...text, x: 1 }), 'messages.0.content.0.text.x: Extra inputs'],
    ['a stream that is no boolean', { stream: 1 }, 'stream: Input should be a valid boolean'],
    ['metadata that is none', { metadata: 'x' }, 'metadata: Input should be a valid dictionary'],
    ['other metadata', { metadata: { x: 1 } }, 'metadata.x: Extra inputs'],
    ['no messages', { messages: undefined }, 'messages: Field required'],
    ['messages that are no list', { messages: {} }, 'messages: Input should be a valid list'],
    ['empty messages', { messages: [] }, 'messages: at least one message is required'],
    ['a message that is none', { messages: [null] }, 'messages.0: Input should be a valid dictionary'],
    ['a system role', { messages: [{ role: 'system', content: 'x' }] }, "messages.0.role: Input should be 'user'"],
    ['no blocks', says(), 'messages.0: all messages must have non-empty content'],
    ['no content', { messages: [{ role: 'user' }] }, 'messages.0.content: Input should be a valid list'],
    ['an unknown block', says({ type: 'audio' }), "messages.0.content.0: Input tag 'audio'"],
    ['a call of the user', says(call), "messages.0.content.0: Input tag 'tool_use'"],
    ['empty content', { messages: [{ role: 'user', content: '' }] }, 'messages: text content blocks must be non-empty'],
    ['an empty text', says({ type: 'text', text: '' }), 'messages: text content blocks must be non-empty'],
    ['a blank text', says({ type: 'text', text: ' \n' }), 'messages: text content blocks must contain non-whitespace'],
    ['a text that is none', says({ type: 'text' }), 'messages.0.content.0.text.text: Input should be a valid string'],
    ['an empty system', { system: [{ type: 'text', text: '' }] }, 'system: text content blocks must be non-empty'],
    ['a bad call id', rounds([{ ...call, id: 'a.b' }], [result]), 'messages.1.content.0.tool_use.id: String should'],
    ['input that is text', rounds([{ ...call, input: '{}' }], [result]), 'messages.1.content.0.tool_use.input: Input'],
    [
      'an unsigned thought',
      prefilled([{ type: 'thinking', thinking: 'x' }]),
      'messages.1.content.0.thinking.signature',
    ],
    [
      'the same call twice',
      rounds([call], [result], { role: 'assistant', content: [call] }, { role: 'user', content: [result] }),
      'messages: `tool_use` ids must be unique',
    ],
    ['a call without a result', rounds([call], [text]), 'messages.1: `tool_use` ids were found without `tool_result`'],
    ['a call at the end', { tools: [tool], ...prefilled([call]) }, 'messages.1: `tool_use` ids were found without'],
    ['a result after text', rounds([call], [text, result]), 'messages.1: `tool_use` ids were found without'],
    ['a result without a call', says(result), 'messages.0.content: unexpected `tool_use_id` found'],
    ['a second result', rounds([call], [result, result]), 'messages.2.content: unexpected `tool_use_id` found'],
    ['a round without tools', { ...rounds([call], [result]), tools: undefined }, 'Requests which include `tool_use`'],
    ['tools that are no list', { tools: {} }, 'tools: Input should be a valid list'],
    ['a tool that is none', { tools: [null] }, 'tools: Input should be a valid dictionary'],
    ['a bad tool name', { tools: [{ ...tool, name: 'a b' }] }, 'tools.0.custom.name: String should match pattern'],
    ['a long tool name', { tools: [{ ...tool, name: 'x'.repeat(129) }] }, 'tools.0.custom.name: String should match'],
    ['a tool without a schema', { tools: [{ name: 'f' }] }, 'tools.0.custom.input_schema: Field required'],
    [
      'a schema of a string',
      { tools: [{ name: 'f', input_schema: { type: 'string' } }] },
      'tools.0.custom.input_schema',
    ],
    ['a tool of OpenAI', { tools: [{ type: 'function' }] }, "tools.0: Input tag 'function'"],
    ['an unknown field of a tool', { tools: [{ ...tool, parameters: {} }] }, 'tools.0.custom.parameters: Extra inputs'],
    ['the same tool twice', { tools: [tool, tool] }, 'tools: Tool names must be unique.'],
    ['a strict tool that is open', { tools: [{ ...tool, strict: true }] }, 'tools.0.custom.input_schema: For'],
    [
      'a strict tool of old',
      { model: 'claude-sonnet-4-0', tools: [{ ...tool, strict: true }] },
      'tools.0.custom.strict',
    ],
    ['a choice that is text', chosen('auto'), 'tool_choice: Input tag'],
    ['an unknown choice', chosen({ type: 'required' }), 'tool_choice: Input tag'],
    ['a choice without tools', { tool_choice: { type: 'auto' } }, 'tool_choice may only be specified'],
    ['an unknown tool', chosen({ type: 'tool', name: 'g' }), "Tool 'g' not found"],
    ['a name on any', chosen({ type: 'any', name: 'f' }), 'tool_choice.any.name: Extra inputs'],
    [
      'no parallel none',
      chosen({ type: 'none', disable_parallel_tool_use: true }),
      'tool_choice.none.disable_parallel_tool_use: Extra inputs',
    ],
    ['a hot temperature', { temperature: 1.1 }, 'temperature: Input should be less than or equal to 1'],
    ['null for absent', { temperature: null }, 'temperature: Input should be a valid number'],
    ['a high top_p', { top_p: 1.1 }, 'top_p: Input should be less than or equal to 1'],
    [
      'temperature and top_p of Claude 4.1',
      { model: 'claude-opus-4-1', temperature: 0.2, top_p: 0.5 },
      '`temperature` and `top_p` cannot both be specified',
    ],
    ['temperature and top_p', { temperature: 1, top_p: 1 }, '`temperature` and `top_p` cannot both be specified'],
    ['stops that are text', { stop_sequences: 'a' }, 'stop_sequences: Input should be a valid list'],
    ['an empty stop', { stop_sequences: [''] }, 'stop_sequences: each stop sequence must contain non-whitespace'],
    ['a blank stop', { stop_sequences: ['a', '\n'] }, 'stop_sequences: each stop sequence must contain'],
    ['a thinker told not to', { model: 'claude-fable-5', thinking: { type: 'disabled' } }, '"thinking.type.disabled"'],
    ['words of a thinker without a thought', { thinking: enabled, ...prefilled([text]) }, 'Expected `thinking`'],
    [
      'too many strict tools',
      {
        tools: Array.from({ length: 21 }, (_, i) => ({
          ...tool,
          name: `f${i}`,
          strict: true,
          input_schema: closed({}),
        })),
      },
      'Too many strict tools',
    ],
    ['unknown thinking', { thinking: { type: 'on' } }, 'thinking: Input tag'],
    ['a budget of nothing', { thinking: { type: 'disabled', budget_tokens: 1024 } }, 'thinking.disabled.budget_tokens'],
    ['a low budget', { thinking: { ...enabled, budget_tokens: 1023 } }, 'thinking.enabled.budget_tokens: Input should'],
    ['a budget of everything', { thinking: enabled, max_tokens: 1024 }, '`max_tokens` must be greater than'],
    ['adaptive thinking of old', { thinking: { type: 'adaptive' } }, 'adaptive thinking is not supported'],
    ['a cool thinker', { thinking: enabled, temperature: 0.5 }, '`temperature` may only be set to 1'],
    ['a narrow thinker', { thinking: enabled, top_p: 0.9 }, '`top_p` must be greater than or equal to 0.95'],
    ['top_k of a thinker', { thinking: enabled, top_k: 3 }, '`top_k` must be unset'],
    ['a forced thinker', { thinking: enabled, ...chosen({ type: 'any' }) }, 'Thinking may not be enabled'],
    ['a forced call of sonnet-5', { model: 'claude-sonnet-5', ...forced }, 'Thinking may not be enabled'],
    ['a forced call of opus-5', { model: 'claude-opus-5', ...forced }, 'Thinking may not be enabled'],
    ['a forced call of sonnet-5-5', { model: 'claude-sonnet-5-5', ...forced }, 'tool_choice: type "tool" and "any"'],
    ['a forced call of opus-5-5', { model: 'claude-opus-5-5', ...forced }, 'tool_choice: type "tool" and "any"'],
    ['a forced call of fable-5-1', { model: 'claude-fable-5-1', ...forced }, 'tool_choice: type "tool" and "any"'],
    [
      'sonnet-5-5 told not to',
      { model: 'claude-sonnet-5-5', thinking: { type: 'disabled' } },
      '"thinking.type.disabled"',
    ],
    ['opus-5-5 told not to', { model: 'claude-opus-5-5', thinking: { type: 'disabled' } }, '"thinking.type.disabled"'],
    [
      'between_tools of sonnet-5',
      { model: 'claude-sonnet-5', thinking: { type: 'between_tools' } },
      '"thinking.type.between',
    ],
    ['a budget of opus-4-7', { model: 'claude-opus-4-7', thinking: enabled }, '"thinking.type.enabled"'],
    [
      'max between tools',
      { model: 'claude-sonnet-5-5', thinking: { type: 'between_tools' }, ...effort('max') },
      "effort 'max' is not supported",
    ],
    ['a binding without its beta', { model, thinking: bound }, 'thinking.adaptive.block_binding: Extra inputs'],
    [
      'an empty signature',
      prefilled([{ ...thought, signature: '' }, text]),
      'messages.1.content.0: Invalid `signature`',
    ],
    [
      'a redacted thought of nothing',
      prefilled([{ type: 'redacted_thinking' }, text]),
      'messages.1.content.0: Invalid `data`',
    ],
    ['a thought at the end', prefilled([text, thought]), 'messages.1.content: The final block'],
    ['a prefill with a format', { ...prefilled('x'), ...format(closed({})) }, 'output_config.format: an assistant'],
    [
      'recursion',
      format({ ...closed({ a: { $ref: '#/$defs/node' } }), $defs: { node } }),
      'output_config.format.schema: Recursive',
    ],
    ['a reference elsewhere', format({ $ref: 'https://example.com' }), "output_config.format.schema: '$ref'"],
    ['a tuple', format({ type: 'array', prefixItems: [] }), "output_config.format.schema: For 'array' type, property"],
    ['an enum of objects', format({ enum: [{}] }), "output_config.format.schema: Complex types in 'enum'"],
    [
      'a long list',
      format({ type: 'array', minItems: 2 }),
      "output_config.format.schema: For 'array' type, 'minItems'",
    ],
    ['a reference in allOf', format({ allOf: [{ $ref: '#' }] }), "output_config.format.schema: 'allOf' with"],
    ['25 optional fields', format(closed(fields(25))), 'Schemas contains too many optional parameters (25)'],
    [
      '17 unions of tools and format',
      {
        ...format({ ...closed(fields(16, { anyOf: [] })), required: Object.keys(fields(16)) }),
        tools: [
          { ...tool, strict: true, input_schema: { ...closed({ a: { type: ['string', 'null'] } }), required: ['a'] } },
        ],
      },
      'Schemas contains too many parameters with union types (17',
    ],
    ['a call without its thought', { thinking: enabled, ...rounds([call], [result]) }, 'Expected `thinking`'],
    ['an output that is none', { output_config: 'x' }, 'output_config: Input should be a valid dictionary'],
    ['another output', { output_config: { x: 1 } }, 'output_config.x: Extra inputs'],
    ['an unknown effort', { model, ...effort('minimal') }, "output_config.effort: Input should be 'low'"],
    ['effort of 4.5', effort('low'), 'This model does not support the effort parameter.'],
    ['xhigh of 4.6', { model: 'claude-sonnet-4-6', ...effort('xhigh') }, 'This model does not support effort level'],
    [
      'max without thinking of opus-5',
      { model: 'claude-opus-5', thinking: { type: 'disabled' }, ...effort('max') },
      "effort 'max' is not supported",
    ],
    [
      'no schema',
      { output_config: { format: { type: 'json_schema' } } },
      'output_config.format.schema: Field required',
    ],
    [
      'a name of a format',
      { output_config: { format: { type: 'json_schema', name: 'x', schema: {} } } },
      'output_config.format.name: Extra inputs',
    ],
    ['a format of old', { model: 'claude-sonnet-4-0', ...format({}) }, 'output_config.format: structured outputs'],
    ['an open object', format({ type: 'object' }), "output_config.format.schema: For 'object' type"],
    ['an open object inside', format(closed({ a: { type: ['object', 'null'] } })), 'output_config.format.schema: For'],
    [
      'an open object in a list',
      format({ items: { anyOf: [{ type: 'object' }] } }),
      'output_config.format.schema: For',
    ],
    ['an open definition', format({ $defs: { a: { type: 'object' } } }), 'output_config.format.schema: For'],
    ['a keyword', format({ type: 'string', minLength: 1 }), "output_config.format.schema: For 'string' type, property"],
    ['oneOf', format({ oneOf: [] }), 'output_config.format.schema: For'],
    ['a string format', format({ type: 'string', format: 'regex' }), "output_config.format.schema: For 'string' type"],
    ['an image without a source', says({ type: 'image' }), 'messages.0.content.0.image.source: Field required'],
    ['an unknown source', image({ type: 'file' }), "messages.0.content.0.image.source: Input tag 'file'"],
    [
      'a kind of image',
      image({ type: 'base64', media_type: 'image/jpg', data: 'AAAA' }),
      'messages.0.content.0.image.source.base64.media_type',
    ],
    [
      'a data URL',
      image({ type: 'base64', media_type: 'image/png', data: 'data:image/png;base64,AAAA' }),
      'messages.0.content.0.image.source.base64.data',
    ],
    ['an open address', image({ type: 'url', url: 'http://x' }), 'messages.0.content.0.image.source.url.url'],
    [
      'a member of a source',
      image({ type: 'url', url: 'https://x', detail: 'low' }),
      'messages.0.content.0.image.source',
    ],
    [
      'a document that is no PDF',
      document({ type: 'base64', media_type: 'text/plain', data: 'AAAA' }),
      'messages.0.content.0.document.source.base64.media_type',
    ],
    ['a blank at the end of prefill', prefilled('x '), 'messages: final assistant content cannot end with'],
    ['a blank at the end of a block', prefilled([{ type: 'text', text: 'x\n' }]), 'messages: final assistant content'],
    ['prefill of 4.6', { model: 'claude-sonnet-4-6', ...prefilled('x') }, 'This model does not support assistant'],
    ['an unknown mark', says({ ...text, cache_control: { type: 'x' } }), 'messages.0.content.0.text.cache_control'],
    [
      'a mark within a result',
      rounds([call], [{ ...result, content: [{ ...text, cache_control: mark }] }]),
      'messages.2.content.0.tool_result.content.0: cache_control may not be specified',
    ],
    [
      'alternatives at the top of a tool',
      { tools: [{ ...tool, input_schema: { type: 'object', anyOf: [] } }] },
      'tools.0.custom.input_schema: input_schema does not support',
    ],
    ['a time to live', { tools: [{ ...tool, cache_control: { ...mark, ttl: '2h' } }] }, 'tools.0.custom.cache_control'],
    [
      'five marks',
      { cache_control: mark, ...says(...Array.from({ length: 4 }, () => ({ ...text, cache_control: mark }))) },
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
  ])('%s', (_, fields, message) => {
    const given = refusal(fields)
    expect(given?.startsWith(message), given).toBe(true)
  })

  it.each(['opus-4-7', 'opus-4-8', 'opus-5', 'sonnet-5', 'fable-5', 'mythos-5'])('a sampling of %s', (name) => {
    for (const [field, value] of [
      ['temperature', 0.5],
      ['top_p', 0.98],
      ['top_k', 1],
    ] as const)
      expect(refusal({ model: `claude-${name}`, [field]: value })).toBe(`\`${field}\` is deprecated for this model.`)
  })

  it('no binding with its beta', () => {
    const body = { model, max_tokens: 2048, messages: [user], thinking: bound }
    expect(anthropicRefusal(body, ['thinking-binding-controls-2026-08-01'])).toBeUndefined()
  })

  it.each([undefined, null, [], 'x', 1])('a body that is no object: %j', (body) =>
    expect(anthropicRefusal(body)).toBe('The request body is not valid JSON.'),
  )
})
