import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { asking, claudeError, extra, googleError, openaiError } from '../../../../test/support/refusals.js'
import { expectLinear } from '../../../../test/support/linear.js'
import { lossesBy, withoutLosses } from './refused-parameters.js'

describe('a refusal of a parameter is understood', () => {
  it.each<[who: string, answer: string, losses: string[]]>([
    [
      'OpenAI',
      openaiError("Unsupported parameter: 'top_p' is not supported with this model.", 'top_p', 'unsupported_parameter'),
      ['top_p'],
    ],
    [
      'OpenAI, a value',
      openaiError(
        "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
        'temperature',
        'unsupported_value',
      ),
      ['temperature'],
    ],
    [
      'OpenAI, an effort',
      openaiError(
        "Unsupported value: 'reasoning_effort' does not support 'minimal' with this model. Supported values are: 'none', 'low'.",
        'reasoning_effort',
        'unsupported_value',
      ),
      ['reasoning_effort=minimal'],
    ],
    [
      'OpenAI, named by the value',
      openaiError(
        "Unsupported value: 'minimal' is not supported with the 'gpt-5.1' model. Supported values are: 'none', 'low'.",
        '***.effort',
        'unsupported_value',
      ),
      ['reasoning_effort=minimal'],
    ],
    [
      'OpenAI, the verbosity',
      openaiError(
        "Unsupported value: 'verbosity' does not support 'low' with this model. Supported values are: 'medium'.",
        'verbosity',
        'unsupported_value',
      ),
      ['verbosity=low'],
    ],
    [
      'OpenAI, older models',
      openaiError('Unrecognized request argument supplied: reasoning_effort'),
      ['reasoning_effort'],
    ],
    [
      'OpenAI, several',
      openaiError(
        'Model incompatible request arguments supplied: frequency_penalty, presence_penalty, temperature, top_p',
      ),
      ['frequency_penalty', 'presence_penalty', 'temperature', 'top_p'],
    ],
    [
      'OpenAI, unknown',
      openaiError("Unknown parameter: 'verbosity'.", 'verbosity', 'unknown_parameter'),
      ['verbosity'],
    ],
    [
      'OpenAI, tools with an effort',
      openaiError(
        "Function tools with reasoning_effort are not supported for luna-dev in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
        'reasoning_effort',
      ),
      ['reasoning_effort=beside tools'],
    ],
    [
      'OpenAI, the limit',
      openaiError(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        'max_tokens',
        'unsupported_parameter',
      ),
      ['max_tokens'],
    ],
    [
      'OpenAI, the format',
      openaiError(
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
            raw: openaiError(
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
      openaiError("litellm.UnsupportedParamsError: groq does not support parameters: ['seed', 'stop'], for model=x."),
      ['seed', 'stop'],
    ],
    ['DeepSeek', openaiError('This response_format type is unavailable now'), ['response_format=json_schema']],
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
    ['Groq', openaiError('`logprobs` is not supported with this model'), ['logprobs', 'top_logprobs']],
    [
      'Groq, an effort',
      openaiError('`reasoning_effort` must be one of `none` or `default`', 'reasoning_effort'),
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
    ['Kimi', openaiError('invalid temperature: only 1 is allowed for this model'), ['temperature']],
    ['Ollama', JSON.stringify({ error: { message: '"llama3.2" does not support thinking' } }), ['reasoning_effort']],
    ['llama.cpp', JSON.stringify({ error: { code: 400, message: 'Unsupported param: seed' } }), ['seed']],
    ['Fireworks', openaiError("Extra inputs are not permitted, field: 'verbosity', value: 'low'"), ['verbosity']],
    [
      'Gemini',
      googleError(
        `Invalid JSON payload received. Unknown name "frequencyPenalty" at 'generation_config': Cannot find field.`,
      ),
      ['frequency_penalty'],
    ],
    [
      'Gemini, thoughts',
      googleError(
        `Invalid JSON payload received. Unknown name "thinkingLevel" at 'generation_config.thinking_config': Cannot find field.`,
      ),
      ['reasoning_effort'],
    ],
    [
      'Gemini, penalties',
      googleError('Penalty is not enabled for models/gemini-2.5-flash'),
      ['frequency_penalty', 'presence_penalty'],
    ],
    ['Gemini, a level', googleError('Thinking level is not supported for this model.'), ['reasoning_effort']],
    ['Gemini, its configuration', googleError('thinking_config is not supported.'), ['reasoning_effort']],
    [
      'Vertex',
      googleError(
        'Unable to submit request because thinking is not configurable in this model; please remove the thinking_config setting and try it again.',
      ),
      ['reasoning_effort'],
    ],
    [
      'Gemini, the format',
      googleError('JSON mode is not enabled for models/gemma-3-27b-it'),
      ['response_format=json_schema'],
    ],
    ['Claude', claudeError('top_p: Extra inputs are not permitted'), ['top_p']],
    ['Claude, deprecated', claudeError('`temperature` is deprecated for this model.'), ['temperature']],
    ['Claude, the effort', claudeError('This model does not support the effort parameter.'), ['reasoning_effort']],
    [
      'Claude, its configuration',
      claudeError('output_config.effort: Extra inputs are not permitted'),
      ['reasoning_effort'],
    ],
    ['Claude, thinking', claudeError('adaptive thinking is not supported on this model'), ['reasoning_effort']],
    ['Claude, strict', claudeError('tools.0.custom.strict: Extra inputs are not permitted'), ['strict']],
    [
      'Claude, the format',
      claudeError("'claude-3-haiku' does not support output format."),
      ['response_format=json_schema'],
    ],
    ['Claude, the tier', claudeError('service_tier: Extra inputs are not permitted'), ['service_tier']],
  ])('%s: %s', (_, answer, losses) => expect(lossesBy(answer, asking)).toEqual(losses))

  it.each([
    claudeError(
      'The compiled grammar is too large, which would cause performance issues. Simplify your tool schemas or reduce the number of strict tools.',
    ),
    claudeError('Schema is too complex for compilation.'),
    claudeError('Schemas contains too many parameters with union types (17 parameters with type arrays or anyOf).'),
    googleError('The specified schema produces a constraint that has too many states for serving.'),
    googleError('A schema in GenerationConfig in the request exceeds the maximum allowed nesting depth.'),
    openaiError('The provided JSON schema contains features not supported by xgrammar.'),
    openaiError('xgrammar does not support the following JSON schema features: prefixItems'),
    openaiError('Failed to parse grammar'),
    googleError(
      `Invalid JSON payload received. Unknown name "prefixItems" at 'generation_config.response_json_schema.properties[0].value': Cannot find field.`,
    ),
  ])('schemas of this request alone: %s', (answer) => {
    const [loss] = lossesBy(answer, asking)!
    expect(loss).toMatch(/^schemas=/)
    expect(withoutLosses(asking, [loss!]).notes.map(({ field }) => field)).toEqual([
      'response_format',
      'tools.function.strict',
    ])
    const other = { ...asking, tools: undefined } as unknown as ChatCompletionRequest
    expect(withoutLosses(other, [loss!])).toEqual({ request: other, notes: [] })
  })

  it('threat 99: schemas that are made to have the checksum of others are others', () => {
    // Both have the same length and the same 32 bits of FNV-1a.
    const named = (name: string): ChatCompletionRequest => ({
      model: 'm',
      messages: [],
      response_format: { type: 'json_schema', json_schema: { name } },
    })
    const [one, other] = [named('x53zx'), named('xcpad')]
    const losses = lossesBy(openaiError('Failed to parse grammar'), one)!
    expect(withoutLosses(one, losses).notes).toEqual([{ field: 'response_format', action: 'emulated' }])
    expect(withoutLosses(other, losses).request).toBe(other)
  })
})

describe('threat 178: a refusal that is made to take long', () => {
  const request = (text = '') => ({ ...asking, prompt_cache_key: text })

  it.each<[what: string, answer: (n: number) => string]>([
    ['a path of many steps', (n) => openaiError('Unknown parameter', 'a.'.repeat(n), 'unknown_parameter')],
    ['a place of many steps', (n) => JSON.stringify({ detail: [{ ...extra(), loc: Array(n).fill('a') }] })],
    [
      'many names below a place of many steps',
      (n) =>
        JSON.stringify({ issues: [{ code: 'unrecognized_keys', path: Array(n).fill('a'), keys: Array(n).fill('b') }] }),
    ],
    ['many faults', (n) => JSON.stringify({ detail: Array.from({ length: n }, () => extra('body', 'a')) })],
  ])('%s', (_, answer) =>
    expectLinear((n) => {
      const given = answer(n)
      return () => lossesBy(given, request())
    }),
  )

  it('a text of the caller at its end, which the request has many times', () =>
    expectLinear((n) => {
      const answer = JSON.stringify({
        detail: [{ type: 'extra_forbidden', loc: ['body', 'top_k'], input: 'a'.repeat(n * 5) }],
      })
      const long = request('d'.repeat(n * 20) + 'a'.repeat(n * 20))
      return () => lossesBy(answer, long)
    }))
})
