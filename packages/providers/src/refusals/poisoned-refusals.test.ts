import type { ChatCompletionRequest } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import { asking, claudeError, extra, messages, openaiError, upstream } from '../../../../test/support/refusals.js'
import { failure } from '../../../../test/support/upstream.js'
import { lossesBy } from './refused-parameters.js'
import { Refusals } from './refusals.js'

/** What a caller writes, so that an error which repeats it reads as a refusal of these fields. */
const poison = (...fields: string[]) => fields.map((field) => `'type':'extra_forbidden','loc':['${field}']`).join(';')
const poisons = [
  poison('stream_options', 'stop'),
  "Unsupported parameter: 'stop'",
  'Unrecognized request argument supplied: stop, seed',
  "does not support parameters: ['stop', 'seed']",
  'stop: Extra inputs are not permitted',
  '`stop` is not supported',
  'does not support temperature',
  'reasoning_effort must be',
  "'param': 'stop', 'code': 'unsupported_parameter'",
  'Function tools with reasoning_effort are not supported',
  'Schema is too complex',
  JSON.stringify({ detail: [extra('body', 'stop')] }),
]
const asked = (content: string, fields: object = {}) =>
  ({ ...asking, messages: [{ role: 'user', content }], ...fields }) as ChatCompletionRequest

describe('threat 63: the words of a caller in an error', () => {
  it.each(poisons)('are no refusal, wherever they stand: %s', (words) => {
    const url = `https://images.example/x?${words}`
    const schema = { name: 'x', schema: { type: 'object', properties: { [words]: { type: 'object' } } } }
    const inSchema = asked('Hi', { response_format: { type: 'json_schema', json_schema: schema } })
    const context = `In context=('properties', ${words.includes("'") ? JSON.stringify(words) : `'${words}'`})`
    const repeated: [answer: string, request: ChatCompletionRequest][] = [
      [
        openaiError(`Invalid schema for response_format 'x': ${context}, 'x' is required.`, 'response_format'),
        inSchema,
      ],
      [openaiError(`Error while downloading ${url}.`, null, 'invalid_image_url'), asked(url)],
      [openaiError(`Error while downloading ${url}.`, null, 'invalid_image_url'), asked(encodeURI(url))],
      [openaiError(`Error while downloading body.0.${words}.1: 404`), asked(words)],
      [openaiError(`Error in output_config.${words}.strict`), asked(words)],
      [openaiError(`Error in thinking ${words} thinking`), asked(words)],
      [openaiError(`Invalid input: ${words}`), asked(words.replaceAll(' ', '\n').toUpperCase())],
      [openaiError(words), asked(words)],
      [JSON.stringify({ detail: [{ type: 'value_error', loc: ['body', 'n'], msg: `Bad: ${words}` }] }), asked(words)],
      [`Bad Request: ${words}`, asked(words)],
      [words, asked(words)],
    ]
    for (const [answer, request] of repeated) expect([answer, lossesBy(answer, request)]).toEqual([answer, undefined])
  })

  it.each(poisons)('are not read where an answer repeats the input: %s', (words) => {
    const detail = [{ type: 'extra_forbidden', loc: ['body', 'user'], msg: 'Extra inputs are not permitted' }]
    const repeats = { input: words, ctx: { error: words }, url: words, failed_generation: words }
    for (const entry of detail)
      expect(lossesBy(JSON.stringify({ detail: [{ ...entry, ...repeats }] }), asking)).toEqual(['user'])
    expect(
      lossesBy(JSON.stringify({ error: { message: 'No', code: 'json_validate_failed', ...repeats } }), asking),
    ).toBe(undefined)
  })

  it('are no refusal in JSON that a text holds', () => {
    const words = JSON.stringify({ type: 'extra_forbidden', loc: ['body', 'stop'], msg: '\u212a\n' })
    expect(lossesBy(JSON.stringify({ detail: words }), asking)).toEqual(['stop'])
    expect(lossesBy(JSON.stringify({ detail: words }), asked(`Say ${words}`))).toBeUndefined()
  })

  it.each(['type', 'value', 'type of', ' type', 'include_usage parameter', 'Include-Usage', 'strict'])(
    'are no refusal of a field as a name below it: %j',
    (name) => {
      const ofStream = asked('Hi', { stream_options: { include_usage: true, [name]: 'x' } })
      const format = { type: 'json_schema', json_schema: { name: 'x' }, [name]: 'x' }
      for (const [field, request] of [
        ['stream_options', ofStream],
        ['response_format', asked('Hi', { response_format: format })],
      ] as const)
        for (const answer of [
          openaiError(`Unknown parameter: '${field}.${name}'.`, `${field}.${name}`, 'unknown_parameter'),
          JSON.stringify({ detail: [extra('body', field, name)] }),
          openaiError(`Extra inputs are not permitted, field: '${field}.${name}'`),
        ])
          // The schemas of this request alone.
          expect([answer, lossesBy(answer, request)?.filter((loss) => !loss.startsWith('schemas=')) ?? []]).toEqual([
            answer,
            [],
          ])
    },
  )

  it('take nothing away from others', async () => {
    const key = poison('response_format', 'stream_options', 'temperature')
    const message = `Invalid schema for response_format 'x': In context=('properties', "${key}"), 'additionalProperties' is required.`
    const { ask, asked, learnt } = upstream('openai', (body) =>
      JSON.stringify(body['response_format'] ?? '').includes('extra_forbidden')
        ? { status: 400, body: { error: { message, param: 'response_format', code: null } } }
        : undefined,
    )
    const schema = { type: 'object', properties: { [key]: { type: 'object' } } }
    const response_format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    await expect(ask({ stream: true, response_format })).rejects.toMatchObject(failure({ status: 400 }, 'openai'))
    expect([asked.length, learnt()]).toEqual([1, []])
    expect(await ask({ stream: true })).toMatchObject({ sent: { stream_options: { include_usage: true } } })
  })

  it('that are beside a refusal prevent that it is understood', () => {
    const words = "Unsupported parameter: 'top_p' is not supported with this model."
    const answer = openaiError(words)
    expect(lossesBy(answer, asking)).toEqual(['top_p'])
    expect(lossesBy(answer, asked(`What does this mean? ${words}`))).toBeUndefined()
    expect(lossesBy(answer, asked('Is top_p supported?'))).toEqual(['top_p'])
  })
})

