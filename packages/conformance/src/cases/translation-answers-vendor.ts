import { expectEqual, expectThat } from '../expect.js'
import { anthropic } from '../families/anthropic.js'
import { google } from '../families/google.js'
import { replies } from '../families/index.js'
import { choiceOf, expectError } from '../passed.js'
import { whole } from '../script.js'
import type { Draft } from './define.js'
import { casesOf } from './define.js'
import { detail, expectUsage, finishSource, usageSource } from './translation-answers.js'

/** A case of an answer with this body. */
const answers = (name: string, rule: string, body: object, check: Draft['check']): Draft => ({
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

const hasKnownFinish: Draft['check'] = (passed) => {
  const { content, finish } = choiceOf(passed)
  expectEqual('the content', content, 'Hello')
  expectThat(
    'finish_reason',
    ['stop', 'length', 'content_filter'].includes(finish!),
    'stop, length or content_filter',
    finish,
  )
}

/** How answers that only one vendor gives reach the client. */
export const vendorAnswerCases = [
  ...casesOf('translation', anthropic, [
    {
      name: 'thinking is no content',
      source: 'Anthropic API reference, messages: thinking blocks',
      script: replies(anthropic, { thinking: 'Hmm, secret.', texts: ['Hello'] }),
      check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    },
    answers(
      'blocks of text are joined',
      'Anthropic API reference, messages: content',
      message([says('Hel'), says('lo')]),
      (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    ),
    answers(
      'a stop sequence ends with stop',
      finishSource,
      message([says('Hello')], { stop_reason: 'stop_sequence', stop_sequence: 'END' }),
      (passed) => expectEqual('finish_reason', choiceOf(passed).finish, 'stop'),
    ),
    answers(
      "a stop reason of a new kind becomes one of OpenAI's",
      finishSource,
      message([says('Hello')], { stop_reason: 'brand_new' }),
      hasKnownFinish,
    ),
    ...(
      [
        ['model_context_window_exceeded', 'length'],
        ['pause_turn', 'stop'],
      ] as const
    ).map(([stop_reason, finish]) =>
      answers(`${stop_reason} ends with ${finish}`, finishSource, message([says('Hello')], { stop_reason }), (passed) =>
        expectEqual('finish_reason', choiceOf(passed).finish, finish),
      ),
    ),
    answers(
      'a refusal without content is an answer',
      'Anthropic API reference, messages: stop_reason refusal',
      message([], { stop_reason: 'refusal' }),
      (passed) => {
        const { content, finish } = choiceOf(passed)
        expectEqual('the content', content, '')
        expectEqual('finish_reason', finish, 'content_filter')
      },
    ),
    answers(
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
    answers(
      'a call that was cut off by the limit ends with length',
      finishSource,
      message([{ type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Par' } }], {
        stop_reason: 'max_tokens',
      }),
      (passed) => expectEqual('finish_reason', choiceOf(passed).finish, 'length'),
    ),
    answers(
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
  ...casesOf('translation', google, [
    {
      name: 'reasoning tokens are part of the completion',
      source: `${usageSource}: completion_tokens_details.reasoning_tokens`,
      script: replies(google, { texts: ['Hello'], usage: { completion: 60, reasoning: 50 } }),
      check(passed) {
        expectUsage(passed, 9, 60)
        expectEqual('reasoning_tokens', detail(passed, 'completion_tokens_details', 'reasoning_tokens'), 50)
      },
    },
    {
      name: 'thoughts are no content',
      source: 'Gemini API reference, Part: thought',
      script: replies(google, { thinking: 'Hmm, secret.', texts: ['Hello'] }),
      check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    },
    answers(
      'parts of text are joined',
      'Gemini API reference, Content: parts',
      candidate([{ text: 'Hel' }, { text: 'lo' }]),
      (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    ),
    answers(
      "a finish reason of a new kind becomes one of OpenAI's",
      finishSource,
      candidate([{ text: 'Hello' }], 'BRAND_NEW'),
      hasKnownFinish,
    ),
    ...['SPII', 'IMAGE_SAFETY', 'RECITATION'].map((reason) =>
      answers(`${reason} ends with content_filter`, finishSource, candidate([{ text: 'Hel' }], reason), (passed) =>
        expectEqual('finish_reason', choiceOf(passed).finish, 'content_filter'),
      ),
    ),
    answers(
      'what built-in tools gave the model to read is part of the prompt',
      'Gemini API reference, UsageMetadata: toolUsePromptTokenCount',
      {
        ...candidate([{ text: 'Hello' }]),
        usageMetadata: {
          promptTokenCount: 100,
          toolUsePromptTokenCount: 40,
          candidatesTokenCount: 10,
          totalTokenCount: 150,
        },
      },
      (passed) => expectUsage(passed, 140, 10),
    ),
    {
      ...answers(
        'text, thoughts and an image of one answer are counted once',
        'Gemini API reference, UsageMetadata: candidatesTokensDetails, thoughtsTokenCount',
        {
          ...candidate([{ text: 'Here.' }, { inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }]),
          usageMetadata: {
            promptTokenCount: 1000,
            candidatesTokenCount: 1220,
            thoughtsTokenCount: 300,
            totalTokenCount: 2520,
            candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1120 }],
          },
        },
        (passed) => {
          expectUsage(passed, 1000, 1520)
          expectEqual('reasoning_tokens', detail(passed, 'completion_tokens_details', 'reasoning_tokens'), 300)
        },
      ),
      model: 'gemini-3-pro-image-preview',
    },
    answers(
      'a malformed call is no call',
      'Gemini API reference, FinishReason: MALFORMED_FUNCTION_CALL',
      candidate([], 'MALFORMED_FUNCTION_CALL'),
      (passed) => {
        if (passed.status >= 500) return expectError(passed, '5xx', () => true)
        const { calls, finish } = choiceOf(passed)
        expectEqual('the number of calls', calls.length, 0)
        expectThat('finish_reason', finish !== 'tool_calls', 'another than tool_calls', finish)
      },
    ),
    answers(
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
    answers(
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
    answers(
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
