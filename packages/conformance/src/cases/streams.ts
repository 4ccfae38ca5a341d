import { expectEqual, expectThat } from '../expect.js'
import type { Reply } from '../families/family.js'
import { replies } from '../families/index.js'
import type { Answer, Script } from '../script.js'
import { stream, untilRead, whole } from '../script.js'
import { argsOf, choiceOf } from '../passed.js'
import type { Draft } from './define.js'
import { casesOfEach, hi, time, tool, weather } from './define.js'
import { expectUsage } from './translation-answers.js'

const source = 'OpenAI API reference, chat completion chunk object'
const sse = 'HTML standard, server-sent events: parsing an event stream'

const streamed = { ...hi, stream: true }
const withTools = { ...streamed, tools: [weather, time, tool('now')] }
const hello: Reply = { texts: ['Hel', 'lo', ' wor', 'ld'] }

/** Plays a stream whose text is changed on its way. */
const changed =
  (script: Script, change: NonNullable<Answer['change']>): Script =>
  (sent) => ({ ...script(sent), change })

/** Pieces that end within events, lines and characters. */
const inPieces = (size: number) => (text: string) => {
  const bytes = Buffer.from(text)
  const count = Math.ceil(bytes.length / size)
  return Array.from({ length: count }, (_, i) => bytes.subarray(i * size, (i + 1) * size))
}

/** Changes each event of a stream in one piece. */
const eachEvent = (change: (event: string) => string) => (text: string) => [
  text
    .split(/(?<=\n\n)/)
    .map(change)
    .join(''),
]

