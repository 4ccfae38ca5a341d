import { describe, expect, it } from 'vitest'
import { asking, openaiError } from '../../../../test/support/refusals.js'
import { lossesBy } from './refused-parameters.js'

describe('a refusal of a parameter is understood', () => {
  // By vendor or server: NVIDIA, Bedrock, Azure, serde (TGI, DeepSeek), llama.cpp, pydantic, Fireworks, Cerebras, Claude.
  it.each<[answer: string, losses: string[]]>([
    ['Validation: Unsupported parameter(s): `prompt_cache_key`', ['prompt_cache_key']],
    ['Validation: Unsupported parameter(s): `frequency_penalty`, `seed`', ['frequency_penalty', 'seed']],
    [
      'Malformed input request: #: extraneous key [frequency_penalty] is not permitted, please reformat your input and try again.',
      ['frequency_penalty'],
    ],
    [
      'Failed to deserialize the JSON body into the target type: reasoning_effort: unknown variant `minimal`, expected one of `low`, `medium`, `high`',
      ['reasoning_effort=minimal'],
    ],
    [
      "1 validation error for ChatCompletionRequest\nstream_options\n  Extra inputs are not permitted [type=extra_forbidden, input_value={'include_usage': True}, input_type=dict]",
      ['stream_options'],
    ],
    ['property stream_options should not exist', ['stream_options']],
    ['The min_p and logit_bias parameters are not yet supported with speculative decoding.', ['min_p', 'logit_bias']],
    ["output_config.effort: 'minimal' is not supported by this model", ['reasoning_effort=minimal']],
    ["The 'text.verbosity' parameter is not supported with this model", ['verbosity']],
    ["'text.verbosity' parameter is not supported with this model", ['verbosity']],
    ['Unsupported parameters: store, verbosity.', ['store', 'verbosity']],
    [
      'Malformed input request: #: extraneous key [frequency_penalty] is not permitted, please reformat',
      ['frequency_penalty'],
    ],
    [
      'Malformed input request: #/tool_choice: extraneous key [disable_parallel_tool_use] is not permitted',
      ['parallel_tool_calls'],
    ],
    [
      'output_config: extraneous key [output_config] is not permitted',
      ['reasoning_effort', 'response_format=json_schema'],
    ],
    ['output_config: Extra inputs are not permitted', ['reasoning_effort', 'response_format=json_schema']],
    ['metadata: Extra inputs are not permitted', ['metadata', 'user']],
    ['metadata.user_id: Extra inputs are not permitted', ['user']],
    [
      "Extra parameters ['stream_options', 'parallel_tool_calls'] are not allowed when extra-parameters is not set or set to be 'error'.",
      ['stream_options', 'parallel_tool_calls'],
    ],
    [
      'Failed to deserialize the JSON body into the target type: response_format: unknown variant `json_schema`, expected `text` or `json_object` at line 1 column 200',
      ['response_format=json_schema'],
    ],
    [
      'into the target type: response_format.type: unknown variant `json_schema`, expected `text`',
      ['response_format=json_schema'],
    ],
    [
      'into the target type: reasoning_effort: unknown variant `minimal`, expected one of `low`, `medium`',
      ['reasoning_effort=minimal'],
    ],
    ['into the target type: service_tier: unknown variant `flex`, expected `auto` or `default`', ['service_tier=flex']],
    ['encoding_format: unknown variant `base64`, expected `float`', ['encoding_format']],
    ['tools[0].function: unknown field `strict`, expected `name`', ['strict']],
    ['stream_options: unknown field `include_usage`', ['stream_options']],
    [
      'response_format type must be one of "text" or "json_object", but got: json_schema',
      ['response_format=json_schema'],
    ],
    [
      "1 validation error for ChatCompletionRequest\nstream_options\n  Extra inputs are not permitted [type=extra_forbidden, input_value={'include_usage': True}, input_type=dict]\n",
      ['stream_options'],
    ],
    [
      '2 validation errors for Request\nstore\n  Extra inputs are not permitted [type=extra_forbidden, input_value=True]\nseed\n  Extra inputs are not permitted [type=extra_forbidden, input_value=7]\n',
      ['store', 'seed'],
    ],
    [
      "1 validation error for Request\nreasoning_effort\n  Input should be 'low', 'medium' or 'high' [type=literal_error, input_value='minimal']",
      ['reasoning_effort=minimal'],
    ],
    ['Validation error at #/parallel_tool_calls: Extra inputs are not permitted', ['parallel_tool_calls']],
    [
      "Input should be 'low', 'medium' or 'high', field: 'reasoning_effort', value: 'minimal'",
      ['reasoning_effort=minimal'],
    ],
    ["Input should be 'auto' or 'default', field: 'service_tier', value: 'flex'", ['service_tier=flex']],
    ['service_tier: Input should be "auto", "default"', ['service_tier=flex']],
    ["output_config.effort: Input should be 'low', 'medium' or 'high'", ['reasoning_effort=minimal']],
    ["output_config.effort: 'xhigh' is not supported by this model", ['reasoning_effort=minimal']],
    // jsonschema, zod, NestJS, Jackson, AJV, Python, watsonx, Cohere, Replicate, Hunyuan.
    ["Additional properties are not allowed ('stream_options' was unexpected)", ['stream_options']],
    ["Additional properties are not allowed ('store', 'verbosity' were unexpected)", ['store', 'verbosity']],
    ["Unrecognized key(s) in object: 'stream_options'", ['stream_options']],
    ['Unrecognized key: "stream_options"', ['stream_options']],
    ['Unrecognized keys: "store", "verbosity"', ['store', 'verbosity']],
    [
      '{"error":{"issues":[{"code":"unrecognized_keys","keys":["parallel_tool_calls","store"],"path":[],"message":"No"}]}}',
      ['parallel_tool_calls', 'store'],
    ],
    ['[{"code":"unrecognized_keys","keys":["parallel_tool_calls"],"path":[]}]', ['parallel_tool_calls']],
    [
      '{"error":{"name":"ZodError","message":"[{\\"code\\":\\"invalid_value\\",\\"values\\":[\\"low\\"],\\"path\\":[\\"reasoning_effort\\"],\\"message\\":\\"Invalid option\\"}]"}}',
      ['reasoning_effort=minimal'],
    ],
    ['{"statusCode":400,"message":["property user should not exist","property n should not exist"]}', ['user']],
    ['Unrecognized field "stream_options" (class ChatRequest), not marked as ignorable', ['stream_options']],
    ["must NOT have additional properties: 'stream_options'", ['stream_options']],
    ["AsyncCompletions.create() got an unexpected keyword argument 'parallel_tool_calls'", ['parallel_tool_calls']],
    ['Json document validation error: stream_options is not a valid field', ['stream_options']],
    ['invalid request: unknown field: parameter stream_options is not a valid field', ['stream_options']],
    ['- input: Additional property seed is not allowed', ['seed']],
    ['unknown param: stream_options', ['stream_options']],
    ['{"errors":{"json":{"stream_options":["Unknown field."]}}}', ['stream_options']],
    // Ordinary words: DeepSeek, Volcengine, vLLM, Cohere, Azure, Qwen, OpenAI, Groq, Gemini, Claude.
    ['deepseek-reasoner does not support the parameter `logprobs`', ['logprobs', 'top_logprobs']],
    ['The model does not support the requested parameter: `logprobs`', ['logprobs', 'top_logprobs']],
    ['TPU does not support per-request seed.', ['seed']],
    ['deepseek-reasoner does not support json output', ['response_format=json_schema']],
    [
      'frequency_penalty and presence_penalty are not supported with model command-a',
      ['frequency_penalty', 'presence_penalty'],
    ],
    ["temperature, top_p and seed aren't supported", ['temperature', 'top_p', 'seed']],
    ['temperature, top_p, or seed is not supported', ['temperature', 'top_p', 'seed']],
    [
      'The min_p, logit_bias and min_tokens parameters are not yet supported with speculative decoding.',
      ['min_p', 'logit_bias'],
    ],
    ["The 'stream_options' parameter is not supported with image chat models.", ['stream_options']],
    ["The 'user' parameter isn’t supported", ['user']],
    ['The parameter `stop` is not supported', ['stop']],
    ['Json mode response is not supported when enable_thinking is true', ['response_format=json_schema']],
    ['You are not allowed to request logprobs from this model', ['logprobs', 'top_logprobs']],
    [
      'This model has beta-limitations. temperature, top_p and n are fixed at 1, while presence_penalty and frequency_penalty are fixed at 0',
      ['temperature', 'top_p', 'presence_penalty', 'frequency_penalty'],
    ],
    [openaiError('Invalid service_tier argument', 'service_tier'), ['service_tier=flex']],
    [openaiError('Flex is not available for this model.', 'service_tier'), ['service_tier=flex']],
    ['service_tier `flex` is not available for this model', ['service_tier=flex']],
    [
      'response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later',
      ['response_format=json_schema'],
    ],
    ['`temperature` and `top_p` cannot both be specified for this model. Please use only one.', ['top_p']],
    ['`temperature` may only be set to 1 when thinking is enabled.', ['temperature']],
    ['`top_k` must be unset when thinking is enabled.', ['top_k']],
    ['temperature cannot be used with thinking', ['temperature']],
    ['tools.0.custom: strict is not supported for this model', ['strict']],
    [
      'Thinking level MINIMAL is not supported for this model. Please retry with other thinking level.',
      ['reasoning_effort=minimal'],
    ],
    ['Budget 0 is invalid. This model only works in thinking mode.', ['reasoning_effort']],
    ["Function calling with a response mime type: 'application/json' is unsupported", ['response_format=json_schema']],
    ['The following parameters are not supported: seed, user', ['seed', 'user']],
    ["The parameters 'seed' and 'store' are not supported", ['seed', 'store']],
    ['Unsupported parameters: [seed, store]', ['seed', 'store']],
    ['does not support `seed` and `top_k`', ['seed', 'top_k']],
    ["property 'seed' is not supported", ['seed']],
    ['body.seed is not allowed', ['seed']],
    ['stream_options.include_usage is not supported', ['stream_options']],
    ['reasoning effort "minimal" is not supported by this model', ['reasoning_effort=minimal']],
    // Vectors: Cohere, NVIDIA, Qwen, Ollama, Gemini, FastAPI, vLLM.
    ["Invalid value for encoding_format: 'base64'. Only 'float' is supported.", ['encoding_format']],
    ['Only float encoding format is supported', ['encoding_format']],
    ['The encoding_format parameter only supports float', ['encoding_format']],
    ['invalid encoding_format: base64', ['encoding_format']],
    ['Unsupported encoding_format: base64', ['encoding_format']],
    ['unsupported encoding format base64', ['encoding_format']],
    [
      JSON.stringify({
        detail: [{ type: 'literal_error', loc: ['body', 'encoding_format'], msg: "Input should be 'float'" }],
      }),
      ['encoding_format'],
    ],
  ])('in the words %s', (answer, losses) => expect(lossesBy(answer, asking)).toEqual(losses))
})