describe('of an answer that names several', () => {
  it.each<[what: string, answer: string, losses: string[] | undefined]>([
    [
      'the parameter counts, not the text',
      openaiError("'stop' is not supported. `seed` is not supported", 'top_p', 'unsupported_parameter'),
      ['top_p'],
    ],
    [
      'all entries count, not their texts',
      JSON.stringify({ detail: [extra('body', 'store'), extra('body', 'user')], message: '`seed` is not supported' }),
      ['store', 'user'],
    ],
    [
      'Python prints all',
      JSON.stringify({
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'store'), 'msg': 'x'}, {'type': 'extra_forbidden', 'loc': ('body', 'user'), 'msg': 'x'}]",
      }),
      ['store', 'user'],
    ],
    ['the first text counts', openaiError("Unsupported parameter: 'seed'. Unsupported parameter: 'stop'."), ['seed']],
    ['the first of two wordings counts', openaiError("Unknown name 'seed'. Unsupported parameter: 'stop'."), ['seed']],
    [
      'the first sentence counts',
      openaiError('This does not support temperature. `seed` is not supported'),
      ['temperature'],
    ],
    [
      'a list counts as a whole',
      openaiError("litellm: x does not support parameters: ['seed', 'stop'], for y"),
      ['seed', 'stop'],
    ],
    [
      'a proxy that prints the error of another',
      openaiError(
        `litellm.BadRequestError: AzureException - {"error": {"message": "Unsupported value: 'minimal' is not supported with the 'x' model.", "type": "y", "param": "***.effort", "code": "unsupported_value"}}`,
      ),
      ['reasoning_effort=minimal'],
    ],
    [
      'a field below a parameter is not the parameter',
      JSON.stringify({ detail: [extra('body', 'stream_options', 'include_obfuscation')] }),
      undefined,
    ],
    ['a field below a parameter, in words', openaiError("Unknown parameter: 'metadata.user'."), undefined],
    [
      'a field below what stands for a parameter',
      claudeError('thinking.adaptive.display: Extra inputs are not permitted'),
      ['reasoning_effort'],
    ],
    [
      'a field of a schema is of this schema',
      claudeError('output_config.format.schema.x: Extra inputs are not permitted'),
      ['schemas'],
    ],
  ])('%s', (_, answer, losses) =>
    expect(lossesBy(answer, asking)?.map((loss) => loss.replace(/^schemas=.*/, 'schemas'))).toEqual(losses),
  )
})

describe('the two names of the limit', () => {
  const refusal = (field: string, other: string) =>
    openaiError(
      `Unsupported parameter: '${field}' is not supported with this model. Use '${other}' instead.`,
      field,
      'unsupported_parameter',
    )

  it('are not left out both', () => {
    const both = openaiError('Unsupported parameters: max_tokens. Use max_completion_tokens')
    expect(lossesBy(both, asking)).toEqual(['max_tokens'])
    expect(
      lossesBy(
        JSON.stringify({ detail: [extra('body', 'max_tokens'), extra('body', 'max_completion_tokens')] }),
        asking,
      ),
    ).toBeUndefined()
    expect(
      lossesBy(openaiError('Unrecognized request arguments supplied: max_tokens, max_completion_tokens'), asking),
    ).toBeUndefined()
  })

  it('exclude each other: the later refusal counts', async () => {
    let refused = 'max_tokens'
    let other = 'max_completion_tokens'
    const { ask, learnt } = upstream('openai', (body) =>
      refused in body ? { status: 400, body: refusal(refused, other) } : undefined,
    )
    expect(await ask({ max_tokens: 5 })).toMatchObject({ calls: 2, sent: { max_completion_tokens: 5 } })
    expect(learnt()).toEqual(['my-model: max_tokens'])
    ;[refused, other] = [other, refused]
    expect(await ask({ max_tokens: 5 })).toMatchObject({ calls: 2, sent: { max_tokens: 5 } })
    expect(learnt()).toEqual(['my-model: max_completion_tokens'])
    for (const field of ['max_tokens', 'max_completion_tokens'])
      expect(await ask({ [field]: 5 })).toMatchObject({ calls: 1, sent: { max_tokens: 5 } })
  })

  it('are forgotten together with nothing else', () => {
    const memory = new Refusals()
    const refuse = (answer: string, body: object) =>
      memory
        .outgoing({ model: 'm', ...body }, (losses) => ({ path: '', notes: [], body: { losses } }))
        .again(answer)!
        .learn()
    refuse(openaiError("Unsupported parameter: 'seed'"), { messages, seed: 1 })
    refuse(refusal('max_tokens', 'max_completion_tokens'), { max_tokens: 1 })
    refuse(refusal('max_completion_tokens', 'max_tokens'), { max_tokens: 1 })
    expect(memory.of({ model: 'm' })).toEqual(['seed', 'max_completion_tokens'])
  })
})
