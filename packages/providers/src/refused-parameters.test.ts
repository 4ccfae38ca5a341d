import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { lossesBy, withoutLosses } from './refused-parameters.js'

const schema = { type: 'object', properties: { a: { type: 'string' } } }
const request = {
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  stream: true,
  max_tokens: 5,
  max_completion_tokens: 6,
  temperature: 0.2,
  top_p: 0.5,
  frequency_penalty: 1,
  presence_penalty: 1,
  stop: ['x'],
  seed: 7,
  logprobs: true,
  verbosity: 'low',
  reasoning_effort: 'minimal',
  service_tier: 'flex',
  user: 'u',
  store: true,
  tools: [{ type: 'function', function: { name: 'f', strict: true, parameters: schema } }],
  response_format: { type: 'json_schema', json_schema: { name: 'x', schema, strict: true } },
} as unknown as ChatCompletionRequest

/** OpenAI's body for a message. */
const openai = (message: string, param: string | null = null, code: string | null = null) =>
  JSON.stringify({ error: { message, type: 'invalid_request_error', param, code } })
const google = (message: string) => JSON.stringify({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } })
const claude = (message: string) => JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } })
const extra = (...loc: (string | number)[]) => ({
  type: 'extra_forbidden',
  loc,
  msg: 'Extra inputs are not permitted',
  input: true,
})

