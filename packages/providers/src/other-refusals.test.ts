import { describe, expect, it } from 'vitest'
import { asking, claudeError, extra, googleError, openaiError } from '../../../test/support/refusals.js'
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
    ])
      expect(lossesBy(text, asking)).toBeUndefined()
  })
})
