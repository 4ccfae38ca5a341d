import { describe, expect, it } from 'vitest'
import { asking, openaiError } from '../../../test/support/refusals.js'
import { lossesBy } from './refused-parameters.js'

/** Wordings of compatible servers and of the frameworks that they are made with. */
describe('a refusal is understood in the words', () => {
  it.each<[text: string, losses: string[]]>([
    // NVIDIA
    ['Validation: Unsupported parameter(s): `prompt_cache_key`', ['prompt_cache_key']],
    ['Validation: Unsupported parameter(s): `frequency_penalty`, `seed`', ['frequency_penalty', 'seed']],
    // Bedrock
    [
      'Malformed input request: #: extraneous key [frequency_penalty] is not permitted, please reformat your input and try again.',
      ['frequency_penalty'],
    ],
    [
      'Malformed input request: #/tool_choice: extraneous key [disable_parallel_tool_use] is not permitted',
      ['parallel_tool_calls'],
    ],
    // Azure AI Foundry
    [
      "Extra parameters ['stream_options', 'parallel_tool_calls'] are not allowed when extra-parameters is not set or set to be 'error'.",
      ['stream_options', 'parallel_tool_calls'],
    ],
    ['Validation error at #/parallel_tool_calls: Extra inputs are not permitted', ['parallel_tool_calls']],
    ["The 'stream_options' parameter is not supported with image chat models.", ['stream_options']],
    // serde: TGI, DeepSeek
    [
      'Failed to deserialize the JSON body into the target type: response_format: unknown variant `json_schema`, expected `text` or `json_object` at line 1 column 200',
      ['response_format=json_schema'],
    ],
    [
      'Failed to deserialize the JSON body into the target type: reasoning_effort: unknown variant `minimal`, expected one of `low`, `medium`, `high`',
      ['reasoning_effort=minimal'],
    ],
    ['encoding_format: unknown variant `base64`, expected `float`', ['encoding_format']],
    // llama.cpp
    [
      'response_format type must be one of "text" or "json_object", but got: json_schema',
      ['response_format=json_schema'],
    ],
    // pydantic
    [
      "1 validation error for ChatCompletionRequest\nstream_options\n  Extra inputs are not permitted [type=extra_forbidden, input_value={'include_usage': True}, input_type=dict]",
      ['stream_options'],
    ],
    // jsonschema
    ["Additional properties are not allowed ('stream_options' was unexpected)", ['stream_options']],
    ["Additional properties are not allowed ('store', 'verbosity' were unexpected)", ['store', 'verbosity']],
    // zod
    ["Unrecognized key(s) in object: 'stream_options'", ['stream_options']],
    ['Unrecognized keys: "store", "verbosity"', ['store', 'verbosity']],
    // class-validator, Jackson, AJV, Python
    ['property stream_options should not exist', ['stream_options']],
    ['Unrecognized field "stream_options" (class ChatRequest), not marked as ignorable', ['stream_options']],
    ["must NOT have additional properties: 'stream_options'", ['stream_options']],
    ["AsyncCompletions.create() got an unexpected keyword argument 'parallel_tool_calls'", ['parallel_tool_calls']],
    // watsonx, Cohere, DeepSeek, vLLM
    ['Json document validation error: stream_options is not a valid field', ['stream_options']],
    [
      'frequency_penalty and presence_penalty are not supported with model command-a',
      ['frequency_penalty', 'presence_penalty'],
    ],
    ['deepseek-reasoner does not support the parameter `logprobs`', ['logprobs', 'top_logprobs']],
    ['The min_p and logit_bias parameters are not yet supported with speculative decoding.', ['min_p', 'logit_bias']],
    // Gemini
    [
      'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.',
      ['reasoning_effort=minimal'],
    ],
    // Claude
    ['`temperature` may only be set to 1 when thinking is enabled.', ['temperature']],
    ['`temperature` and `top_p` cannot both be specified for this model. Please use only one.', ['top_p']],
    ["output_config.effort: 'minimal' is not supported by this model", ['reasoning_effort=minimal']],
  ])('%s', (text, losses) => {
    expect(lossesBy(openaiError(text), asking)).toEqual(losses)
  })

  it.each([
    "Extra parameters ['stream_options', 'n'] are not allowed",
    "Additional properties are not allowed ('messages' was unexpected)",
    'messages[0]: unknown variant `image_url`, expected `text`',
    'tool_choice: unknown variant `required`, expected `auto`',
    'extraneous key [cachePoint] is not permitted',
    'temperature must be between 0 and 2',
    'An empty stop is not allowed',
    'must NOT have additional properties',
  ])('nothing is left out for: %s', (text) => {
    expect(lossesBy(openaiError(text), asking)).toBeUndefined()
  })
})
