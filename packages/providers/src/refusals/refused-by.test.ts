import { describe, expect, it } from 'vitest'
import { errorText } from './error-text.js'
import { refusedBy } from './refused-by.js'

const refused = (body: unknown, status = 400) => refusedBy(status, errorText(body) ?? '', body)
const says = (message: string, more: object = {}) => ({ error: { message, ...more } })

describe('an error of a caller refuses', () => {
  it.each<[of: string, body: unknown]>([
    ['GitHub Models', says('Unavailable model: foo', { code: 'unavailable_model' })],
    [
      'Azure',
      says('The chatCompletion operation does not work with the specified model, x', { code: 'OperationNotSupported' }),
    ],
    ['Groq', says('The model `x` requires terms acceptance.', { code: 'model_terms_required' })],
    ['MiniMax', says('your current token plan not support model, x (2061)')],
    ['Volcengine', says('The request targeted an endpoint that is closed', { code: 'InvalidEndpoint.ClosedEndpoint' })],
    ['LM Studio', { error: 'Failed to load model "x". Error: No' }],
    [
      'Bedrock',
      {
        message:
          'Invocation of model ID anthropic.claude-x.1 with on-demand throughput isn’t supported. Retry with an inference profile.',
      },
    ],
  ])('the model: %s', (_, body) => expect(refused(body)).toBe('model'))

  it('a field, also with 403, which another account may have', () =>
    expect(refused(says('You are not allowed to request logprobs from this model.'), 403)).toBe('parameter'))

  it.each([404, 410])('the model: %i', (status) => {
    expect(refused({ detail: "The model 'x' has reached its end of life" }, status)).toBe('model')
    expect(refused('Not found', status)).toBe('model')
  })

  it.each<[of: string, body: unknown]>([
    ['xAI', { code: 'invalid', error: 'Argument not supported on this model: stop' }],
    ['Groq', says('`reasoning_effort` must be one of `none` or `default`')],
    ['Kimi', says('invalid temperature: only 1 is allowed for this model')],
    ['Gemini', says('Penalty is not enabled for models/x')],
    ['Gemini, tools', says('Function calling is not enabled for models/gemma')],
    ['Gemini, system', says('Developer instruction is not enabled for models/gemma')],
    ['jsonschema', says("Additional properties are not allowed ('x' was unexpected)")],
    ['zod', says('Unrecognized key: "x"')],
    ['NestJS', { statusCode: 400, message: ['property store should not exist'] }],
    ['Python', says("create() got an unexpected keyword argument 'x'")],
    ['Azure', { message: "Extra parameters ['x'] are not allowed when extra-parameters is not set" }],
    [
      'Azure, beside the error',
      { ...says('Invalid input'), detail: [{ type: 'extra_forbidden', loc: ['body', 'x'], msg: 'No' }] },
    ],
    ['serde', 'into the target type: service_tier: unknown variant `flex`, expected `auto`'],
    ['joi', says('"x" is not allowed')],
    ['a proxy', says('Provider returned error', { metadata: { raw: '{"detail":"Unsupported parameter(s): `x`"}' } })],
    ['vLLM, tools', says('"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set')],
    ['vLLM, images', says('x is not a multimodal model')],
    ['vLLM, no images', says('At most 0 image(s) may be provided in one request.')],
  ])('a parameter: %s', (_, body) => expect(refused(body)).toBe('parameter'))

  it.each<[of: string, body: unknown]>([
    ['guardrail', says('Blocked by guardrail: this content is not supported')],
    ['DeepSeek', says('Content Exists Risk')],
    ['Kimi', says('The request was rejected because it was considered high risk, which is not allowed')],
    ['MiniMax', says('input new_sensitive: this is not supported')],
    ['OpenRouter', says('Your input was flagged: it is not permitted')],
    ['a policy', says('This does not support our usage policy')],
    ['moderation', says('This is not supported', { code: 'moderation_blocked' })],
    ['in Chinese', says('输入包含敏感内容: this is not supported')],
  ])('the content: %s', (_, body) => expect(refused(body)).toBe('content'))

  it.each<[of: string, body: unknown]>([
    ['a value', says('temperature must be between 0 and 2')],
    ['a value', says('temperature: Input should be less than or equal to 2')],
    ['messages', says('messages.0.x: Extra inputs are not permitted')],
    ['messages', says('messages[0]: unknown variant `image_url`')],
    ['a schema', says("Invalid schema for response_format 'x': 'required' is missing", { param: 'response_format' })],
    ['a schema', says("Invalid schema for function 'f': unknown field 'seed'")],
    ['somebody', says('No')],
    ['a key', says('Incorrect API key provided')],
    ['messages', says("'messages.0.content' is not supported")],
  ])('nothing: %s', (_, body) => expect(refused(body)).toBeUndefined())

  it('a model for moderation, whose id is no word of a filter', () => {
    expect(refused(says('The model `omni-moderation-latest` does not exist'), 404)).toBe('model')
    expect(refused(says('Model x not found: names are case-sensitive'), 404)).toBe('model')
  })
})
