import { expectEqual, expectThat } from '../expect.js'
import type { Json } from '../families/family.js'
import { event } from '../families/family.js'
import { openai } from '../families/openai.js'
import type { Passed } from '../passed.js'
import { argsOf, askedBy, choiceOf, expectBroken, expectError } from '../passed.js'
import type { Script } from '../script.js'
import { stream, whole } from '../script.js'
import type { Draft } from './define.js'
import { call, casesOf, user, weather } from './define.js'
import { expectTooLong, tooLongSource } from './too-long.js'
import { both, completion, done, streamed, usageDrafts } from './servers-usage.js'
import { finishSource } from './translation-answers.js'

/** The words of servers for how an answer ended. */
const ends: [finish: string, word: string, server: string][] = [
  ['length', 'model_length', 'Mistral'],
  ['length', 'token_limit', 'watsonx'],
  ['length', 'MAX_TOKENS', 'Cohere'],
  ['content_filter', 'sensitive', 'Zhipu'],
  ['content_filter', 'content_filtered', 'Bedrock'],
  ['content_filter', 'guardrail_intervened', 'Bedrock'],
  ['stop', 'eos_token', 'TGI'],
]

const ending = ends.flatMap(([finish, word, server]) =>
  both(
    `${word} ends with ${finish}`,
    `${finishSource}; the reference of ${server}`,
    { finish_reason: word },
    {},
    (passed) => expectEqual('finish_reason', choiceOf(passed).finish, finish),
  ),
)

const expectFailed = (passed: Passed): void =>
  passed.stream ? expectBroken(passed) : expectError(passed, '5xx', (status) => status >= 500)

/** What the choice of an answer is like that failed at the upstream. */
const failed: [what: string, choice: object, server: string][] = [
  ['the finish reason error', { finish_reason: 'error' }, 'Mistral and OpenRouter'],
  ['insufficient_system_resource', { finish_reason: 'insufficient_system_resource' }, 'DeepSeek'],
  ['network_error', { finish_reason: 'network_error' }, 'Zhipu'],
  ['abort', { finish_reason: 'abort' }, 'vLLM and SGLang'],
  [
    'an error within a choice',
    { finish_reason: 'error', error: { code: 502, message: 'Provider disconnected' } },
    'OpenRouter',
  ],
]

const failing = failed.flatMap(([what, choice, server]) =>
  both(`${what} is a failure`, `OpenAI API reference, errors; the reference of ${server}`, choice, {}, expectFailed),
)

const forms: Draft[] = [
  {
    name: 'a chunk with message in place of delta',
    source: 'OpenAI API reference, chat completion chunk object: delta',
    request: streamed,
    script: () => stream(event({ ...completion({}, {}), object: 'chat.completion.chunk' }), done),
    check(passed) {
      const { content, finish } = choiceOf(passed)
      expectEqual('the content', content, 'Hello')
      expectEqual('finish_reason', finish, 'stop')
    },
  },
  {
    name: 'a stream that was asked for and comes as JSON with tool calls',
    source: 'OpenAI API reference, create chat completion: stream',
    request: { ...streamed, tools: [weather] },
    script: () =>
      whole(
        completion(
          {
            message: { role: 'assistant', content: null, tool_calls: [call('call_a', 'weather', '{"city":"Paris"}')] },
            finish_reason: 'tool_calls',
          },
          {},
        ),
      ),
    check(passed) {
      const { calls, finish } = choiceOf(passed)
      expectEqual('the number of [DONE]', passed.stream?.done, 1)
      expectEqual(
        'the calls',
        calls.map((one) => [one.name, argsOf(one)]),
        [['weather', { city: 'Paris' }]],
      )
      expectEqual('finish_reason', finish, 'tool_calls')
    },
  },
]