describe('a refusal of a parameter is understood', () => {
  it.each<[who: string, answer: string, losses: string[]]>([
    [
      'OpenAI',
      openai("Unsupported parameter: 'top_p' is not supported with this model.", 'top_p', 'unsupported_parameter'),
      ['top_p'],
    ],
    [
      'OpenAI, a value',
      openai(
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        'temperature',
        'unsupported_value',
      ),
      ['temperature'],
    ],
    [
      'OpenAI, an effort',
      openai(
        "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', 'low'.",
        'reasoning_effort',
        'unsupported_value',
      ),
      ['reasoning_effort=minimal'],
    ],
    [
      'OpenAI, named by the value',
      openai(
        "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low'.",
        '***.effort',
        'unsupported_value',
      ),
      ['reasoning_effort=minimal'],
    ],
    [
      'OpenAI, the verbosity',
      openai(
        "Unsupported value: 'verbosity' does not support 'low' with this model. Supported values are: 'medium'.",
        'verbosity',
        'unsupported_value',
      ),
      ['verbosity=low'],
    ],
    ['OpenAI, older models', openai('Unrecognized request argument supplied: reasoning_effort'), ['reasoning_effort']],
    [
      'OpenAI, several',
      openai('Model incompatible request arguments supplied: frequency_penalty, presence_penalty, temperature, top_p'),
      ['frequency_penalty', 'presence_penalty', 'temperature', 'top_p'],
    ],
    ['OpenAI, unknown', openai("Unknown parameter: 'verbosity'.", 'verbosity', 'unknown_parameter'), ['verbosity']],
    [
      'OpenAI, tools with an effort',
      openai(
        "Function tools with reasoning_effort are not supported for luna-dev in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
        'reasoning_effort',
      ),
      ['reasoning_effort=beside tools'],
    ],
    [
      'OpenAI, the limit',
      openai(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
        'unsupported_parameter',
      ),
      ['max_tokens'],
    ],
    [
      'OpenAI, the format',
      openai(
        "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.",
        'response_format',
      ),
      ['response_format=json_schema'],
    ],
    [
      'Mistral',
      JSON.stringify({ object: 'error', message: { detail: [extra('body', 'stream_options', 'include_usage')] } }),
      ['stream_options'],
    ],
    [
      'FastAPI, several',
      JSON.stringify({ detail: [extra('body', 'store'), extra('body', 'max_completion_tokens')] }),
      ['store', 'max_completion_tokens'],
    ],
    [
      'FastAPI, within tools',
      JSON.stringify({ detail: [extra('body', 'tools', 0, 'function', 'strict')] }),
      ['strict'],
    ],
    [
      'FastAPI, older',
      JSON.stringify({
        detail: [{ loc: ['body', 'seed'], msg: 'extra fields not permitted', type: 'value_error.extra' }],
      }),
      ['seed'],
    ],
    [
      'FastAPI, a value',
      JSON.stringify({
        detail: [
          {
            type: 'literal_error',
            loc: ['body', 'reasoning_effort'],
            msg: "Input should be 'none' or 'high'",
            input: 'minimal',
          },
        ],
      }),
      ['reasoning_effort=minimal'],
    ],
    [
      'vLLM',
      JSON.stringify({
        object: 'error',
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'parallel_tool_calls'), 'msg': 'Extra inputs are not permitted', 'input': False}]",
        type: 'BadRequestError',
        code: 400,
      }),
      ['parallel_tool_calls'],
    ],
    [
      'vLLM, vectors',
      JSON.stringify({ object: 'error', message: 'base64 encoding is not currently supported', code: 400 }),
      ['encoding_format'],
    ],
    [
      'Azure, around Mistral',
      JSON.stringify({
        error: {
          code: 'Invalid input',
          message: JSON.stringify({ detail: [extra('body', 'stream_options')] }),
          status: 422,
        },
      }),
      ['stream_options'],
    ],
    [
      'OpenRouter, around OpenAI',
      JSON.stringify({
        error: {
          message: 'Provider returned error',
          code: 400,
          metadata: {
            raw: openai(
              "Unsupported parameter: 'top_p' is not supported with this model.",
              'top_p',
              'unsupported_parameter',
            ),
          },
        },
      }),
      ['top_p'],
    ],
    [
      'litellm',
      openai("litellm.UnsupportedParamsError: groq does not support parameters: ['seed', 'stop'], for model=x."),
      ['seed', 'stop'],
    ],
    ['DeepSeek', openai('This response_format type is unavailable now'), ['response_format=json_schema']],
    [
      'DeepSeek, as text',
      'Failed to deserialize the JSON body into the target type: response_format: response_format.type `json_schema` is unavailable now at line 1',
      ['response_format=json_schema'],
    ],
    [
      'a server in Rust',
      'Failed to deserialize the JSON body into the target type: unknown field `verbosity`, expected one of `model`, `messages`',
      ['verbosity'],
    ],
    [
      'LM Studio',
      JSON.stringify({ error: "'response_format.type' must be 'json_object' or 'text'" }),
      ['response_format=json_schema'],
    ],
    ['Groq', openai('`logprobs` is not supported with this model'), ['logprobs', 'top_logprobs']],
    [
      'Groq, an effort',
      openai('`reasoning_effort` must be one of `none` or `default`', 'reasoning_effort'),
      ['reasoning_effort=minimal'],
    ],
    [
      'Cerebras',
      JSON.stringify({
        message: "store: property 'store' is unsupported",
        type: 'invalid_request_error',
        param: 'validation_error',
        code: 'wrong_api_format',
      }),
      ['store'],
    ],
    [
      'xAI',
      JSON.stringify({
        code: 'Client specified an invalid argument',
        error: 'Argument not supported on this model: presencePenalty',
      }),
      ['presence_penalty'],
    ],
    [
      'xAI, an effort',
      JSON.stringify({ code: 'invalid-argument', error: 'Model grok-4 does not support parameter reasoningEffort.' }),
      ['reasoning_effort'],
    ],
    ['Kimi', openai('invalid temperature: only 1 is allowed for this model'), ['temperature']],
    ['Ollama', JSON.stringify({ error: { message: '"llama3.2" does not support thinking' } }), ['reasoning_effort']],
    ['llama.cpp', JSON.stringify({ error: { code: 400, message: 'Unsupported param: seed' } }), ['seed']],
    ['Fireworks', openai("Extra inputs are not permitted, field: 'verbosity', value: 'low'"), ['verbosity']],
    [
      'Gemini',
      google(
        `Invalid JSON payload received. Unknown name "frequencyPenalty" at 'generation_config': Cannot find field.`,
      ),
      ['frequency_penalty'],
    ],
    [
      'Gemini, thoughts',
      google(
        `Invalid JSON payload received. Unknown name "thinkingLevel" at 'generation_config.thinking_config': Cannot find field.`,
      ),
      ['reasoning_effort'],
    ],
    [
      'Gemini, penalties',
      google('Penalty is not enabled for models/gemini-2.5-flash'),
      ['frequency_penalty', 'presence_penalty'],
    ],
    ['Gemini, a level', google('Thinking level is not supported for this model.'), ['reasoning_effort']],
    ['Gemini, its configuration', google('thinking_config is not supported.'), ['reasoning_effort']],
    [
      'Vertex',
      google(
        'Unable to submit request because thinking is not configurable in this model; please remove the thinking_config setting and try it again.',
      ),
      ['reasoning_effort'],
    ],
    [
      'Gemini, the format',
      google('JSON mode is not enabled for models/gemma-3-27b-it'),
      ['response_format=json_schema'],
    ],
    ['Claude', claude('top_p: Extra inputs are not permitted'), ['top_p']],
    ['Claude, deprecated', claude('`temperature` is deprecated for this model.'), ['temperature']],
    ['Claude, the effort', claude('This model does not support the effort parameter.'), ['reasoning_effort']],
    ['Claude, its configuration', claude('output_config.effort: Extra inputs are not permitted'), ['reasoning_effort']],
    ['Claude, thinking', claude('adaptive thinking is not supported on this model'), ['reasoning_effort']],
    ['Claude, strict', claude('tools.0.custom.strict: Extra inputs are not permitted'), ['strict']],
    ['Claude, the format', claude("'claude-3-haiku' does not support output format."), ['response_format=json_schema']],
    ['Claude, the tier', claude('service_tier: Extra inputs are not permitted'), ['service_tier']],
  ])('%s: %s', (_, answer, losses) => expect(lossesBy(answer, request)).toEqual(losses))

  it.each([
    claude(
      'The compiled grammar is too large, which would cause performance issues. Simplify your tool schemas or reduce the number of strict tools.',
    ),
    claude('Schema is too complex for compilation.'),
    google(
      `Invalid JSON payload received. Unknown name "prefixItems" at 'generation_config.response_json_schema.properties[0].value': Cannot find field.`,
    ),
  ])('schemas of this request alone: %s', (answer) => {
    const [loss] = lossesBy(answer, request)!
    expect(loss).toMatch(/^schemas=/)
    expect(withoutLosses(request, [loss!]).notes.map(({ field }) => field)).toEqual([
      'response_format',
      'tools.function.strict',
    ])
    const other = { ...request, tools: undefined } as unknown as ChatCompletionRequest
    expect(withoutLosses(other, [loss!])).toEqual({ request: other, notes: [] })
  })
})

