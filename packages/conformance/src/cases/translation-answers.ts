import { expectEqual, expectThat } from '../expect.js'
import type { Reply } from '../families/family.js'
import { families, replies } from '../families/index.js'
import type { Passed } from '../passed.js'
import { choiceOf, usageIn } from '../passed.js'
import { whole } from '../script.js'
import type { Draft } from './define.js'
import { casesOf, casesOfEach } from './define.js'

const [, anthropic, google] = families
const source = 'OpenAI API reference, chat completion object: finish_reason'
const usageSource = 'OpenAI API reference, chat completion object: usage'

export const expectUsage = (passed: Passed, prompt: number, completion: number): void => {
  const { prompt_tokens, completion_tokens, total_tokens } = usageIn(passed)
  const expected = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  expectEqual('the usage', { prompt_tokens, completion_tokens, total_tokens }, expected)
}

const detail = (passed: Passed, group: string, name: string): unknown =>
  (usageIn(passed)[group] as Record<string, unknown> | undefined)?.[name]

/** A case in which a member of the vendor's answer is not the usual one. */
const oddly = (name: string, rule: string, body: object, check: Draft['check']): Draft => ({
  name,
  source: rule,
  script: () => whole(body),
  check,
})

const message = (content: object[], more: object = {}) => ({
  id: 'msg_scripted',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5-20250929',
  content,
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 12, output_tokens: 30 },
  ...more,
})

const candidate = (parts: object[], finishReason = 'STOP') => ({
  candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 4, totalTokenCount: 13 },
  modelVersion: 'gemini-2.5-flash',
  responseId: 'scripted',
})

const says = (text: string) => ({ type: 'text', text })

