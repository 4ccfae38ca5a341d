import { expectEqual, expectThat } from '../expect.js'
import type { Part } from '../families/family.js'
import { anthropic } from '../families/anthropic.js'
import { openai } from '../families/openai.js'
import type { Passed } from '../passed.js'
import { askedBy } from '../passed.js'
import type { Draft } from './define.js'
import { call, casesOf, casesOfEach, city, hi, textOf, time, tool, user, weather } from './define.js'
import { forecast, meaningOf, withAlternatives, withReference } from './schema.js'

const source = 'OpenAI API reference, create chat completion: tools'
const choiceSource = 'OpenAI API reference, create chat completion: tool_choice'
const roundSource = 'OpenAI guide to function calling: handling function calls'

const tools = [weather, time]

type Kind<K extends string> = Extract<Part, Record<K, unknown>>

const calls = (passed: Passed) =>
  askedBy(passed)
    .turns.flatMap(({ parts }) => parts)
    .filter((part): part is Kind<'call'> => 'call' in part)
    .map(({ call: { name, args } }) => ({ name, args }))

/** The results in the order of their tools' names. */
const results = (passed: Passed) =>
  askedBy(passed)
    .turns.flatMap(({ parts }) => parts)
    .filter((part): part is Kind<'result'> => 'result' in part)
    .map(({ result }) => result)
    .toSorted((a, b) => String(a.name).localeCompare(String(b.name)))

const expectResults = (passed: Passed, expected: [name: string, text: string][]): void => {
  const sent = results(passed)
  expectEqual(
    'the tools that answered',
    sent.map(({ name }) => name),
    expected.map(([name]) => name),
  )
  for (const [i, [name, text]] of expected.entries())
    expectThat(`the result of ${name}`, sent[i]!.text.includes(text), text, sent[i]!.text)
}

const expectResult = (passed: Passed, text: string): void => {
  const sent = results(passed).map((result) => result.text)
  expectThat('the results', sent.length === 1 && sent[0]!.includes(text), text, sent)
}

const paris = call('call_a', 'weather', '{"city":"Paris"}')
const rome = call('call_b', 'time', '{"city":"Rome"}')
const asks = (content: string | null, ...tool_calls: object[]) => ({ role: 'assistant', content, tool_calls })
const answers = (tool_call_id: string, content: string | object[]) => ({ role: 'tool', tool_call_id, content })

/** A conversation after tools were called. */
const round = (...messages: object[]) => ({ messages: [user('Weather?'), ...messages], tools })

const choice = (name: string, tool_choice: unknown, check: Draft['check']): Draft => ({
  name,
  source: choiceSource,
  request: { ...hi, tools, tool_choice },
  check,
})

