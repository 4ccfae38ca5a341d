import type { ChatCompletionRequest } from '@turnpike/core'
import * as fc from 'fast-check'
import type { Message } from './arbitrary-messages.js'
import { conversation, file, image } from './arbitrary-messages.js'
import { maybe, objectSchema, text, toolset } from './arbitrary-tools.js'

const count = fc.integer({ min: 1, max: 200_000 })
const penalty = fc.double({ min: -2, max: 2, noNaN: true })

const options = fc
  .record({
    system: maybe(text),
    stream: maybe(fc.boolean()),
    stream_options: maybe(fc.record({ include_usage: fc.boolean(), include_obfuscation: fc.boolean() })),
    max_tokens: maybe(count),
    max_completion_tokens: maybe(count),
    temperature: maybe(fc.double({ min: 0, max: 2, noNaN: true })),
    top_p: maybe(fc.double({ min: 0, max: 1, noNaN: true })),
    stop: maybe(fc.oneof(text, fc.array(text, { maxLength: 4 }))),
    response_format: maybe(
      fc.oneof(
        fc.constantFrom({ type: 'text' }, { type: 'json_object' }),
        objectSchema.map((schema) => ({ type: 'json_schema', json_schema: { name: 'answer', schema } })),
      ),
    ),
    reasoning_effort: fc.constantFrom(undefined, 'none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'),
    user: maybe(text),
    safety_identifier: maybe(fc.constantFrom('hash', 'a@example.com')),
    metadata: maybe(fc.constant({ a: 'b' })),
    store: maybe(fc.boolean()),
    service_tier: maybe(fc.constantFrom('auto', 'default', 'flex', 'priority')),
    verbosity: maybe(fc.constantFrom('low', 'high')),
    modalities: maybe(fc.constant(['text'])),
    seed: maybe(fc.maxSafeInteger()),
    logit_bias: maybe(fc.constant({ 1: 2 })),
    frequency_penalty: maybe(penalty),
    presence_penalty: maybe(penalty),
    logprobs: maybe(fc.boolean()),
    top_logprobs: maybe(fc.nat(20)),
    n: maybe(fc.integer({ min: 1, max: 3 })),
  })
  // As OpenAI has it: these in streams only, and JSON where a message asks for it.
  .map(({ stream_options, ...rest }) => ({
    ...rest,
    ...(rest.stream && { stream_options }),
    ...(rest.response_format?.type === 'json_object' && { system: 'Answer in JSON' }),
  }))

const foreignOptions = fc
  .record({
    top_k: maybe(fc.integer({ min: 1, max: 100 })),
    made_up: maybe(fc.jsonValue()),
    stops: fc.option(fc.array(text, { minLength: 5, maxLength: 6 }), { freq: 2 }),
  })
  .map(({ stops, ...rest }) => ({ ...rest, ...(stops && { stop: stops }) }))

/**
 * Any request in OpenAI's form, with what a family may refuse among it.
 * @param foreign whether it may have what OpenAI itself has not, which that family is sent untouched
 */
export function arbitraryRequest(models: string[], foreign = true): fc.Arbitrary<ChatCompletionRequest> {
  const cached: fc.Arbitrary<object> = foreign
    ? fc.constantFrom({}, { cache_control: { type: 'ephemeral' } }, { cache_control: { type: 'ephemeral', ttl: '1h' } })
    : fc.constant({})
  return fc
    .tuple(
      fc.constantFrom(...models),
      conversation(foreign, cached),
      toolset(foreign, cached),
      options,
      foreign ? foreignOptions : fc.constant({}),
    )
    .map(
      ([model, messages, tools, given, more]) =>
        ({ model, messages, ...tools, ...given, ...more }) as unknown as ChatCompletionRequest,
    )
}

const say = (...messages: Message[]) => ({ messages: [...messages, { role: 'user', content: 'Hi' }] })
const show = (part: object) => ({ messages: [{ role: 'user', content: [part] }] })
const call = (args: string): Message => ({
  role: 'assistant',
  tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'f', arguments: args } }],
})
const result = { role: 'tool', tool_call_id: 'call_1', content: '1' }
const none = { functions: null, function_call: null }
const tools = [{ type: 'function', function: { name: 'f' } }]

/** What no family but OpenAI takes, each with the words that it is refused with. */
export const flaws: Record<string, [fields: object, refusal: RegExp]> = {
  'a custom tool': [{ ...none, tools: [{ type: 'custom', custom: { name: 'f' } }] }, /custom tools/],
  'a choice of a custom tool': [
    { ...none, tools, tool_choice: { type: 'custom', custom: { name: 'f' } } },
    /custom tools/,
  ],
  'a call of a custom tool': [
    say(
      { role: 'assistant', tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'f', input: '' } }] },
      result,
    ),
    /custom tools/,
  ],
  'a choice that is not among the tools': [
    { ...none, tools, tool_choice: { type: 'function', function: { name: 'g' } } },
    /"g", which is no tool/,
  ],
  'a choice without tools': [{ ...none, tools: [], tool_choice: 'required' }, /needs tools/],
  'no allowed tools': [
    { ...none, tools, tool_choice: { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } } },
    /allows none of the tools/,
  ],
  'arguments that are a list': [say(call('[1]'), result), /no JSON object/],
  'arguments that are no JSON': [say(call('{bad'), result), /no JSON object/],
  'a result without its call': [say(result), /No tool call "call_1" waits/],
  'a function message without its call': [
    say({ role: 'function', name: 'f', content: '1' }),
    /No call of the function/,
  ],
  'audio of an earlier answer': [say({ role: 'assistant', audio: { id: 'audio_1' } }), /audio of an earlier answer/],
  'an unknown format': [{ response_format: { type: 'grammar' } }, /no such response_format/],
  'an unknown effort': [{ reasoning_effort: 'extreme' }, /reasoning_effort must be/],
  'an address that is not https': [show(image('http://10.0.0.1/a.png')), /Only https and data URLs/],
  'an image of another type': [show(image('data:image/svg+xml;base64,PHN2Zy8+')), /image\/svg\+xml/],
  'a file by its id': [show(file({ file_id: 'file-1' })), /without data|takes files as file_data/],
}
