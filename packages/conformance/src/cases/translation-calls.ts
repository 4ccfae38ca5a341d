import { expectEqual, expectThat } from '../expect.js'
import { replies } from '../families/index.js'
import { argsOf, choiceOf } from '../passed.js'
import { casesOfEach, hi, time, tool, weather } from './define.js'

const tools = [weather, time]

/** How tool calls in answers reach the client. */
export const callCases = casesOfEach('translation', (family) => [
  {
    name: 'a call in the answer has name, JSON arguments, an id and its finish_reason',
    source: 'OpenAI API reference, chat completion object: tool_calls',
    request: { ...hi, tools },
    script: replies(family, { calls: [{ name: 'weather', args: { city: 'Paris', days: [1, 2] } }] }),
    check(passed) {
      const { calls, finish, content } = choiceOf(passed)
      expectEqual(
        'the calls',
        calls.map(({ name }) => name),
        ['weather'],
      )
      expectEqual('the arguments', argsOf(calls[0]!), { city: 'Paris', days: [1, 2] })
      expectThat('the id', typeof calls[0]!.id === 'string' && calls[0]!.id !== '', 'a text', calls[0]!.id)
      expectEqual('finish_reason', finish, 'tool_calls')
      expectEqual('the content', content, '')
    },
  },
  {
    name: 'calls of one tool in the answer have ids of their own',
    source: 'OpenAI API reference, chat completion object: tool_calls',
    request: { ...hi, tools },
    script: replies(family, {
      calls: ['Paris', 'Rome', 'Oslo'].map((name) => ({ name: 'weather', args: { city: name } })),
    }),
    check(passed) {
      const { calls } = choiceOf(passed)
      expectEqual('the arguments', calls.map(argsOf), [{ city: 'Paris' }, { city: 'Rome' }, { city: 'Oslo' }])
      expectEqual('the number of ids', new Set(calls.map(({ id }) => id)).size, 3)
    },
  },
  {
    name: 'an answer of text and a call has both',
    source: 'OpenAI API reference, chat completion object: content, tool_calls',
    request: { ...hi, tools },
    script: replies(family, { texts: ['Let me look.'], calls: [{ name: 'weather', args: { city: 'Paris' } }] }),
    check(passed) {
      const { calls, content, finish } = choiceOf(passed)
      expectEqual('the content', content, 'Let me look.')
      expectEqual('the arguments', calls.map(argsOf), [{ city: 'Paris' }])
      expectEqual('finish_reason', finish, 'tool_calls')
    },
  },
  {
    name: 'a call without arguments has an empty object',
    source: 'OpenAI API specification, ChatCompletionMessageToolCall: arguments are JSON',
    request: { ...hi, tools: [tool('now')] },
    script: replies(family, { calls: [{ name: 'now', args: {} }] }),
    check: (passed) => expectEqual('the arguments', choiceOf(passed).calls.map(argsOf), [{}]),
  },
])