/** How tools, calls and results reach the model. */
export const toolCases = [
  ...casesOfEach('translation', () => [
    {
      name: 'a tool reaches the model with name, description and schema',
      source,
      request: { ...hi, tools: [tool('forecast', forecast)] },
      check(passed) {
        const [sent, ...more] = askedBy(passed).tools
        expectEqual('the number of further tools', more.length, 0)
        expectEqual('the name', sent?.name, 'forecast')
        expectEqual('the description', sent?.description, 'Looks up the forecast')
        expectEqual('the schema', meaningOf(sent?.schema), meaningOf(forecast))
      },
    },
    {
      name: 'a schema with references reaches the model',
      source: `${source}: parameters are JSON Schema`,
      request: { ...hi, tools: [tool('route', withReference)] },
      check: (passed) =>
        expectEqual('the properties', meaningOf(askedBy(passed).tools[0]?.schema).properties, {
          from: city,
          to: city,
        }),
    },
    {
      name: 'a schema with alternatives and nullable fields reaches the model',
      source: `${source}: parameters are JSON Schema`,
      request: { ...hi, tools: [tool('search', withAlternatives)] },
      check(passed) {
        const [sent] = askedBy(passed).tools
        const fields = Object.keys((sent?.schema as { properties?: object } | undefined)?.properties ?? {})
        expectEqual('the properties', fields.toSorted(), ['by', 'limit', 'query'])
      },
    },
    {
      name: 'a tool without parameters',
      source: `${source}: omitting parameters defines an empty list`,
      request: { ...hi, tools: [tool('now')] },
      check: (passed) => expectEqual('the name', askedBy(passed).tools[0]?.name, 'now'),
    },
    choice('tool_choice auto leaves the choice', 'auto', (passed) =>
      expectThat(
        'the choice',
        [undefined, 'auto'].includes(askedBy(passed).choice as string),
        'auto',
        passed.sent[0]?.body,
      ),
    ),
    choice('tool_choice required demands a call', 'required', (passed) =>
      expectEqual('the choice', askedBy(passed).choice, 'required'),
    ),
    choice('tool_choice none forbids calls', 'none', (passed) => {
      const { choice, tools } = askedBy(passed)
      expectThat('the choice', choice === 'none' || tools.length === 0, 'none, or no tools', passed.sent[0]?.body)
    }),
    choice('tool_choice of a function demands it', { type: 'function', function: { name: 'time' } }, (passed) =>
      expectEqual('the choice', askedBy(passed).choice, { name: 'time' }),
    ),
    {
      name: 'a call and its result reach the model',
      source: roundSource,
      request: round(asks(null, paris), answers('call_a', 'Sunny, 22 degrees')),
      check(passed) {
        expectEqual('the calls', calls(passed), [{ name: 'weather', args: { city: 'Paris' } }])
        expectResults(passed, [['weather', 'Sunny, 22 degrees']])
      },
    },
    {
      name: 'results in another order than their calls belong to the right ones',
      source: roundSource,
      request: round(asks(null, paris, rome), answers('call_b', 'Noon'), answers('call_a', 'Sunny')),
      check(passed) {
        expectEqual(
          'the calls',
          calls(passed).map(({ name }) => name),
          ['weather', 'time'],
        )
        expectResults(passed, [
          ['time', 'Noon'],
          ['weather', 'Sunny'],
        ])
      },
    },
    {
      name: 'text before a call is kept',
      source: roundSource,
      request: round(asks('Let me look.', paris), answers('call_a', 'Sunny')),
      check(passed) {
        const turn = askedBy(passed).turns.find(({ role }) => role === 'assistant')
        expectEqual('the text', textOf(turn), 'Let me look.')
        expectEqual('the number of calls', calls(passed).length, 1)
      },
    },
    {
      name: 'empty content before a call is no text',
      source: roundSource,
      request: round(asks('', paris), answers('call_a', 'Sunny')),
      check: (passed) => expectEqual('the calls', calls(passed), [{ name: 'weather', args: { city: 'Paris' } }]),
    },
    {
      name: 'a question after results reaches the model after them',
      source: roundSource,
      request: round(asks(null, paris), answers('call_a', 'Sunny'), user('And tomorrow?')),
      check(passed) {
        const { parts } = askedBy(passed).turns.at(-1)!
        expectEqual('the last part', parts.at(-1), { text: 'And tomorrow?' })
        expectResult(passed, 'Sunny')
      },
    },
    {
      name: 'an empty result does not fail',
      source: roundSource,
      request: round(asks(null, paris), answers('call_a', '')),
      check: (passed) => expectResult(passed, ''),
    },
    {
      name: 'a result in parts is whole',
      source: 'OpenAI API specification, ChatCompletionRequestToolMessage: content may be an array of text parts',
      request: round(asks(null, paris), answers('call_a', [{ type: 'text', text: 'Sunny' }])),
      check: (passed) => expectResult(passed, 'Sunny'),
    },
  ]),
  ...casesOf('translation', openai, [
    {
      name: 'parallel_tool_calls: false is kept',
      source: 'OpenAI API reference, create chat completion: parallel_tool_calls',
      request: { ...hi, tools, parallel_tool_calls: false },
      check: (passed) => expectEqual('the field', passed.sent[0]?.body['parallel_tool_calls'], false),
    },
  ]),
  ...casesOf('translation', anthropic, [
    {
      name: 'parallel_tool_calls: false forbids parallel calls',
      source: 'Anthropic API reference, messages: tool_choice.disable_parallel_tool_use',
      request: { ...hi, tools, parallel_tool_calls: false },
      check: (passed) =>
        expectThat(
          'the tool choice',
          JSON.stringify(passed.sent[0]?.body['tool_choice'] ?? '').includes('"disable_parallel_tool_use":true'),
          'disable_parallel_tool_use',
          passed.sent[0]?.body,
        ),
    },
    {
      name: 'a call with an id that Claude does not take',
      source: 'Anthropic API reference, messages: ids of tool_use match ^[a-zA-Z0-9_-]+$',
      request: round(
        asks(null, call('functions.weather:0', 'weather', '{"city":"Paris"}')),
        answers('functions.weather:0', 'Sunny'),
      ),
      check: (passed) => expectResults(passed, [['weather', 'Sunny']]),
    },
    {
      name: 'a call with empty arguments in the history',
      source: 'Anthropic API reference, messages: input is an object',
      request: {
        ...round(asks(null, call('call_a', 'now', '')), answers('call_a', 'Noon')),
        tools: [tool('now'), tool('weather', city)],
      },
      check: (passed) => expectEqual('the calls', calls(passed), [{ name: 'now', args: {} }]),
    },
  ]),
]