/** How answers that are not streamed reach the client. */
export const answerCases = [
  ...casesOfEach('translation', (family) => {
    const ends = (name: string, reply: Reply, finish: string): Draft => ({
      name,
      source,
      script: replies(family, reply),
      check: (passed) => expectEqual('finish_reason', choiceOf(passed).finish, finish),
    })
    return [
      ends('a complete answer ends with stop', { texts: ['Hello'] }, 'stop'),
      ends('an answer at its limit ends with length', { texts: ['Hel'], finish: 'length' }, 'length'),
      ends('a withheld answer ends with content_filter', { texts: ['I'], finish: 'content_filter' }, 'content_filter'),
      {
        name: 'the usage is that of the vendor',
        source: usageSource,
        script: replies(family, { texts: ['Hello'], usage: { prompt: 21, completion: 8 } }),
        check: (passed) => expectUsage(passed, 21, 8),
      },
      {
        name: 'cached tokens are part of the prompt',
        source: `${usageSource}: prompt_tokens_details.cached_tokens`,
        script: replies(family, { texts: ['Hello'], usage: { prompt: 1200, completion: 8, cached: 1000 } }),
        check(passed) {
          expectUsage(passed, 1200, 8)
          expectEqual('cached_tokens', detail(passed, 'prompt_tokens_details', 'cached_tokens'), 1000)
        },
      },
    ]
  }),
  ...casesOf('translation', families[0]!, [
    {
      name: 'reasoning tokens are part of the completion',
      source: `${usageSource}: completion_tokens_details.reasoning_tokens`,
      script: replies(families[0]!, { texts: ['Hello'], usage: { completion: 60, reasoning: 50 } }),
      check(passed) {
        expectUsage(passed, 9, 60)
        expectEqual('reasoning_tokens', detail(passed, 'completion_tokens_details', 'reasoning_tokens'), 50)
      },
    },
  ]),
  ...casesOf('translation', anthropic!, [
    {
      name: 'thinking is no content',
      source: 'Anthropic API reference, messages: thinking blocks',
      script: replies(anthropic!, { thinking: 'Hmm, secret.', texts: ['Hello'] }),
      check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    },
    oddly(
      'blocks of text are joined',
      'Anthropic API reference, messages: content',
      message([says('Hel'), says('lo')]),
      (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    ),
    oddly(
      'a stop sequence ends with stop',
      source,
      message([says('Hello')], { stop_reason: 'stop_sequence', stop_sequence: 'END' }),
      (passed) => expectEqual('finish_reason', choiceOf(passed).finish, 'stop'),
    ),
    oddly(
      'a refusal without content is an answer',
      'Anthropic API reference, messages: stop_reason refusal',
      message([], { stop_reason: 'refusal' }),
      (passed) => {
        const { content, finish } = choiceOf(passed)
        expectEqual('the content', content, '')
        expectEqual('finish_reason', finish, 'content_filter')
      },
    ),
    oddly(
      "blocks of the vendor's own tools are no calls of the client's",
      'Anthropic API reference, messages: server_tool_use',
      message([
        { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: { query: 'weather' } },
        { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
        says('Hello'),
      ]),
      (passed) => {
        const { content, calls } = choiceOf(passed)
        expectEqual('the content', content, 'Hello')
        expectEqual('the number of calls', calls.length, 0)
      },
    ),
    oddly(
      'a call that was cut off by the limit ends with length',
      source,
      message([{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Par' } }], {
        stop_reason: 'max_tokens',
      }),
      (passed) => expectEqual('finish_reason', choiceOf(passed).finish, 'length'),
    ),
    oddly(
      'tokens that were written to the cache are part of the prompt',
      usageSource,
      message([says('Hello')], {
        usage: {
          input_tokens: 12,
          cache_creation_input_tokens: 2000,
          cache_read_input_tokens: 10_000,
          output_tokens: 30,
        },
      }),
      (passed) => expectUsage(passed, 12_012, 30),
    ),
  ]),
  ...casesOf('translation', google!, [
    {
      name: 'reasoning tokens are part of the completion',
      source: `${usageSource}: completion_tokens_details.reasoning_tokens`,
      script: replies(google!, { texts: ['Hello'], usage: { completion: 60, reasoning: 50 } }),
      check(passed) {
        expectUsage(passed, 9, 60)
        expectEqual('reasoning_tokens', detail(passed, 'completion_tokens_details', 'reasoning_tokens'), 50)
      },
    },
    {
      name: 'thoughts are no content',
      source: 'Gemini API reference, Part: thought',
      script: replies(google!, { thinking: 'Hmm, secret.', texts: ['Hello'] }),
      check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    },
    oddly(
      'parts of text are joined',
      'Gemini API reference, Content: parts',
      candidate([{ text: 'Hel' }, { text: 'lo' }]),
      (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    ),
    oddly(
      'a blocked prompt is an answer that ends with content_filter',
      'Gemini API reference, PromptFeedback: blockReason',
      {
        promptFeedback: { blockReason: 'PROHIBITED_CONTENT' },
        usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 },
        modelVersion: 'gemini-2.5-flash',
      },
      (it) => {
        const refused = it.status === 400 && it.json?.['error'] !== undefined
        if (!refused) expectEqual('finish_reason', choiceOf(it).finish, 'content_filter')
      },
    ),
    oddly(
      'an answer of thoughts alone at its limit has no content',
      'Gemini API reference, GenerateContentResponse: a candidate may have no parts',
      {
        candidates: [{ content: { role: 'model' }, finishReason: 'MAX_TOKENS', index: 0 }],
        usageMetadata: { promptTokenCount: 9, thoughtsTokenCount: 19, totalTokenCount: 28 },
        modelVersion: 'gemini-2.5-flash',
      },
      (passed) => {
        const { content, finish } = choiceOf(passed)
        expectEqual('the content', content, '')
        expectEqual('finish_reason', finish, 'length')
        expectUsage(passed, 9, 19)
      },
    ),
    oddly(
      'a call without args has an empty object',
      'Gemini API reference, FunctionCall: args is optional',
      candidate([{ functionCall: { name: 'now' } }]),
      (passed) => {
        const [call] = choiceOf(passed).calls
        expectThat('the arguments', call?.arguments === '{}', '{}', call)
      },
    ),
  ]),
]