/** An error's body, the text that the client must learn of, and the server. */
const refusals: [server: string, status: number, body: object, told: string][] = [
  ['vLLM', 400, { object: 'error', message: 'best_of is too large', type: 'BadRequestError', code: 400 }, 'best_of is'],
  ['FastAPI', 400, { detail: 'The image cannot be read' }, 'The image cannot be read'],
  [
    'FastAPI, a list',
    422,
    { detail: [{ type: 'missing', loc: ['body', 'guided'], msg: 'Field required', input: {} }] },
    'Field required',
  ],
  ['Ollama', 400, { error: 'the image is broken' }, 'the image is broken'],
  ['Cloudflare', 400, { success: false, errors: [{ code: 5006, message: 'The image is broken' }] }, 'image is broken'],
  ['Baidu', 400, { error_code: 336003, error_msg: 'the image is broken' }, 'the image is broken'],
]

const telling = refusals.map(([server, status, body, told]): Draft => ({
  name: `the reason of a refusal in the form of ${server} reaches the client`,
  source: 'OpenAI API reference, errors: message',
  script: () => whole(body, status),
  check(passed) {
    expectError(passed, '400 or 422', (it) => it === 400 || it === 422)
    expectThat('the message', passed.text.includes(told), told, passed.text)
  },
}))

/** What servers say to a prompt that is longer than the model's context. */
const tooLong: [server: string, body: object][] = [
  [
    'llama.cpp',
    {
      error: {
        code: 400,
        message: 'request (13392 tokens) exceeds the available context size (8192 tokens), try increasing it',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 13_392,
        n_ctx: 8192,
      },
    },
  ],
  [
    'SGLang',
    { object: 'error', message: "The input (9000 tokens) is longer than the model's context length (8192 tokens)." },
  ],
  [
    'TGI',
    {
      error: 'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4000 and 1000',
      error_type: 'validation',
    },
  ],
  ['Ollama', { error: { message: 'prompt too long; exceeded max context length by 1200 tokens', type: 'api_error' } }],
]

const exceeding = tooLong.map(([server, body]): Draft => ({
  name: `a prompt that ${server} finds too long is told as OpenAI tells it`,
  source: tooLongSource,
  script: () => whole(body, 400),
  check: expectTooLong,
}))

/** A server that has its own view of the messages. */
const strict =
  (refusal: (body: Json) => string | undefined): Script =>
  (sent) => {
    const message = refusal(sent.body)
    return message === undefined
      ? whole(completion({}, {}))
      : whole({ object: 'error', message, type: 'BadRequestError', code: 400 }, 400)
  }

const ids = ({ messages }: Json): string[] =>
  (messages as { tool_calls?: { id: string }[]; tool_call_id?: string }[]).flatMap(
    ({ tool_calls = [], tool_call_id }) =>
      tool_call_id === undefined ? tool_calls.map(({ id }) => id) : [tool_call_id],
  )

const messages: Draft[] = [
  ...['qwen3-32b', 'kimi-k3'].map((model): Draft => ({
    name: `the role developer is system for ${model}`,
    source: 'OpenAI API reference, create chat completion: developer messages; templates of other models have system',
    model,
    request: { messages: [{ role: 'developer', content: 'Be brief.' }, user('Hi')] },
    check: (passed) => expectEqual('the system prompt', askedBy(passed).system, 'Be brief.'),
  })),
  {
    name: 'ids of calls have nine letters and digits for Mistral',
    source: 'Mistral, mistral-common: ids of tool calls are checked',
    model: 'mistral-large-latest',
    request: {
      messages: [
        user('Weather?'),
        {
          role: 'assistant',
          content: null,
          tool_calls: [call('call_PTLP8xhu3uwZk4l3', 'weather', '{"city":"Paris"}')],
        },
        { role: 'tool', tool_call_id: 'call_PTLP8xhu3uwZk4l3', content: 'Sunny' },
      ],
      tools: [weather],
    },
    script: strict((body) => {
      const wrong = ids(body).find((id) => !/^[a-zA-Z0-9]{9}$/.test(id))
      return wrong && `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`
    }),
    check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
  },
]

/** How servers of other models with OpenAI's API differ, and what the client learns of it. */
export const serverCases = casesOf(
  'servers',
  openai,
  [...usageDrafts, ...ending, ...failing, ...forms, ...telling, ...exceeding, ...messages].map((draft) => ({
    model: 'qwen3-32b',
    ...draft,
  })),
)
