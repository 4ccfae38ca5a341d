import { describe, expect, it } from 'vitest'
import { asking, claudeError, extra, googleError, openaiError } from '../../../../test/support/refusals.js'
import { lossesBy } from './refused-parameters.js'

describe('nothing is left out for', () => {
  it.each<[what: string, answer: string]>([
    ['no body', ''],
    ['a page', '<html>400 Bad Request</html>'],
    [
      'an invalid value',
      openaiError(
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 5 instead.",
        'temperature',
        'decimal_above_max_value',
      ),
    ],
    ['an invalid type', openaiError("Invalid type for 'stop': expected an array of strings.", 'stop', 'invalid_type')],
    [
      'an effort that nobody has',
      openaiError("Invalid value: 'ultra'. Supported values are: 'low'.", 'model', 'invalid_value'),
    ],
    [
      'a long prompt',
      openaiError(
        "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
        'messages',
        'context_length_exceeded',
      ),
    ],
    [
      'a content filter',
      openaiError(
        'The response was filtered due to the prompt triggering a content management policy.',
        'prompt',
        'content_filter',
      ),
    ],
    ['a bad image', openaiError('Invalid image data.', null, 'invalid_image')],
    ['a model', openaiError("The model 'x' does not exist or you do not have access to it.", null, 'model_not_found')],
    [
      'a model that is not served',
      openaiError('The requested model is not supported.', 'model', 'model_not_supported'),
    ],
    ['tools', openaiError('"auto" tool choice requires --enable-auto-tool-choice')],
    ['tools that a model does not have', JSON.stringify({ error: { message: '"gemma" does not support tools' } })],
    [
      'tools, unsupported',
      openaiError("Unsupported parameter: 'tools' is not supported with this model.", 'tools', 'unsupported_parameter'),
    ],
    ['a choice of tools', openaiError('Thinking mode does not support this tool_choice')],
    ['n', openaiError("Unsupported parameter: 'n' is not supported with this model.", 'n', 'unsupported_parameter')],
    [
      'messages',
      openaiError(
        "Unsupported value: 'messages[0].role' does not support 'system' with this model.",
        'messages[0].role',
        'unsupported_value',
      ),
    ],
    ['a field of messages', JSON.stringify({ detail: [extra('body', 'messages', 1, 'reasoning_content')] })],
    [
      'messages beside a parameter',
      JSON.stringify({ detail: [extra('body', 'store'), extra('body', 'messages', 1, 'x')] }),
    ],
    ['an unknown field of a tool', claudeError('tools.0.custom.input_examples: Extra inputs are not permitted')],
    ['a field that nobody knows', openaiError("Unknown parameter: 'foo'.", 'foo', 'unknown_parameter')],
    ['constructor', openaiError("Unknown parameter: 'constructor'.", 'constructor', 'unknown_parameter')],
    [
      'the limit without another name',
      openaiError(
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        'max_tokens',
        'unsupported_parameter',
      ),
    ],
    [
      'a limit over the maximum',
      claudeError('max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens'),
    ],
    [
      'a missing tool list',
      openaiError(
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
        'parallel_tool_calls',
      ),
    ],
    [
      'a format without the word',
      openaiError(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        'messages',
      ),
    ],
    [
      'a schema that is not strict',
      openaiError(
        "Invalid schema for response_format 'x': In context=(), 'oneOf' is not permitted.",
        'response_format',
        'invalid_value_schema',
      ),
    ],
    ['somebody', openaiError('This user is not allowed to store files')],
    [
      'a prefill',
      claudeError(
        'This model does not support assistant message prefill. The conversation must end with a user message.',
      ),
    ],
    ['a place', googleError('User location is not supported for the API use.')],
    ['a mime type', googleError('Unsupported MIME type: application/zip')],
    ['a mime type of JSON', googleError('The mimeType parameter with value application/json is not supported.')],
    // Each form, of what is the caller's.
    ['a value out of range', openaiError('temperature must be between 0 and 2')],
    ['a value out of range', openaiError("'temperature' must be a number")],
    ['a value out of range', openaiError('top_p may only be set to values between 0 and 1')],
    ['a value out of range', openaiError('temperature 3 is not supported')],
    ['a value out of range', openaiError('A temperature greater than 1 is not supported')],
    ['a value out of range', openaiError('temperature: Input should be less than or equal to 2')],
    ['a value out of range', openaiError("Input should be less than or equal to 2, field: 'temperature', value: 5")],
    ['a value out of range', openaiError('temperature cannot be greater than 2')],
    ['a value out of range', openaiError('An empty `stop` is not allowed')],
    ['a value out of range', openaiError('An empty stop is not allowed')],
    ['a value out of range', openaiError('thinking.budget_tokens must be greater than 1024')],
    ['a value out of range', openaiError('max_tokens must be greater than thinking.budget_tokens')],
    ['a value out of range', openaiError('Invalid value for temperature: 5')],
    ['a value out of range', JSON.stringify({ errors: { json: { temperature: ['Must be at most 2.'] } } })],
    ['a schema', openaiError("Invalid schema for response_format: 'required' is not supported")],
    ['a schema', openaiError("Invalid value for response_format: 'x' is not a schema")],
    ['a schema', openaiError('must NOT have additional properties')],
    ['a schema', openaiError("Invalid schema for function 'f': unknown field 'seed'")],
    ['a schema', openaiError("Invalid schema for function 'f': In context=('properties',), 'seed' is not permitted.")],
    ['a schema', openaiError("Invalid schema for function 'f': extra required key 'seed' supplied.")],
    ['a schema', claudeError("tools.0.custom.input_schema: unexpected key 'temperature'")],
    ['a choice', claudeError("tool_choice: 'required' is not supported")],
    ['a sequence', claudeError('stop sequences are not allowed to contain whitespace alone')],
    ['messages', openaiError('user messages are not permitted after tools')],
    ['a key of tools', openaiError('Malformed input request: #: extraneous key [tools] is not permitted')],
    ['a key of messages', openaiError('#/messages/0/content/1: extraneous key [cachePoint] is not permitted')],
    ['a key of messages', openaiError('#/messages/0: extraneous key [metadata] is not permitted')],
    ['a key of messages', openaiError('messages[0]: unknown field `metadata`, expected `role`')],
    ['a key of messages', openaiError('messages[0]: unknown variant `image_url`, expected `text`')],
    ['a key of messages', openaiError("messages.0: property 'user' is unsupported")],
    ['a key of messages', openaiError('messages.0.metadata: Extra inputs are not permitted')],
    ['a key of messages', openaiError('messages.0: temperature is not supported')],
    [
      'a key of messages',
      googleError(`x: Invalid JSON payload received. Unknown name "seed" at 'contents[0]': Cannot find field.`),
    ],
    [
      'a key of messages',
      googleError(`Invalid JSON payload received. Unknown name "seed" at 'contents[0].parts[0]': No.`),
    ],
    [
      'a key of messages',
      '1 validation error for R\nmessages.0.metadata\n  Extra inputs are not permitted [type=extra_forbidden, x]',
    ],
    ['a key of tools', '{"code":"unrecognized_keys","keys":["user"],"path":["tools",0]}'],
    ['a key of tools', openaiError('tools[0].function: unknown field `metadata`')],
    ['a choice of tools', openaiError('tool_choice: unknown variant `any`, expected `auto`')],
    ['a choice of tools', openaiError('tool_choice: unknown variant `required`, expected `auto`')],
    ['a key of somebody', openaiError('extraneous key [cachePoint] is not permitted')],
    ['a list with n', openaiError("Extra parameters ['stream_options', 'n'] are not allowed")],
    [
      'a list with messages',
      openaiError("Additional properties are not allowed ('store', 'messages' were unexpected)"),
    ],
    ['a list of messages', openaiError("Additional properties are not allowed ('messages' was unexpected)")],
    ['a list with the model', openaiError('model and temperature are not supported')],
    ['a list with tools', openaiError('temperature and tools are not supported')],
    ['a sum of others', openaiError('`min_tokens` is not supported')],
    ['a key of a tool', openaiError("tool 'get_weather' has unknown parameter 'user'")],
    ['a key of a tool', openaiError("Function 'f': property 'seed' is not supported")],
    ['a key of a tool', openaiError('Unexpected argument: seed in tool call arguments')],
    ['a key of a tool', openaiError('tool_choice: unexpected key "user"')],
    ['a key of a schema', openaiError("Invalid JSON schema: keyword 'metadata' is not supported")],
    ['a key of a schema', openaiError('Property temperature is not allowed in schema of function get')],
    ['a key of messages', openaiError("Additional properties are not allowed ('seed' was unexpected) in messages[0]")],
    ['a key of messages', openaiError('messages[1].tool_calls[0].function: unknown field "strict"')],
    ['a key of messages', openaiError('contents.parts: unknown field "thinking"')],
    ['a key of messages', googleError(`Unknown name "user" at 'contents[1]': Cannot find field.`)],
    ['sequences', openaiError('Too many stop sequences are not allowed')],
    ['what has a name', openaiError("The language 'user' is not supported")],
    ['what has a name', openaiError('The tool named seed is not supported')],
    ['what has a name', openaiError('The audio format seed is not supported')],
    ['a key', openaiError("Incorrect API key provided: 'user' is not allowed to sign in")],
    ['a rate', openaiError('Rate limit reached: does not support more than 3 requests')],
    ['a filter', openaiError('Blocked by guardrail: this content is not supported')],
    ['a model', openaiError('Unknown model: temperature')],
    ['a model', openaiError('The model `reasoning` does not support streaming')],
    ['an image', openaiError('x is not a multimodal model')],
  ])('%s: %s', (_, answer) => expect(lossesBy(answer, asking)).toBeUndefined())

  it('an effort of the caller that is none', () => {
    const answer = openaiError(
      "Unsupported value: 'reasoning_effort' does not support 'ultra' with this model.",
      'reasoning_effort',
      'unsupported_value',
    )
    expect(lossesBy(answer, { ...asking, reasoning_effort: 'ultra' } as { model: string })).toBeUndefined()
  })

  it('texts that are long: they are read in one pass', () => {
    for (const text of [
      'a'.repeat(60_000),
      'a b '.repeat(15_000),
      "'a' ".repeat(15_000),
      'type":"extra_forbidden","loc":['.repeat(2_000),
      'unknown field '.repeat(4_000),
      "input should be '".repeat(4_000),
      'foo and bar is not supported, '.repeat(2_000),
    ])
      expect(lossesBy(text, asking)).toBeUndefined()
  })
})
