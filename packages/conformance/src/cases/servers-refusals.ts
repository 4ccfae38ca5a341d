import { expectEqual, expectThat } from '../expect.js'
import type { Json, Sent } from '../families/family.js'
import { replies } from '../families/index.js'
import { openai, openaiChunk } from '../families/openai.js'
import type { Passed } from '../passed.js'
import { choiceOf, expectBroken, expectError } from '../passed.js'
import type { Script } from '../script.js'
import { stream, whole } from '../script.js'
import type { Draft } from './define.js'
import { casesOf, hi, weather } from './define.js'

const retried =
  "OpenAI's SDKs do not retry 400 and 422; a gateway may, once, where a parameter is refused that it can leave out"

const hello = replies(openai, { texts: ['Hello'] })

/** A server that refuses requests with a field. */
const refusing =
  (field: string, body: object, status = 400): Script =>
  (sent) =>
    field in sent.body ? whole(body, status) : hello(sent)

const error = (message: string, param: string | null = null, code: string | null = null) => ({
  error: { message, type: 'invalid_request_error', param, code },
})

/** A parameter that a server refuses in its words, where the client asked for it. */
interface Refused {
  server: string
  field: string
  value: unknown
  body: object
  status?: number
}

const parameters: Refused[] = [
  {
    server: 'OpenAI',
    field: 'temperature',
    value: 0.2,
    body: error(
      "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
      'temperature',
      'unsupported_value',
    ),
  },
  {
    server: 'Mistral',
    field: 'logprobs',
    value: true,
    body: {
      detail: [
        { type: 'extra_forbidden', loc: ['body', 'logprobs'], msg: 'Extra inputs are not permitted', input: true },
      ],
    },
    status: 422,
  },
  {
    server: 'vLLM',
    field: 'parallel_tool_calls',
    value: false,
    body: {
      object: 'error',
      message:
        "[{'type': 'extra_forbidden', 'loc': ('body', 'parallel_tool_calls'), 'msg': 'Extra inputs are not permitted', 'input': False}]",
      type: 'BadRequestError',
      code: 400,
    },
  },
  {
    server: 'Cerebras',
    field: 'frequency_penalty',
    value: 0.5,
    body: {
      message: "frequency_penalty: property 'frequency_penalty' is unsupported",
      type: 'invalid_request_error',
      param: 'validation_error',
      code: 'wrong_api_format',
    },
  },
  {
    server: 'a server in Rust',
    field: 'seed',
    value: 7,
    body: error(
      'Failed to deserialize the JSON body into the target type: unknown field `seed`, expected one of `model`',
    ),
    status: 422,
  },
  {
    server: 'litellm',
    field: 'stop',
    value: ['END'],
    body: error("litellm.UnsupportedParamsError: groq does not support parameters: ['stop'], for model=x."),
  },
]

/** The client has the answer, or the reason why not: an error that names the parameter. */
function expectAnswerOrReason(passed: Passed, field: string): void {
  if (passed.status === 200) return expectEqual('the content', choiceOf(passed).content, 'Hello')
  expectError(passed, '400 or 422', (status) => status === 400 || status === 422)
  expectThat('the error', passed.text.includes(field), field, passed.text)
}

const expectCalls = ({ sent }: Passed, most: number): void =>
  expectThat('the number of requests to the upstream', sent.length <= most, `at most ${most}`, sent.length)

const learning = parameters.map(({ server, field, value, body, status }): Draft => {
  const request = { ...hi, [field]: value, ...(field === 'parallel_tool_calls' && { tools: [weather] }) }
  return {
    name: `${field}, refused by ${server}: an answer after one more request at most, and none once that is known, or the reason`,
    source: retried,
    model: `refuses-${field.replaceAll('_', '-')}`,
    request,
    script: refusing(field, body, status),
    next: () => request,
    check(passed) {
      expectAnswerOrReason(passed, field)
      expectCalls(passed, 3)
    },
  }
})

