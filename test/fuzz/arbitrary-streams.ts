import * as fc from 'fast-check'

/** Events of each family's streams in any order, odd ones among them. */

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.constantFrom('', 'data: x\n\n', '🙂'))
const json = fc.constantFrom('{}', '{"a":1}', '{"a":', '1}', '')
const count = fc.oneof(fc.nat(99), fc.constant(null))
const index = fc.nat(2)
const rarely = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> =>
  fc.oneof({ arbitrary: fc.constant(null), weight: 3 }, { arbitrary: value, weight: 1 })

export const claude = (() => {
  const usage = fc.record(
    { input_tokens: count, output_tokens: count, cache_read_input_tokens: count, cache_creation_input_tokens: count },
    { requiredKeys: [] },
  )
  const block = fc.oneof(
    fc.record({ type: fc.constant('text'), text }),
    fc.record({ type: fc.constant('thinking'), thinking: text }),
    fc.record({
      type: fc.constant('tool_use'),
      id: fc.constantFrom('a', 'b'),
      name: fc.constant('f'),
      input: fc.constant({}),
    }),
    fc.constant({ type: 'server_tool_use', id: 's', name: 'f' }),
  )
  const delta = fc.oneof(
    fc.record({ type: fc.constant('text_delta'), text }),
    fc.record({ type: fc.constant('input_json_delta'), partial_json: json }),
    fc.record({ type: fc.constantFrom('thinking_delta', 'new_delta'), thinking: text }),
  )
  const reason = fc.constantFrom('end_turn', 'tool_use', 'tool_use', 'max_tokens', 'refusal', 'new', null)
  const start = usage.map((given) => ({
    type: 'message_start',
    message: { id: 'm', model: 'c', content: [], usage: given },
  }))
  const end = fc
    .tuple(reason, usage)
    .map(([stop_reason, given]) => ({ type: 'message_delta', delta: { stop_reason }, usage: given }))
  const any = fc.oneof(
    {
      arbitrary: fc
        .tuple(index, block)
        .map(([at, given]) => ({ type: 'content_block_start', index: at, content_block: given })),
      weight: 3,
    },
    {
      arbitrary: fc
        .tuple(index, delta)
        .map(([at, given]) => ({ type: 'content_block_delta', index: at, delta: given })),
      weight: 6,
    },
    { arbitrary: index.map((at) => ({ type: 'content_block_stop', index: at })), weight: 1 },
    { arbitrary: fc.constantFrom({ type: 'ping' }, { type: 'new_event' }), weight: 1 },
    { arbitrary: start, weight: 1 },
  )
  /** Blocks as the vendor sends them, one after another. */
  const sound = fc
    .array(
      fc.oneof(
        text.map((given) => [
          { type: 'text', text: '' },
          { type: 'text_delta', text: given },
        ]),
        fc.constantFrom('', '{}', '{"a":1}').map((given) => [
          { type: 'tool_use', id: 'a', name: 'f', input: {} },
          { type: 'input_json_delta', partial_json: given },
        ]),
      ),
      { minLength: 1, maxLength: 3 },
    )
    .map((blocks) =>
      blocks.flatMap(([content_block, delta], at) => [
        { type: 'content_block_start', index: at, content_block },
        { type: 'content_block_delta', index: at, delta },
        { type: 'content_block_stop', index: at },
      ]),
    )
  const broken = fc.constantFrom<object>(
    { type: 'error', error: { type: 'overloaded_error', message: 'No' } },
    { type: 'message_stop' },
  )
  return fc
    .tuple(
      fc.oneof({ arbitrary: start, weight: 5 }, { arbitrary: broken, weight: 1 }),
      fc.oneof<fc.Arbitrary<object[]>[]>(fc.array(any, { maxLength: 8 }), sound),
      rarely(broken),
      end,
      fc.boolean(),
    )
    .map(([first, middle, odd, last, stops]) => [
      first,
      ...middle,
      ...(odd ? [odd] : []),
      last,
      ...(stops ? [{ type: 'message_stop' }] : []),
    ])
})()

