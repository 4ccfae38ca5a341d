import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { audio, paths, requestOf } from '../endpoints/endpoints.js'
import type { RawReply } from '../support/raw-client.js'
import { open } from '../support/raw-client.js'
import type { Step } from '../support/raw-upstream.js'
import { end, rawUpstream, reset } from '../support/raw-upstream.js'
import type { Server } from '../support/server.js'
import { startGateway } from './gateway.js'
import type { ErrorReply } from './replies.js'
import { expectError, failed, invalid, late, limited, senseless, truncated, unreachable } from './replies.js'
import { startServerFor, useServer } from './server.js'
import { answer, bytewise, errors, piece } from './wire.js'

interface Case {
  name: string
  path: string
  request: () => object
  /** A good answer of the upstream, and what the client is to get of it. */
  answer: string
  seen: string
  type?: string
  /** An error of the vendor. */
  refusal(status: number, message: string): string
}

const openai = (_: number, message: string): string => JSON.stringify({ error: { message, type: 'x', code: null } })
const google = (code: number, message: string): string => JSON.stringify({ error: { code, message, status: 'X' } })
const png = 'iVBORw0KGgoAAAA='

const cases: Case[] = [
  {
    name: 'embeddings of OpenAI',
    path: paths.embeddings,
    request: () => requestOf('embeddings'),
    answer: '{"data":[{"index":0,"embedding":[1,-2.5]}],"model":"é","usage":{"prompt_tokens":3}}',
    seen: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[1,-2.5]}],"model":"é","usage":{"prompt_tokens":3,"total_tokens":3}}',
    refusal: openai,
  },
  {
    name: 'embeddings of Gemini',
    path: paths.embeddings,
    request: () => requestOf('embeddings', { model: 'gemini-embedding-001' }),
    answer: '{"embeddings":[{"values":[3,4]}],"usageMetadata":{"promptTokenCount":2}}',
    seen: '{"object":"list","data":[{"object":"embedding","index":0,"embedding":[0.6,0.8]}],"model":"gemini-embedding-001","usage":{"prompt_tokens":2,"total_tokens":2}}',
    refusal: google,
  },
  {
    name: 'pictures of OpenAI',
    path: paths.images,
    request: () => requestOf('images', { response_format: 'b64_json' }),
    answer: `{"created":1,"data":[{"b64_json":"${png}","revised_prompt":"Ein Kätzchen"}]}`,
    seen: `{"created":0,"data":[{"b64_json":"${png}","revised_prompt":"Ein Kätzchen"}]}`,
    refusal: openai,
  },
  {
    name: 'pictures of Gemini',
    path: paths.images,
    request: () => requestOf('images', { model: 'gemini-2.5-flash-image' }),
    answer: `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"${png}"}}]}}]}`,
    seen: `{"created":0,"data":[{"url":"data:image/png;base64,${png}"}]}`,
    refusal: google,
  },
  {
    name: 'speech of OpenAI',
    path: paths.speech,
    request: () => requestOf('speech'),
    answer: 'Ünreal audio',
    seen: 'Ünreal audio',
    type: 'audio/mpeg',
    refusal: openai,
  },
  {
    name: 'recordings with OpenAI',
    path: paths.transcription,
    request: () => requestOf('transcription', { file: audio('talk.mp3', 'audio'.repeat(100)) }),
    answer: '{"text":"Grüße","duration":1.5}',
    seen: '{"text":"Grüße","usage":{"type":"duration","seconds":2}}',
    refusal: openai,
  },
]

const ask = async (callee: { url: string; key: string }, { path, request }: Case): Promise<RawReply> => {
  const reply = await (await open(callee, path, request())).reply
  return { ...reply, body: reply.body.replace(/"created":\d+/, '"created":0') }
}

const typeOf = ({ type = 'application/json' }: Case): string[] => [`content-type: ${type}`]
const html = '<html><body>Welcome</body></html>'

interface Fault {
  name: string
  upstream: Step[]
  reply: ErrorReply
}

/** Of answers that are JSON. */
function broken({ answer: text }: Case): Fault[] {
  const whole = answer(200, text)
  const chunked = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n'
  return [
    { name: 'invalid JSON', upstream: [answer(200, text.slice(0, -3))], reply: senseless },
    { name: '{}', upstream: [answer(200, '{}')], reply: senseless },
    { name: 'a cut within its length', upstream: [whole.slice(0, -20), end], reply: truncated },
    { name: 'a reset within its length', upstream: [whole.slice(0, -20), 20, reset], reply: truncated },
    { name: 'a cut between chunks', upstream: [chunked, piece(text), end], reply: truncated },
  ]
}