const once = (name: string, script: Script, check: Draft['check'], request: object = hi): Draft => ({
  name,
  source: retried,
  model: 'refuses-always',
  request,
  script,
  check(passed) {
    check(passed)
    expectCalls(passed, 1)
  },
})

const isRefused: Draft['check'] = (passed) => expectError(passed, '400 or 422', (it) => it === 400 || it === 422)

const notRepeated: Draft[] = [
  ...(
    [
      ['an image', error('The image is too large')],
      ['a content filter', error('The prompt was filtered. Please modify it and retry.', 'prompt', 'content_filter')],
      [
        'the messages',
        { detail: [{ type: 'extra_forbidden', loc: ['body', 'messages', 0, 'x'], msg: 'Not permitted' }] },
      ],
      [
        'the tools',
        error("Unsupported parameter: 'tools' is not supported with this model.", 'tools', 'unsupported_parameter'),
      ],
      [
        'a schema',
        error("Invalid schema for function 'weather'", 'tools[0].function.parameters', 'invalid_function_parameters'),
      ],
    ] as [string, object][]
  ).map(([what, body]) =>
    once(`a refusal of ${what} is not repeated`, () => whole(body, 400), isRefused, {
      ...hi,
      temperature: 0.2,
      tools: [weather],
    }),
  ),
  {
    ...once(
      'a parameter that is refused whatever is left out is tried twice at most',
      () => whole(parameters[0]!.body, 400),
      isRefused,
      {
        ...hi,
        temperature: 0.2,
      },
    ),
    check(passed) {
      isRefused(passed)
      expectCalls(passed, 2)
    },
  },
  once(
    'a refusal in a stream that has begun is not repeated',
    () =>
      stream(openaiChunk({ role: 'assistant', content: 'Hel' }), `data: ${JSON.stringify(parameters[0]!.body)}\n\n`),
    expectBroken,
    { ...hi, stream: true, temperature: 0.2 },
  ),
]

const optionsRefusals: [server: string, status: number, body: object][] = [
  [
    'Mistral',
    422,
    { detail: [{ type: 'extra_forbidden', loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] },
  ],
  [
    'an older vLLM',
    400,
    { object: 'error', message: 'Unknown parameter: stream_options', type: 'BadRequestError', code: 400 },
  ],
]

/** What a gateway adds by itself costs nobody the answer. */
const added: Draft[] = [
  ...optionsRefusals.map(([server, status, body], i): Draft => ({
    name: `a stream without stream_options succeeds where ${server} refuses them`,
    source: 'OpenAI API reference, create chat completion: stream_options is optional; the client did not send it',
    model: `streams-plainly-${i}`,
    request: { ...hi, stream: true },
    script: refusing('stream_options', body, status),
    check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
  })),
  ...(
    [
      ['float', { encoding_format: 'float' }],
      ['the default format', {}],
    ] as [string, object][]
  ).map(([what, format], i): Draft => ({
    name: `vectors in ${what} come from a server that refuses base64`,
    source: 'OpenAI API reference, create embeddings: encoding_format is float by default',
    model: `vectors-${i}`,
    path: '/embeddings',
    request: { input: 'Hi', ...format },
    script: embeds,
    check({ status, json }) {
      expectEqual('the status', status, 200)
      const [item] = (json?.['data'] ?? []) as Json[]
      expectEqual('the vector', item?.['embedding'], [0.5, -0.25])
    },
  })),
]

function embeds({ body }: Sent) {
  if (body['encoding_format'] === 'base64')
    return whole({ object: 'error', message: 'base64 encoding is not currently supported', code: 400 }, 400)
  const data = [{ object: 'embedding', index: 0, embedding: [0.5, -0.25] }]
  return whole({ object: 'list', data, model: body['model'], usage: { prompt_tokens: 1, total_tokens: 1 } })
}

/** What becomes of a request that a server of other models refuses. */
export const serverRefusalCases = casesOf('servers', openai, [...learning, ...notRepeated, ...added])
