import { expectEqual, expectThat } from '../expect.js'
import type { Family, FamilyName, Reply } from '../families/family.js'
import { begins, breaks, fails, replies } from '../families/index.js'
import type { Answer, Script } from '../script.js'
import { cut, stream, untilClosed, untilRead, whole } from '../script.js'
import { choiceOf, expectBroken, expectError } from '../passed.js'
import type { Draft } from './define.js'
import { casesOfEach, hi, weather } from './define.js'
import { expectTooLong, tooLongSource } from './too-long.js'

const errorSource = 'OpenAI API reference, errors'
const endSource = 'OpenAI API reference, create chat completion: a stream is terminated by [DONE]'
const retrySource = "OpenAI's SDKs retry 408, 409, 429 and 5xx, after Retry-After"

const streamed = { ...hi, stream: true }
const hello: Reply = { texts: ['Hel', 'lo', ' wor'] }

const wholeCut =
  (family: Family): Script =>
  (sent) => {
    const text = JSON.stringify(family.body(hello, sent))
    const headers = { 'content-type': 'application/json', 'content-length': String(text.length) }
    return { headers, steps: [text.slice(0, text.length / 2), cut] }
  }

const html = (): Answer => whole('<html><body>Bad gateway</body></html>', 502, { 'content-type': 'text/html' })

/** What the vendors say to a prompt that is longer than the model's context. */
const tooLong: Record<FamilyName, string[]> = {
  openai: [
    "This model's maximum context length is 128000 tokens. However, your messages resulted in 140010 tokens.",
    'Input tokens exceed the configured limit of 272000 tokens. Your messages resulted in 509178 tokens.',
  ],
  anthropic: [
    'prompt is too long: 250000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again',
  ],
  google: ['The input token count (1500000) exceeds the maximum number of tokens allowed (1048576).'],
}

const is5xx = (status: number): boolean => status >= 500
const isRetried = (status: number): boolean => status === 429 || status >= 500
/** A gateway may say so as a fault of its own, where the credential is not the client's. */
const isCredential = (status: number): boolean => status === 401 || status === 403 || status >= 500
const isClient = (status: number): boolean => status === 400 || status === 404

/** What the client is told of upstreams that fail. */
export const faultCases = casesOfEach('faults', (family) => {
  const error = (
    name: string,
    script: Script,
    what: string,
    statuses: (status: number) => boolean,
    more: Partial<Draft> = {},
  ): Draft => ({
    name,
    source: errorSource,
    script,
    check: (passed) => expectError(passed, what, statuses),
    ...more,
  })
  /** Before a stream begins, an error is a status as well. */
  const errors = (name: string, script: Script, what: string, statuses: (status: number) => boolean): Draft[] => [
    error(name, script, what, statuses),
    error(`${name}, for a stream`, script, what, statuses, { request: streamed }),
  ]
  const broken = (name: string, script: Script, request: object = streamed): Draft => ({
    name,
    source: endSource,
    request,
    script,
    check: expectBroken,
  })
  const overloaded = family.name === 'anthropic' ? 529 : 503
  const call: Reply = { calls: [{ name: 'weather', args: { city: 'Paris' } }] }
  return [
    ...errors('429 is 429', fails(family, 429, 'Slow down'), '429', (status) => status === 429),
    ...errors('500 is 5xx', fails(family, 500, 'Internal error'), '5xx', is5xx),
    ...errors('400 is 400', fails(family, 400, 'Too many images'), '400', (status) => status === 400),
    ...errors('a connection that breaks before the answer is 5xx', breaks, '5xx', is5xx),
    error('an overloaded upstream is 429 or 5xx', fails(family, overloaded, 'Overloaded'), '429 or 5xx', isRetried, {
      source: retrySource,
    }),
    error('an unknown model is 400 or 404', fails(family, 404, 'No such model'), '400 or 404', isClient),
    error('a wrong key is an error', fails(family, 401, 'Invalid key'), '401, 403 or 5xx', isCredential),
    error("a proxy's page in HTML is an error in JSON", html, '5xx', is5xx),
    {
      name: "the vendor's reason of a 400 reaches the client",
      source: errorSource,
      script: fails(family, 400, 'prompt is too long: 250000 tokens > 200000 maximum'),
      check: ({ text }) => expectThat('the body', text.includes('prompt is too long'), 'prompt is too long', text),
    },
    ...tooLong[family.name].map((message): Draft => ({
      name: `a prompt that is too long is told as OpenAI tells it: ${message.slice(0, 24)}…`,
      source: tooLongSource,
      script: fails(family, 400, message),
      check: expectTooLong,
    })),
    {
      name: 'Retry-After reaches the client',
      source: retrySource,
      script: fails(family, 429, 'Slow down', { 'retry-after': '7' }),
      check({ headers }) {
        const seconds = headers.get('retry-after')
        expectThat('Retry-After', Number(seconds) >= 7, '7 seconds', seconds)
      },
    },
    error('a whole answer that is cut off is an error', wholeCut(family), '5xx', is5xx),
    error('an answer that is no JSON is an error', () => whole('{"id": "half'), '5xx', is5xx),
    error('an empty answer is an error', () => whole(''), '5xx', is5xx),
    broken('a stream that is cut before its first event is not completed', () => stream(cut)),
    broken('a stream that ends before its first event is not completed', () => stream()),
    broken('a stream that is cut is not completed', begins(family, hello, cut)),
    broken('a stream that ends without a finish reason is not completed', begins(family, hello)),
    broken('a stream that is cut in an event is not completed', begins(family, hello, 'data: {"choi', cut)),
    broken('a tool call that is cut is not completed', begins(family, call, cut), { ...streamed, tools: [weather] }),
    broken(
      'an error in a stream is one for the client',
      begins(family, hello, family.errorEvent(overloaded, 'Overloaded')),
    ),
    broken('an error as the first event is one for the client', () =>
      stream(family.errorEvent(overloaded, 'Overloaded')),
    ),
    {
      name: 'what came before a stream was cut reaches the client',
      source: endSource,
      request: streamed,
      script: begins(family, hello, untilRead, cut),
      check: ({ text, early }) =>
        expectThat('the content', 'Hello wor'.startsWith(early) && early !== '', 'Hello wor', text),
    },
    {
      name: 'the next request succeeds after a stream that was cut',
      source: errorSource,
      script: replies(family, { texts: ['Hello'] }),
      check: (passed) => expectEqual('the content', choiceOf(passed).content, 'Hello'),
    },
    {
      name: 'a client that leaves a stream ends the call of the upstream',
      source: 'The client stops reading; what nobody reads must not be generated and billed',
      request: streamed,
      script: begins(family, hello, untilClosed),
      leaves: 'in the answer',
      check: ({ closed }) => expectEqual('the connection to the upstream is closed', closed, true),
    },
    {
      name: 'a client that leaves before the answer ends the call of the upstream',
      source: 'The client stops reading; what nobody reads must not be generated and billed',
      script: () => ({ steps: [untilClosed] }),
      leaves: 'before the answer',
      check: ({ closed }) => expectEqual('the connection to the upstream is closed', closed, true),
    },
  ]
})