export const gemini = (() => {
  const part = fc.oneof(
    text.map((value) => ({ text: value })),
    text.map((value) => ({ text: value, thought: true })),
    fc.constantFrom(
      { functionCall: { name: 'f', args: { a: 1 } } },
      { functionCall: { name: 'g' }, thoughtSignature: 's' },
      { executableCode: { code: 'x' } },
      { inlineData: { mimeType: 'image/png', data: 'iVBORw0=' } },
    ),
  )
  const usageMetadata = fc
    .record(
      {
        promptTokenCount: fc.integer({ min: 9, max: 99 }),
        candidatesTokenCount: fc.nat(99),
        thoughtsTokenCount: fc.nat(99),
        cachedContentTokenCount: fc.nat(9),
      },
      { requiredKeys: [] },
    )
    // What was cached is a part of the prompt.
    .map(({ cachedContentTokenCount, ...rest }) =>
      rest.promptTokenCount === undefined ? rest : { ...rest, cachedContentTokenCount },
    )
  const reason = fc.constantFrom('STOP', 'MAX_TOKENS', 'SAFETY', 'MALFORMED_FUNCTION_CALL', 'NEW')
  const event = fc.record(
    {
      candidates: fc.array(
        fc.record(
          {
            content: fc.record({ role: fc.constant('model'), parts: fc.array(part, { maxLength: 3 }) }),
            finishReason: reason,
          },
          { requiredKeys: ['content'] },
        ),
        { maxLength: 2 },
      ),
      usageMetadata,
    },
    { requiredKeys: [] },
  )
  const odd = fc.constantFrom(
    { error: { code: 503, message: 'No', status: 'UNAVAILABLE' } },
    { promptFeedback: { blockReason: 'SAFETY' } },
  )
  const last = fc.tuple(reason, usageMetadata).map(([finishReason, given]) => ({
    candidates: [{ content: { parts: [{ text: '' }] }, finishReason }],
    usageMetadata: given,
  }))
  // Events that end in the same words are read without their reports.
  const words = fc.option(fc.constant({ modelVersion: 'gemini-2.5-flash', responseId: 'abc' }))
  return fc
    .tuple(fc.array(event, { maxLength: 6 }), rarely(odd), fc.option(last), words)
    .map(([events, strange, end, more]) =>
      [...events, ...(strange ? [strange] : []), ...(end ? [end] : [])].map((one) => ({ ...one, ...more })),
    )
})()

export const gpt = (() => {
  const delta = fc.oneof(
    text.map((content) => ({ content })),
    fc.constant({ role: 'assistant' }),
    fc
      .tuple(fc.option(index), fc.option(fc.constantFrom('a', 'b')), fc.option(fc.constantFrom('f', 'g')), json)
      .map(([at, id, name, args]) => ({
        tool_calls: [
          {
            ...(at !== null && { index: at }),
            ...(id && { id }),
            function: { ...(name && { name }), arguments: args },
          },
        ],
      })),
  )
  const choice = fc.record({
    index: fc.nat(1),
    delta,
    finish_reason: fc.constantFrom(null, null, null, 'stop', 'length', 'tool_calls', 'new'),
  })
  const usage = fc.record({ prompt_tokens: fc.nat(99), completion_tokens: fc.nat(99) }, { requiredKeys: [] })
  const event = fc.record(
    { id: fc.constantFrom('c', ''), choices: fc.array(choice, { maxLength: 2 }), usage: fc.option(usage) },
    { requiredKeys: ['choices'] },
  )
  const odd = fc.constantFrom({ error: { message: 'No' } }, { choices: 'no' }, {})
  const finish = { choices: [0, 1].map((at) => ({ index: at, delta: {}, finish_reason: 'stop' })) }
  return fc
    .tuple(fc.array(event, { maxLength: 8 }), rarely(odd), fc.boolean())
    .map(([events, strange, ends]) => [...events, ...(strange ? [strange] : []), ...(ends ? [finish] : [])])
})()
