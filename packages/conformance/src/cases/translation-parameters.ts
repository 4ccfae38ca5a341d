import { expectEqual, expectThat } from '../expect.js'
import { anthropic } from '../families/anthropic.js'
import { replies } from '../families/index.js'
import { askedBy, choiceOf, choicesOf } from '../passed.js'
import { casesOf, casesOfEach, hi, user } from './define.js'

const source = (field: string): string => `OpenAI API reference, create chat completion: ${field}`

const schema = {
  type: 'object',
  properties: { city: { type: 'string' }, people: { type: 'integer' } },
  required: ['city', 'people'],
  additionalProperties: false,
}
const json = { city: 'Paris', people: 2_100_000 }

/** How the parameters of a request reach the model. */
export const parameterCases = [
  ...casesOfEach('translation', (family) => [
    {
      name: 'max_tokens is the limit',
      source: source('max_tokens'),
      request: { ...hi, max_tokens: 77 },
      check: (passed) => expectEqual('the limit', askedBy(passed).maxTokens, 77),
    },
    {
      name: 'max_completion_tokens is the limit',
      source: source('max_completion_tokens'),
      request: { ...hi, max_tokens: undefined, max_completion_tokens: 77 },
      check: (passed) => expectEqual('the limit', askedBy(passed).maxTokens, 77),
    },
    {
      name: 'temperature is kept',
      source: source('temperature'),
      request: { ...hi, temperature: 0.3 },
      check: (passed) => expectEqual('the temperature', askedBy(passed).temperature, 0.3),
    },
    {
      name: 'a temperature of 0 is kept',
      source: source('temperature'),
      request: { ...hi, temperature: 0 },
      check: (passed) => expectEqual('the temperature', askedBy(passed).temperature, 0),
    },
    {
      name: 'top_p is kept',
      source: source('top_p'),
      request: { ...hi, top_p: 0.5 },
      check: (passed) => expectEqual('top_p', askedBy(passed).topP, 0.5),
    },
    {
      name: 'stop as a text',
      source: source('stop'),
      request: { ...hi, stop: 'END' },
      check: (passed) => expectEqual('the stop sequences', askedBy(passed).stop, ['END']),
    },
    {
      name: 'stop as a list',
      source: source('stop'),
      request: { ...hi, stop: ['END', 'STOP'] },
      check: (passed) => expectEqual('the stop sequences', askedBy(passed).stop, ['END', 'STOP']),
    },
    {
      name: 'n: 2 gives two choices or is refused',
      source: source('n'),
      request: { ...hi, n: 2 },
      unsupported: true,
      check(passed) {
        const contents = choicesOf(passed).map(({ content }) => content)
        expectEqual('the contents', contents, ['Hello', 'Hello'])
        const asked = passed.sent.reduce((sum, sent) => sum + sent.asked.n, 0)
        expectEqual('the number of answers that were asked for', asked, 2)
      },
    },
    {
      name: 'response_format json_object gives JSON',
      source: source('response_format'),
      request: { messages: [user('Answer in JSON.')], response_format: { type: 'json_object' } },
      script: replies(family, { texts: [JSON.stringify(json)] }),
      check: (passed) => expectEqual('the content', JSON.parse(choiceOf(passed).content), json),
    },
    {
      name: 'response_format json_schema: the model gets the schema, the client its object as content',
      source: source('response_format'),
      request: {
        ...hi,
        response_format: { type: 'json_schema', json_schema: { name: 'place', strict: true, schema } },
      },
      // A gateway may ask for the object by a tool, for models that know of no schema.
      script: (sent) => {
        const [tool] = sent.asked.tools
        const reply = tool ? { calls: [{ name: tool.name, args: json }] } : { texts: [JSON.stringify(json)] }
        return replies(family, reply)(sent)
      },
      check(passed) {
        const [sent] = passed.sent
        expectThat('the request', JSON.stringify(sent?.body ?? '').includes('people'), 'the schema', sent?.body)
        const { content, finish } = choiceOf(passed)
        expectEqual('the content', JSON.parse(content || 'null'), json)
        expectEqual('finish_reason', finish, 'stop')
      },
    },
    {
      name: 'parameters that the vendor does not have are dropped or refused',
      source: source('seed, user, frequency_penalty, presence_penalty'),
      request: { ...hi, seed: 7, user: 'user-1', frequency_penalty: 0, presence_penalty: 0 },
      unsupported: true,
      check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    },
  ]),
  ...casesOf('translation', anthropic, [
    {
      name: 'a request without max_tokens has one for Claude, which demands it',
      source: 'Anthropic API reference, messages: max_tokens is required',
      request: { ...hi, max_tokens: undefined },
      check: (passed) =>
        expectThat('the limit', Number(askedBy(passed).maxTokens) > 0, 'a number', passed.sent[0]?.body),
    },
  ]),
]