/** What events may be like, by the standard; the stream stays the same. */
const spellings: [what: string, change: NonNullable<Answer['change']>][] = [
  ['empty data before events', eachEvent((event) => `data:\n\n${event}`)],
  ['lines that are only the name of a field', eachEvent((event) => `data\n\n${event}`)],
  ['ids and times to reconnect', eachEvent((event) => `id: 7\nretry: 3000\n\nid: 8\n${event}`)],
  ['no blank after the colons', eachEvent((event) => event.replaceAll(/^(data|event): /gm, '$1:'))],
  ['lines that end with CR', (text) => [text.replaceAll('\n', '\r')]],
  ['data in two lines', eachEvent((event) => event.replace(/^data: \{/m, 'data: {\ndata: '))],
]

/** Plays a stream in another spelling, unless it was asked for in another form than events. */
const spelled =
  (script: Script, change: NonNullable<Answer['change']>): Script =>
  (sent) =>
    sent.path.includes('/google/') && !sent.path.includes('alt=sse') ? script(sent) : { ...script(sent), change }

const manyTexts = Array.from({ length: 300 }, (_, i) => `${i} `)

/** How streamed answers reach the client. */
export const streamCases = casesOfEach('streams', (family) => {
  const says = (name: string, rule: string, script: Script, content: string): Draft => ({
    name,
    source: rule,
    request: streamed,
    script,
    check: (passed) => expectEqual('the content', choiceOf(passed).content, content),
  })
  const ends = (name: string, reply: Reply, finish: string): Draft => ({
    name,
    source: `${source}: finish_reason`,
    request: withTools,
    script: replies(family, reply),
    check: (passed) => expectEqual('finish_reason', choiceOf(passed).finish, finish),
  })
  const calls = (name: string, reply: Reply, more: Draft['check'] = () => undefined): Draft => ({
    name,
    source: `${source}: delta.tool_calls`,
    request: withTools,
    script: replies(family, reply),
    check(passed) {
      const { calls, finish } = choiceOf(passed)
      expectEqual(
        'the calls',
        calls.map((call) => ({ name: call.name, args: argsOf(call) })),
        reply.calls,
      )
      expectThat(
        'the ids',
        calls.every(({ id }) => id),
        'one for each call',
        calls,
      )
      expectEqual('the number of ids', new Set(calls.map(({ id }) => id)).size, calls.length)
      expectEqual('finish_reason', finish, 'tool_calls')
      more(passed)
    },
  })
  const paris = { name: 'weather', args: { city: 'Paris', days: [1, 2] } }
  const rome = { name: 'time', args: { city: 'Rome' } }
  return [
    says('the text arrives in order', source, replies(family, hello), 'Hello world'),
    says('300 pieces arrive in order', source, replies(family, { texts: manyTexts }), manyTexts.join('')),
    {
      name: 'the first piece arrives before the last is sent',
      source: 'OpenAI API reference, create chat completion: stream',
      request: streamed,
      script: (sent) => {
        const { begin, end } = family.events({ texts: ['Hel', 'lo'] }, sent)
        return stream(...begin.slice(0, -1), untilRead, ...begin.slice(-1), ...end)
      },
      check(passed) {
        expectEqual('the content by then', passed.early, 'Hel')
        expectEqual('the content', choiceOf(passed).content, 'Hello')
      },
    },
    says('events in pieces of 7 bytes', sse, changed(replies(family, hello), inPieces(7)), 'Hello world'),
    says(
      'characters of several bytes in pieces',
      sse,
      changed(replies(family, { texts: ['Grüße ', '👩‍🚀'] }), inPieces(3)),
      'Grüße 👩‍🚀',
    ),
    says(
      'all events in one piece',
      sse,
      changed(replies(family, hello), (text) => [text]),
      'Hello world',
    ),
    says(
      'text that looks like the end of a stream',
      source,
      replies(family, { texts: ['data: [DONE]\n\n', '{"error":1}'] }),
      'data: [DONE]\n\n{"error":1}',
    ),
    ...spellings.map(([what, change]) =>
      says(`a stream with ${what}`, sse, spelled(replies(family, hello), change), 'Hello world'),
    ),
    {
      name: 'a stream that was asked for and comes whole',
      source: 'OpenAI API reference, create chat completion: stream',
      request: streamed,
      script: (sent) => whole(family.body(hello, sent)),
      check(passed) {
        expectEqual('the content', choiceOf(passed).content, 'Hello world')
        expectEqual('the number of [DONE]', passed.stream?.done, 1)
      },
    },
    {
      name: 'a whole answer that was asked for and comes as a stream',
      source: 'OpenAI API reference, create chat completion: stream is false by default',
      script: (sent) => {
        const { begin, end } = family.events(hello, sent)
        return stream(...begin, ...end)
      },
      check(passed) {
        expectEqual('the content', choiceOf(passed).content, 'Hello world')
        expectEqual('object', passed.json?.['object'], 'chat.completion')
      },
    },
    ends('a complete answer ends with stop', hello, 'stop'),
    ends('an answer at its limit ends with length', { ...hello, finish: 'length' }, 'length'),
    ends('a withheld answer ends with content_filter', { ...hello, finish: 'content_filter' }, 'content_filter'),
    calls('a tool call', { calls: [paris] }),
    calls('parallel tool calls have indices of their own', { calls: [paris, rome] }),
    calls('a tool call without arguments has an empty object', { calls: [{ name: 'now', args: {} }] }),
    calls('text, then a tool call', { texts: ['Let me ', 'look.'], calls: [paris] }, (passed) =>
      expectEqual('the content', choiceOf(passed).content, 'Let me look.'),
    ),
    {
      name: 'a tool call after text has index 0',
      source: `${source}: delta.tool_calls[].index counts tool calls`,
      request: withTools,
      script: replies(family, { texts: ['Let me look.'], calls: [paris] }),
      check(passed) {
        const deltas = (passed.stream?.chunks ?? []).flatMap(({ choices = [] }) => choices.map(({ delta }) => delta))
        const indices = deltas.flatMap((delta) => (delta?.tool_calls ?? []).map(({ index }) => index))
        expectEqual('the indices', [...new Set(indices)], [0])
      },
    },
    {
      name: 'the usage comes where include_usage asks for it',
      source: 'OpenAI API reference, create chat completion: stream_options.include_usage',
      request: { ...streamed, stream_options: { include_usage: true } },
      script: replies(family, { ...hello, usage: { prompt: 21, completion: 8 } }),
      check: (passed) => expectUsage(passed, 21, 8),
    },
    ...(family.name === 'openai'
      ? []
      : [
          says(
            'thinking is no content',
            `${family.title} API reference: thoughts`,
            replies(family, { ...hello, thinking: 'Hmm, secret.' }),
            'Hello world',
          ),
        ]),
  ]
})