/** Upstreams that fail before their answer has begun. */
function faults(one: Case): Fault[] {
  const refused = (status: number, ...headers: string[]): Step[] => [
    answer(status, one.refusal(status, 'Told by the upstream'), ['content-type: application/json', ...headers]),
  ]
  return [
    { name: 'a reset before the head', upstream: [reset], reply: unreachable },
    { name: 'an end before the head', upstream: [end], reply: unreachable },
    { name: '400', upstream: refused(400), reply: invalid('Told by the upstream') },
    { name: '401', upstream: refused(401), reply: failed },
    { name: '429 with Retry-After', upstream: refused(429, 'retry-after: 7'), reply: limited('7') },
    { name: '500', upstream: refused(500), reply: failed },
    { name: '503', upstream: refused(503), reply: failed },
    { name: '529', upstream: refused(529), reply: failed },
    { name: '302', upstream: [answer(302, '', ['location: http://127.0.0.1:1/'])], reply: failed },
    { name: '502 in HTML', upstream: [answer(502, html, ['content-type: text/html'])], reply: failed },
    { name: '200 in HTML', upstream: [answer(200, html, ['content-type: text/html'])], reply: senseless },
    { name: '200 with nothing', upstream: [answer(200, '', typeOf(one))], reply: senseless },
    {
      name: 'an error in JSON with 200',
      upstream: [answer(200, '{"error":{"message":"No"}}')],
      reply: one.type ? senseless : failed,
    },
    ...(one.type ? [] : broken(one)),
  ]
}

const at = useServer()

describe.each(cases)('$name', (one) => {
  it.each(faults(one))('after $name', async ({ upstream, reply }) => {
    at.upstream.script = upstream
    expectError(await ask(at.server, one), reply)
    expect(at.upstream.requests).toBe(1)
  })

  it.each([
    { name: 'in one piece', upstream: [answer(200, one.answer, typeOf(one))] },
    { name: 'byte by byte', upstream: bytewise(answer(200, one.answer, typeOf(one))) },
  ])('is complete, though it comes $name', async ({ upstream }) => {
    at.upstream.script = upstream
    const type = one.type ?? 'application/json; charset=utf-8'
    expect(await ask(at.server, one)).toMatchObject({ status: 200, type, body: one.seen, whole: true })
    expect(at.upstream.requests).toBe(1)
  })

  it('times out where the upstream sends nothing', async () => {
    const { upstream, close, ...callee } = await startGateway({ firstEventMs: 400 })
    expectError(await ask(callee, one), late)
    expect(upstream.requests).toBe(1)
    await close()
  })
})

describe('subtitles of OpenAI', () => {
  const vtt = 'WEBVTT\n\n00:00:00.000 --> 00:00:02.500\nGrüße\n\n'
  const heard = { text: 'Grüße', segments: [{ start: 0, end: 2.5, text: ' Grüße' }] }
  const subtitles = (upstream: string): Promise<RawReply> => {
    at.upstream.script = [upstream]
    return ask(at.server, { ...cases[5]!, request: () => requestOf('transcription', { response_format: 'vtt' }) })
  }

  it('are made from the segments', async () => {
    const reply = await subtitles(answer(200, JSON.stringify(heard)))
    expect(reply).toMatchObject({ status: 200, type: 'text/vtt; charset=utf-8', body: vtt, whole: true })
  })

  it.each<[what: string, upstream: string, reply: ErrorReply]>([
    ['200 in HTML', answer(200, html, ['content-type: text/html']), senseless],
    ['a text without segments', answer(200, cases[5]!.answer), senseless],
    ['a document', answer(200, vtt, ['content-type: text/plain']), senseless],
    ['an error in JSON with 200', answer(200, openai(500, 'No')), failed],
  ])('are not %s', async (_, upstream, reply) => {
    expectError(await subtitles(upstream), reply)
    expect(at.upstream.requests).toBe(1)
  })
})

describe('speech that has begun', () => {
  const head = 'HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ntransfer-encoding: chunked\r\n\r\n'

  it.each<[name: string, ...rest: Step[]]>([
    ['a cut', end],
    ['a reset', 20, reset],
  ])('is incomplete after %s, and the client can tell', async (_, ...rest) => {
    at.upstream.script = [head, piece('some audio'), 50, ...rest]
    expect(await ask(at.server, cases[4]!)).toMatchObject({ status: 200, body: 'some audio', whole: false })
    expect(at.upstream.requests).toBe(1)
  })
})

describe('an upstream that cannot be reached', () => {
  let server: Server
  beforeAll(async () => {
    const closed = await rawUpstream()
    await closed.close()
    server = await startServerFor(closed.url)
  })
  afterAll(() => server.stop())

  it.each(cases)('is reported for $name', async (one) => {
    const reply = await ask(server, one)
    if (one.path === paths.images) {
      const message = 'No provider that makes pictures could be reached'
      const body = JSON.stringify({ error: { type: 'upstream_error', message, code: 'upstream_unavailable' } })
      expectError(reply, { status: 503, body })
    } else expectError(reply, { status: 502, body: errors.unreachable })
  })
})