describe('nothing is left out for', () => {
  it.each<[what: string, answer: string]>([
    ['no body', ''],
    ['a page', '<html>400 Bad Request</html>'],
    [
      'an invalid value',
      openai(
        "Invalid 'temperature': decimal above maximum value. Expected a value <= 2, but got 5 instead.",
        'temperature',
        'decimal_above_max_value',
      ),
    ],
    ['an invalid type', openai("Invalid type for 'stop': expected an array of strings.", 'stop', 'invalid_type')],
    [
      'an effort that nobody has',
      openai("Invalid value: 'ultra'. Supported values are: 'low'.", 'model', 'invalid_value'),
    ],
    [
      'a long prompt',
      openai(
        "This model's maximum context length is 8192 tokens. Please reduce the length of the messages.",
        'messages',
        'context_length_exceeded',
      ),
    ],
    [
      'a content filter',
      openai(
        'The response was filtered due to the prompt triggering a content management policy.',
        'prompt',
        'content_filter',
      ),
    ],
    ['a bad image', openai('Invalid image data.', null, 'invalid_image')],
    ['a model', openai("The model 'x' does not exist or you do not have access to it.", null, 'model_not_found')],
    ['a model that is not served', openai('The requested model is not supported.', 'model', 'model_not_supported')],
    ['tools', openai('"auto" tool choice requires --enable-auto-tool-choice')],
    ['tools that a model does not have', JSON.stringify({ error: { message: '"gemma" does not support tools' } })],
    [
      'tools, unsupported',
      openai("Unsupported parameter: 'tools' is not supported with this model.", 'tools', 'unsupported_parameter'),
    ],
    ['a choice of tools', openai('Thinking mode does not support this tool_choice')],
    ['n', openai("Unsupported parameter: 'n' is not supported with this model.", 'n', 'unsupported_parameter')],
    [
      'messages',
      openai(
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
    ['an unknown field of a tool', claude('tools.0.custom.input_examples: Extra inputs are not permitted')],
    ['a field that nobody knows', openai("Unknown parameter: 'foo'.", 'foo', 'unknown_parameter')],
    ['constructor', openai("Unknown parameter: 'constructor'.", 'constructor', 'unknown_parameter')],
    [
      'the limit without another name',
      openai(
        "Unsupported parameter: 'max_tokens' is not supported with this model.",
        'max_tokens',
        'unsupported_parameter',
      ),
    ],
    [
      'a limit over the maximum',
      claude('max_tokens: 200000 > 128000, which is the maximum allowed number of output tokens'),
    ],
    [
      'a missing tool list',
      openai(
        "Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.",
        'parallel_tool_calls',
      ),
    ],
    [
      'a format without the word',
      openai(
        "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.",
        'messages',
      ),
    ],
    [
      'a schema that is not strict',
      openai(
        "Invalid schema for response_format 'x': In context=(), 'oneOf' is not permitted.",
        'response_format',
        'invalid_value_schema',
      ),
    ],
    ['somebody', openai('This user is not allowed to store files')],
    [
      'a prefill',
      claude('This model does not support assistant message prefill. The conversation must end with a user message.'),
    ],
    ['a place', google('User location is not supported for the API use.')],
    ['a mime type', google('Unsupported MIME type: application/zip')],
  ])('%s: %s', (_, answer) => expect(lossesBy(answer, request)).toBeUndefined())

  it('an effort of the caller that is none', () => {
    const answer = openai(
      "Unsupported value: 'reasoning_effort' does not support 'ultra' with this model.",
      'reasoning_effort',
      'unsupported_value',
    )
    expect(lossesBy(answer, { ...request, reasoning_effort: 'ultra' } as { model: string })).toBeUndefined()
  })

  it('texts that are long: they are read in one pass', () => {
    for (const text of [
      'a'.repeat(60_000),
      'a b '.repeat(15_000),
      "'a' ".repeat(15_000),
      'type":"extra_forbidden","loc":['.repeat(2_000),
    ])
      expect(lossesBy(text, request)).toBeUndefined()
  })
})

describe('a request without what is refused', () => {
  const without = (...losses: string[]) => {
    const { request: left, notes } = withoutLosses(request, losses)
    return {
      left: JSON.parse(JSON.stringify(left)) as Record<string, unknown>,
      notes: notes.map(({ field, action }) => `${action}=${field}`),
    }
  }

  it('is the request itself where it has none of it', () => {
    const bare = { model: 'm', messages: request.messages }
    const losses = [
      'temperature',
      'reasoning_effort=low',
      'reasoning_effort=beside tools',
      'strict',
      'response_format=json_schema',
      'max_tokens',
      'stream_options',
      'schemas=1-2',
    ]
    const { request: left, notes } = withoutLosses(bare, losses)
    expect(left).toBe(bare)
    expect(notes).toEqual([])
  })

  it.each<[loss: string, gone: string, notes: string[]]>([
    ['temperature', 'temperature', ['dropped=temperature']],
    ['reasoning_effort=minimal', 'reasoning_effort', ['dropped=reasoning_effort']],
    ['service_tier', 'service_tier', ['dropped=service_tier']],
  ])('%s', (loss, gone, notes) => {
    const { left, notes: noted } = without(loss)
    expect(left).not.toHaveProperty(gone)
    expect([Object.keys(left).length, noted]).toEqual([Object.keys(request).length - 1, notes])
  })

  it('keeps a value that was not refused', () => {
    expect(without('reasoning_effort=xhigh', 'response_format=json_object')).toMatchObject({
      left: { reasoning_effort: 'minimal', response_format: request['response_format'] },
      notes: [],
    })
  })

  it('tells the format in words', () => {
    const { left, notes } = without('response_format=json_schema')
    expect(left).not.toHaveProperty('response_format')
    expect([left['system'], notes]).toEqual([
      `Answer with a JSON object and nothing else that conforms to this JSON Schema: ${JSON.stringify(schema)}`,
      ['emulated=response_format'],
    ])
  })

  it('has tools and a format that are not strict', () => {
    expect(without('strict')).toMatchObject({
      left: {
        tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
        response_format: { json_schema: { name: 'x', schema } },
      },
      notes: ['dropped=tools.function.strict', 'dropped=response_format.json_schema.strict'],
    })
    expect(JSON.stringify(without('strict').left)).not.toContain('strict')
  })

  it('has the effort none beside tools', () => {
    expect(without('reasoning_effort=beside tools')).toMatchObject({
      left: { reasoning_effort: 'none' },
      notes: ['clamped=reasoning_effort'],
    })
  })

  it('keeps its limit by the other name', () => {
    const { left, notes } = without('max_tokens')
    expect([left['max_tokens'], left['max_completion_tokens'], notes]).toEqual([undefined, 6, []])
    const one = { model: 'm', messages: request.messages, max_completion_tokens: 5 }
    expect(withoutLosses(one, ['max_completion_tokens']).request).toEqual({
      model: 'm',
      messages: request.messages,
      max_tokens: 5,
    })
  })
})
