import { describe, expect, it } from 'vitest'
import { chat } from '../support/raw-client.js'
import type { Step } from '../support/raw-upstream.js'
import { completion, given, hello, helloSeen, helloStream, refused, seen, usage, usageGiven } from './openai.js'
import type { ErrorReply } from './replies.js'
import { expectError, expectStream, failed, invalid, overContext, limited, senseless, truncated } from './replies.js'
import { useServer } from './server.js'
import { answer, done, errorEvent, errors, event, stream } from './wire.js'

// What only OpenAI, and the servers that speak as it does, do wrong; for their tool calls see tools.test.ts.

const at = useServer()

describe('an upstream with interim responses', () => {
  it.each([103, 102])('is heard to its end: %i', async (status) => {
    const interim = `HTTP/1.1 ${status} Interim\r\nlink: </style.css>\r\n\r\n`
    at.upstream.script = [interim, answer(200, completion({ content: 'Hello' }))]
    expect(await chat(at.server, { stream: false })).toMatchObject({ status: 200 })
    at.upstream.script = [interim, ...stream(...helloStream)]
    expect(await chat(at.server, { stream: true })).toMatchObject({ status: 200, whole: true })
  })
})

describe('an upstream of OpenAI that fails before its first event', () => {
  it.each<[string, Step[], ErrorReply]>([
    ['429 with retry-after-ms', [refused(429, 'Slow down', ['retry-after-ms: 1500', 'retry-after: 60'])], limited('2')],
    [
      '400 for a parameter',
      [refused(400, "'max_tokens' is not supported", [], 'unsupported_parameter')],
      invalid("'max_tokens' is not supported", 'unsupported_parameter'),
    ],
    [
      '400 for a prompt that is too long',
      [refused(400, 'Your input exceeds the context window', [], 'context_length_exceeded')],
      overContext('Your input exceeds the context window', '128000 tokens'),
    ],
    [
      '400 of a compatible server for a prompt that is too long',
      [refused(400, "This model's maximum context length is 8192 tokens.", [])],
      invalid("This model's maximum context length is 8192 tokens.", 'context_length_exceeded'),
    ],
    ['429 for an account without credit', [refused(429, 'Secret quota', [], 'insufficient_quota')], limited('1')],
    ['429 for an account that is not active', [refused(429, 'Secret billing', [], 'billing_not_active')], limited('1')],
    ['400 for an account at its limit', [refused(400, 'Secret limit', [], 'billing_hard_limit_reached')], failed],
    [
      '404 with the code for a model',
      [refused(404, 'The model `gpt-4o-mini` does not exist', [], 'model_not_found')],
      invalid('The model `gpt-4o-mini` does not exist', 'model_not_found'),
    ],
    ['200 with no choices', [answer(200, '{"choices":[]}')], senseless],
    ['200 with a choice that is none', [answer(200, '{"choices":[null]}')], senseless],
    ['200 with a call that is none', [answer(200, completion({ content: null, tool_calls: [null] }))], senseless],
  ])('%s', async (_, script, reply) => {
    at.upstream.script = script
    for (const streamed of [false, true]) expectError(await chat(at.server, { stream: streamed }), reply)
    expect(at.upstream.requests).toBe(2)
  })

  it.each<[string, Step[], ErrorReply]>([
    ['a stream of [DONE] alone', stream(done), truncated],
    [
      'a first event that is an error without a code',
      stream(event({ error: { message: 'Secret', type: 'server_error', code: null } }), done),
      failed,
    ],
    ['a first event whose choice is none', stream(event({ choices: [null] })), senseless],
    ['a first event whose call is none', stream(given({ tool_calls: [null] })), senseless],
    ['a first event that is an error of one word', stream(event({ error: 'Secret' })), failed],
    [
      'a first event that is an error of few fields',
      stream(event({ error: { message: 'Slow down', code: 429 } })),
      limited('1'),
    ],
  ])('%s', async (_, script, reply) => {
    at.upstream.script = script
    expectError(await chat(at.server, { stream: true }), reply)
    expect(at.upstream.requests).toBe(1)
  })
})

const preamble = event({ choices: [], created: 0, id: '', model: '', object: '', prompt_filter_results: [] })

