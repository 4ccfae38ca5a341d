import { expectEqual, expectThat } from '../expect.js'
import type { Family } from '../families/family.js'
import { anthropic } from '../families/anthropic.js'
import { google } from '../families/google.js'
import { replies } from '../families/index.js'
import { openai } from '../families/openai.js'
import type { Passed } from '../passed.js'
import { askedBy, choiceOf } from '../passed.js'
import type { Draft } from './define.js'
import { casesOf, city, hi, time, tool, user, weather } from './define.js'
import { schemas } from './models-schemas.js'

const reference = (field: string, vendor: string): string =>
  `OpenAI API reference, create chat completion: ${field}; ${vendor}`

const answered: Draft['check'] = (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello')

/** A request that a model of today takes only in part. What it does not take is dropped or refused by the gateway, not left to the vendor's 400. */
const fits = (model: string, what: string, field: string, vendor: string, request: object): Draft => ({
  name: `${model} with ${what} gets what it takes, or is refused`,
  source: reference(field, vendor),
  model,
  request: { ...hi, ...request },
  unsupported: true,
  check: answered,
})

// The limit has the name that OpenAI's models of today take, but where it is what is tried.
const limit = { max_tokens: undefined, max_completion_tokens: 200 }
const oai = (model: string, what: string, field: string, request: object): Draft =>
  fits(model, what, field, "OpenAI's guides to its models", { ...limit, ...request })

const ofOpenAI: Draft[] = [
  oai('gpt-5.5', 'temperature: 0.2', 'temperature', { temperature: 0.2 }),
  oai('gpt-6', 'top_p: 0.5', 'top_p', { top_p: 0.5 }),
  oai('o4-mini', 'temperature: 0', 'temperature', { temperature: 0 }),
  oai('gpt-4o', 'reasoning_effort', 'reasoning_effort', { reasoning_effort: 'low' }),
  oai('gpt-5', 'reasoning_effort: none', 'reasoning_effort', { reasoning_effort: 'none' }),
  oai('gpt-5.1', 'reasoning_effort: minimal', 'reasoning_effort', { reasoning_effort: 'minimal' }),
  oai('o3', 'reasoning_effort: xhigh', 'reasoning_effort', { reasoning_effort: 'xhigh' }),
  oai('gpt-4.1-mini', 'verbosity: low', 'verbosity', { verbosity: 'low' }),
  oai('o3', 'frequency_penalty', 'frequency_penalty', { frequency_penalty: 0.5 }),
  oai('gpt-5-mini', 'stop', 'stop', { stop: ['END'] }),
  {
    ...oai('gpt-5.4', 'max_tokens', 'max_tokens', { max_tokens: 300, max_completion_tokens: undefined }),
    check: (passed) => expectEqual('the limit', askedBy(passed).maxTokens, 300),
  },
  ...(
    [
      ['gpt-5.5', 'tools', {}],
      ['gpt-5.4', 'tools and reasoning_effort: low', { reasoning_effort: 'low' }],
      ['gpt-5.6', 'tools and reasoning_effort: high', { reasoning_effort: 'high' }],
    ] as const
  ).map(([model, what, more]): Draft => ({
    ...oai(model, what, 'tools', { ...more, tools: [weather] }),
    check(passed) {
      answered(passed)
      expectEqual(
        'the tools',
        askedBy(passed).tools.map(({ name }) => name),
        ['weather'],
      )
    },
  })),
  {
    ...oai('o3', 'parallel_tool_calls', 'parallel_tool_calls', { tools: [weather], parallel_tool_calls: false }),
    check(passed) {
      answered(passed)
      expectEqual('the number of tools', askedBy(passed).tools.length, 1)
    },
  },
]

const tools = [weather, time]
const one = { type: 'function', function: { name: 'time' } }

/** A forced call, of models that think by default: they take one where they do not think. */
const forced = (model: string, what: string, tool_choice: unknown, choice: unknown): Draft => ({
  name: `${model} calls a tool where tool_choice is ${what}`,
  source: reference('tool_choice', 'Anthropic, troubleshooting thinking: a forced tool_choice excludes thinking'),
  model,
  request: { ...hi, tools, tool_choice },
  script: replies(anthropic, { calls: [{ name: 'time', args: { city: 'Rome' } }] }),
  check(passed) {
    expectEqual('the choice', askedBy(passed).choice, choice)
    expectEqual('finish_reason', choiceOf(passed).finish, 'tool_calls')
  },
})

const guide = 'Anthropic, migration guide'

/** Whether a request leaves room for thoughts, which count as output. */
const room = (model: string): Draft => ({
  name: `${model}, which thinks, has more than 4,096 tokens where the client sets no limit`,
  source: reference(
    'max_completion_tokens is optional',
    'Anthropic, extended thinking: thoughts count towards max_tokens',
  ),
  model,
  request: { ...hi, max_tokens: undefined },
  check(passed) {
    const { maxTokens } = askedBy(passed)
    expectThat('the limit', Number(maxTokens) > 4096, 'more than 4096', maxTokens)
  },
})

const begun = { messages: [user('Count to three.'), { role: 'assistant', content: 'One, two,' }] }

/** An answer that is to be continued, by a model that takes no beginning of one. */
const continued = (family: Family, model: string, vendor: string): Draft => ({
  name: `${model} is told what an answer has begun with, or that is refused`,
  source: reference('messages may end with one of the assistant', vendor),
  model,
  request: begun,
  unsupported: true,
  script: replies(family, { texts: ['Hello'] }),
  check(passed) {
    answered(passed)
    const [sent] = passed.sent
    expectThat('the request', JSON.stringify(sent?.body).includes('One, two,'), 'the beginning', sent?.body)
  },
})

/** An effort, which becomes a level, a budget or an effort of the vendor. */
const effort = (family: Family, model: string, reasoning_effort: string): Draft => ({
  name: `reasoning_effort ${reasoning_effort} reaches ${model} as it takes it`,
  source: reference('reasoning_effort', `${family.title} API reference: thinking`),
  model,
  request: { ...hi, max_tokens: 4000, reasoning_effort },
  check(passed) {
    answered(passed)
    const sent = passed.sent[0]?.body
    expectThat('the request', /think|effort/i.test(JSON.stringify(sent)), 'an effort or thinking', sent)
  },
})

/** Fields of other APIs for the effort, which clients of several gateways send. */
const otherEffort = (family: Family, model: string, what: string, fields: object): Draft => ({
  ...effort(family, model, what),
  name: `${what} reaches ${model} as thinking, or is refused`,
  source: `${what}: OpenRouter API reference, reasoning tokens; Anthropic API reference, thinking`,
  request: { ...hi, max_tokens: 4000, ...fields },
  unsupported: true,
})

const reads = { calls: [{ name: 'time', args: { city: 'Rome' } }] }

const ofAnthropic: Draft[] = [
  forced('claude-sonnet-5', 'required', 'required', 'required'),
  forced('claude-opus-5', 'a function', one, { name: 'time' }),
  ...(
    [
      ['claude-sonnet-5-5', 'required', 'required'],
      ['claude-opus-5-5', 'a function', one],
    ] as [string, string, unknown][]
  ).map(([model, what, tool_choice]): Draft => ({
    name: `${model}, which cannot be forced, has its tools where tool_choice is ${what}, or that is refused`,
    source: reference('tool_choice', `${guide}: forced tool use is not supported`),
    model,
    request: { ...hi, tools, tool_choice },
    unsupported: true,
    script: replies(anthropic, reads),
    check(passed) {
      expectEqual('finish_reason', choiceOf(passed).finish, 'tool_calls')
      expectThat(
        'the tools',
        askedBy(passed).tools.some(({ name }) => name === 'time'),
        'time',
        passed.sent[0]?.body,
      )
    },
  })),
  fits('claude-opus-5', 'temperature: 0.2', 'temperature', `${guide}: sampling parameters`, { temperature: 0.2 }),
  fits('claude-sonnet-4-6', 'temperature and top_p', 'top_p', `${guide}: one of temperature and top_p`, {
    temperature: 0.2,
    top_p: 0.5,
  }),
  room('claude-opus-5'),
  room('claude-opus-6'),
  continued(anthropic, 'claude-sonnet-4-6', `${guide}: prefill is not supported`),
  continued(anthropic, 'claude-opus-5', `${guide}: prefill is not supported`),
  effort(anthropic, 'claude-sonnet-4-5', 'high'),
  effort(anthropic, 'claude-opus-4-8', 'medium'),
  otherEffort(anthropic, 'claude-sonnet-4-5', 'thinking', { thinking: { type: 'enabled', budget_tokens: 2000 } }),
  otherEffort(anthropic, 'claude-opus-4-8', 'reasoning', { reasoning: { effort: 'high' } }),
]

const ofGoogle: Draft[] = [
  effort(google, 'gemini-3-pro-preview', 'medium'),
  effort(google, 'gemini-3.1-pro-preview', 'minimal'),
  effort(google, 'gemini-2.5-flash', 'low'),
  otherEffort(google, 'gemini-3.5-flash', 'reasoning', { reasoning: { effort: 'low' } }),
  continued(google, 'gemini-3.6-flash', 'Gemini API, release notes: requests that end with a turn of the model'),
  fits(
    'gemini-2.5-flash',
    'tools and response_format',
    'response_format',
    'Gemini API, function calling: not with a response mime type before Gemini 3',
    { tools: [tool('place', city)], response_format: { type: 'json_object' }, messages: [user('Answer in JSON.')] },
  ),
]

const written = { city: 'Paris' }

/** Schemas that a vendor does not enforce: the model learns of them by other means, and the client gets its object. */
const structured = (family: Family, model: string): Draft[] =>
  schemas
    .filter(({ of }) => of === family.name)
    .flatMap(({ what, schema, source }) => [
      {
        name: `${model} is asked for JSON by a schema with ${what}`,
        source: reference('response_format', source),
        model,
        request: {
          ...hi,
          response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } },
        },
        script: (sent) => {
          const [asked] = sent.asked.tools
          const reply = asked ? { calls: [{ name: asked.name, args: written }] } : { texts: [JSON.stringify(written)] }
          return replies(family, reply)(sent)
        },
        check(passed: Passed) {
          expectEqual('the content', JSON.parse(choiceOf(passed).content || 'null'), written)
          const [sent] = passed.sent
          expectThat('the request', JSON.stringify(sent?.body).includes('city'), 'the schema', sent?.body)
        },
      } satisfies Draft,
      {
        name: `${model} has a strict tool with ${what}`,
        source: reference('tools', source),
        model,
        request: {
          ...hi,
          tools: [{ type: 'function', function: { name: 'place', strict: true, parameters: schema } }],
        },
        script: replies(family, { calls: [{ name: 'place', args: written }] }),
        check(passed: Passed) {
          expectEqual(
            'the calls',
            choiceOf(passed).calls.map(({ name }) => name),
            ['place'],
          )
          const [sent] = askedBy(passed).tools
          expectThat('the schema', JSON.stringify(sent?.schema ?? '').includes('city'), 'the property city', sent)
        },
      } satisfies Draft,
    ])

/** What vendors' models of today take. */
export const modelCases = [
  ...casesOf('models', openai, ofOpenAI),
  ...casesOf('models', anthropic, [...ofAnthropic, ...structured(anthropic, 'claude-sonnet-5')]),
  ...casesOf('models', google, [...ofGoogle, ...structured(google, 'gemini-3-flash-preview')]),
]