describe('a complete stream of OpenAI', () => {
  it.each<{ name: string; upstream: string[]; seen?: string }>([
    { name: 'a preamble without choices', upstream: [preamble, ...helloStream] },
    { name: 'usage that was not asked for', upstream: [...hello.start, hello.finish, usageGiven, done] },
    { name: 'half of its usage', upstream: [...hello.start, hello.finish, usageGiven.slice(0, -30)] },
    { name: 'usage on every chunk', upstream: helloStream.map((line) => line.replace('}\n', ',"usage":null}\n')) },
    { name: 'padding', upstream: helloStream.map((line) => line.replace('}\n', ',"obfuscation":"x9"}\n')) },
    {
      name: 'the role in every chunk',
      upstream: helloStream.map((line) => line.replace('"delta":{"content"', '"delta":{"role":"assistant","content"')),
    },
    { name: 'two finishes', upstream: [...hello.start, hello.finish, hello.finish, done] },
    {
      name: 'a delta after the finish',
      upstream: [...hello.start, hello.finish, given({ content: '!' }), done],
      seen: hello.seen + seen({ content: '!' }) + hello.seenEnd,
    },
  ])('$name', async ({ upstream, seen: wanted = helloSeen }) => {
    at.upstream.script = stream(...upstream)
    expectStream(await chat(at.server, { stream: true }), wanted)
    expect(at.upstream.requests).toBe(1)
  })

  it.each([
    ['alone', [...hello.start, hello.finish, usageGiven]],
    ['with the finish and again alone', [...hello.start, given({}, 'stop', { usage }), usageGiven]],
    ['with the finish only', [...hello.start, given({}, 'stop', { usage })]],
    [
      'on every chunk, growing',
      [
        ...hello.start.map((line, i) =>
          line.replace('}\n', `,"usage":{"prompt_tokens":9,"completion_tokens":${i}}}\n`),
        ),
        hello.finish,
        usageGiven,
      ],
    ],
  ])('returns usage once, last: %s', async (_, events) => {
    at.upstream.script = stream(...events, done)
    const reply = await chat(at.server, { stream: true, stream_options: { include_usage: true } })
    const chunks = helloSeen.replaceAll('}]}\n', '}],"usage":null}\n')
    const last = hello.seenEnd
      .slice(0, -done.length)
      .replace(/"choices".*\n/, `"choices":[],"usage":${JSON.stringify(usage)}}\n`)
    expectStream(reply, chunks.slice(0, -done.length) + last + done)
  })

  it('keeps two choices apart, and finishes both', async () => {
    const second = (line: string): string => line.replace('"index":0', '"index":1')
    const [start, first, last] = hello.start as [string, string, string]
    const bye = second(given({ content: 'Bye' }))
    at.upstream.script = stream(start, bye, first, second(given({}, 'length')), last, hello.finish, done)
    const other = [seen({ role: 'assistant', content: 'Bye' }), seen({}, 'length')].map(second)
    const [begins, ...goes] = hello.seen.split(/(?<=\n\n)/)
    const wanted = [begins, other[0], ...goes, seen({}, 'stop'), other[1], done].join('')
    expectStream(await chat(at.server, { stream: true, n: 2 }), wanted)
  })
})

describe('a stream of OpenAI that breaks', () => {
  it.each([
    ['a choice that is none', event({ choices: [null] }), errors.senseless],
    ['an error of one word', event({ error: 'Secret' }), errors.failed],
    ['an error of one field', event({ error: { message: 'Secret' } }), errors.failed],
    [
      'an error in the form of a chunk',
      event({ choices: [], error: { code: 429, message: 'Slow down' } }),
      errors.limited,
    ],
  ])('%s', async (_, failure, error) => {
    at.upstream.script = stream(...hello.start, failure, done)
    expectStream(await chat(at.server, { stream: true }), hello.seen + errorEvent(error))
    expect(at.upstream.requests).toBe(1)
  })

  it('one of two choices has no finish reason', async () => {
    const second = given({ content: 'Bye' }).replace('"index":0', '"index":1')
    at.upstream.script = stream(...hello.start, second, hello.finish, done)
    const bye = seen({ role: 'assistant', content: 'Bye' }).replace('"index":0', '"index":1')
    expectStream(await chat(at.server, { stream: true, n: 2 }), hello.seen + bye + errorEvent(errors.truncated))
  })
})
