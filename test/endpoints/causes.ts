import { createRouter, anthropic } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeAnthropic } from '@turnpike/providers/testing'
import { grayJpeg, pngOf } from '../../packages/providers/src/testing/pictures.js'
import type { TestOptions } from '../support/gateway.js'
import type { Endpoint } from './endpoints.js'
import { audio, coded, cut, endpoints, refusal, replied, requestOf } from './endpoints.js'

/** A cause at some endpoints and the expected response. */
export interface Row {
  cause: string
  at: Endpoint[]
  /** What is sent to an endpoint; default its valid request. */
  request?: ((endpoint: Endpoint) => string | object) | undefined
  init?: RequestInit
  method?: string
  options?: TestOptions
  /** What happens at the gateway before the request. */
  before?: 'a request' | 'a revocation' | 'a lost record'
  /** The upstream's answer; default the fake's answer to the request. */
  upstream?: () => FakeAnswer
  /** Status, type and code; for a success the status alone. */
  expected: [status: number, type?: string, code?: string]
  /** Expected further headers. */
  headers?: Record<string, string>
  /** Expected upstream calls; default 0. */
  calls?: number
  /** Expected usage records; default 1 for a success, else 0. */
  records?: number
}

const json = endpoints.filter((endpoint) => endpoint !== 'transcription')
const form: Endpoint[] = ['transcription']
const images: Endpoint[] = ['images']
const others = endpoints.filter((endpoint) => endpoint !== 'images')

const invalid = (code: string): Row['expected'] => [400, 'invalid_request_error', code]
const wrong = invalid('invalid_body')
const unknownKey: Row['expected'] = [401, 'authentication_error', 'invalid_api_key']
const failed = (code = 'upstream_error'): Row['expected'] => [502, 'upstream_error', code]
const paid = { 'x-should-retry': 'false' }

/** A valid request with these fields replaced. */
const having = (fields: object) => (endpoint: Endpoint) => requestOf(endpoint, fields)

/** Rows for fields that an endpoint refuses; by default with 400 `invalid_body`. */
const refused = (at: Endpoint, rows: object[], expected: Row['expected'] = wrong): Row[] =>
  rows.map((fields) => ({ cause: `${brief(fields)} is refused`, at: [at], request: having(fields), expected }))

/** Rows for fields that an endpoint accepts. */
const taken = (at: Endpoint, rows: object[]): Row[] =>
  rows.map((fields) => ({
    cause: `${brief(fields)} is taken`,
    at: [at],
    request: having(fields),
    expected: [200],
    calls: 1,
  }))

const brief = (fields: object): string =>
  Object.entries(fields)
    .map(([name, value]) => `${name} ${value === undefined ? 'missing' : (JSON.stringify(value) ?? '').slice(0, 30)}`)
    .join(', ')

const many = (count: number): string[] => Array.from({ length: count }, () => 'a')
const smiles = (count: number): string => '😀'.repeat(count)
const claude = () => anthropic({ apiKey: 'sk-ant', transport: fakeAnthropic().transport })
/** A router without any provider but Claude, which only chats. */
const claudeOnly = (): TestOptions => ({ router: createRouter({ providers: [claude()] }) })

const jpeg = () => replied(200, { created: 5, data: [{ b64_json: grayJpeg }] })
const toPng = async () => Uint8Array.from(atob(pngOf('x')), (character) => character.charCodeAt(0))

/** Every cause of every status. */
export const rows: Row[] = [
  { cause: 'a valid request', at: endpoints, expected: [200], calls: 1 },

  { cause: 'no key', at: endpoints, init: { headers: { authorization: '' } }, expected: unknownKey },
  {
    cause: 'a key that is none',
    at: endpoints,
    init: { headers: { authorization: 'Bearer gw-x' } },
    expected: unknownKey,
  },
  { cause: 'another scheme', at: endpoints, init: { headers: { authorization: 'Basic gw-x' } }, expected: unknownKey },
  { cause: 'a revoked key', at: endpoints, before: 'a revocation', expected: unknownKey },
  {
    cause: 'more requests than the key has',
    at: endpoints,
    options: { rateLimit: 1 },
    before: 'a request',
    expected: [429, 'rate_limit_error', 'rate_limit_exceeded'],
    headers: { 'retry-after': '60' },
  },
  {
    cause: 'another method',
    at: endpoints,
    method: 'GET',
    request: undefined,
    expected: [405, 'method_not_allowed', 'method_not_allowed'],
    headers: { allow: 'POST, OPTIONS' },
  },

  { cause: 'JSON that is cut', at: json, request: () => '{"model":', expected: invalid('invalid_json') },
  { cause: 'no body', at: json, request: () => '', expected: invalid('invalid_json') },
  { cause: 'a list', at: json, request: () => '[]', expected: wrong },
  { cause: 'a text type', at: json, init: { headers: { 'content-type': 'text/plain' } }, expected: wrong },
  { cause: 'JSON for a form', at: form, request: () => '{"model":"whisper-1"}', expected: wrong },
  {
    cause: 'a form without a boundary',
    at: form,
    request: () => '--x\r\n',
    init: { headers: { 'content-type': 'multipart/form-data' } },
    expected: wrong,
  },
  {
    cause: 'a form that is cut',
    at: form,
    request: () => '--x\r\nContent-Disposition: form-data; name="file"; filename="a.mp3"\r\n\r\naud',
    init: { headers: { 'content-type': 'multipart/form-data; boundary=x' } },
    expected: wrong,
  },
  {
    cause: 'more than the body limit',
    at: json,
    options: { bodyLimit: 10 },
    expected: [413, 'invalid_request_error', 'request_too_large'],
  },
  { cause: 'more than the audio limit', at: form, options: { audioLimit: 4 }, expected: invalid('request_too_large') },
  { cause: 'no more than the audio limit', at: form, options: { audioLimit: 5 }, expected: [200], calls: 1 },

  ...endpoints.flatMap((at) => refused(at, [{ model: undefined }].slice(at === 'images' ? 1 : 0))),
  ...refused('chat', [{ messages: undefined }, { messages: 'Hi' }, { messages: [] }, { n: '1' }, { stream: 'true' }]),
  ...refused('chat', [{ n: 0 }, { n: 129 }, { n: 1.5 }, { temperature: -0.1 }, { temperature: 2.1 }]),
  ...refused('chat', [{ top_p: -0.1 }, { top_p: 1.1 }, { max_tokens: 0 }, { stop: 1 }]),
  ...taken('chat', [{ n: 1 }, { n: 128 }, { temperature: 0 }, { temperature: 2 }, { top_p: 0 }, { top_p: 1 }]),
  ...refused('embeddings', [{ input: undefined }, { input: 1 }, { input: '' }, { input: [] }, { input: ['a', ''] }]),
  ...refused('embeddings', [{ input: ['a', 1] }, { input: many(2049) }, { dimensions: '5' }, { dimensions: 1.5 }]),
  ...refused('embeddings', [{ dimensions: 0 }, { dimensions: 3073 }, { encoding_format: 'hex' }]),
  ...taken('embeddings', [{ dimensions: 1 }, { input: many(2048), dimensions: 1 }, { encoding_format: 'base64' }]),
  ...taken('embeddings', [{ model: 'text-embedding-3-large', dimensions: 3072 }, { input: [1, 2] }]),
  ...refused('images', [{ prompt: undefined }, { prompt: 1 }, { prompt: '' }, { n: '1' }, { n: 0 }, { n: 11 }]),
  ...refused('images', [{ size: '1x1' }, { quality: 'low' }, { style: 'odd' }, { response_format: 'png' }]),
  ...refused('images', [{ stream: true }], invalid('unsupported_parameter')),
  ...taken('images', [{ n: 1 }, { n: 10 }, { size: '256x256' }, { size: '1792x1024' }, { model: undefined }]),
  ...refused('speech', [{ input: undefined }, { input: 1 }, { input: '' }, { voice: 'nobody' }, { voice: 1 }]),
  ...refused('speech', [{ input: smiles(4097) }, { speed: '1' }, { speed: 0.249 }, { speed: 4.001 }]),
  ...refused('speech', [{ response_format: 'pcm' }]),
  ...refused('speech', [{ stream_format: 'sse' }], invalid('unsupported_parameter')),
  ...taken('speech', [{ input: smiles(4096) }, { speed: 0.25 }, { speed: 4 }, { voice: undefined }]),
  ...refused('transcription', [{ file: undefined }, { file: 'text' }, { file: audio('talk.ogg') }]),
  ...refused('transcription', [{ file: audio('talk.mp3', '') }, { other: audio('b.mp3') }, { language: 'eng' }]),
  ...refused('transcription', [{ file: audio('talk', 'audio', 'constructor') }, { file: audio('talk.__proto__') }]),
  ...refused('transcription', [{ language: 'EN' }, { response_format: 'xml' }, { model: ['whisper-1', 'whisper-1'] }]),
  ...refused('transcription', [{ stream: 'true' }], invalid('unsupported_parameter')),
  ...taken('transcription', [
    { language: 'en' },
    { file: audio('talk.WAV') },
    { file: audio('talk', 'audio', 'audio/webm;codecs=opus') },
  ]),

  ...endpoints.flatMap((at) => [
    ...refused(at, [{ model: 'unknown' }, { model: 'claude-x' }, { model: 'other/x' }], invalid('model_not_found')),
    ...refused(at, [{ provider: 'unknown' }, { provider: 'google' }]),
    ...taken(at, [{ provider: 'openai' }, { provider: 'auto' }]),
  ]),
  {
    cause: 'a model that the named provider lacks',
    at: endpoints.filter((endpoint) => endpoint !== 'chat'),
    request: having({ provider: 'anthropic' }),
    options: claudeOnly(),
    expected: invalid('model_not_found'),
  },
  {
    cause: 'no provider that draws',
    at: images,
    request: having({ model: undefined }),
    options: claudeOnly(),
    expected: [503, 'upstream_error', 'upstream_unavailable'],
  },

  {
    cause: 'a broken ledger',
    at: endpoints,
    before: 'a lost record',
    expected: [500, 'server_error', 'ledger_unavailable'],
  },

  {
    cause: 'an upstream 400',
    at: endpoints,
    upstream: () => replied(400, refusal('Too long')),
    expected: wrong,
    calls: 1,
  },
  {
    cause: 'an upstream 401',
    at: endpoints,
    upstream: () => replied(401, refusal('Key')),
    expected: failed(),
    calls: 1,
  },
  {
    cause: 'an upstream 404',
    at: endpoints,
    upstream: () => replied(404, refusal('No such model', 'model_not_found')),
    expected: invalid('model_not_found'),
    calls: 1,
  },
  {
    cause: 'an upstream 404 in HTML',
    at: endpoints,
    upstream: () => replied(404, '<html>', 'text/html'),
    expected: failed(),
    calls: 1,
  },
  {
    cause: 'an upstream 429',
    at: endpoints,
    upstream: () => replied(429, refusal('Slow'), undefined, { 'retry-after': '7' }),
    expected: [429, 'rate_limit_error', 'rate_limit_exceeded'],
    headers: { 'retry-after': '7' },
    calls: 1,
  },
  {
    cause: 'an upstream 500',
    at: endpoints,
    upstream: () => replied(500, refusal('Ill')),
    expected: failed(),
    calls: 1,
  },
  {
    cause: 'an upstream 529',
    at: endpoints,
    upstream: () => replied(529, refusal('Busy')),
    expected: failed(),
    calls: 1,
  },
  {
    cause: 'an upstream 502 in HTML',
    at: endpoints,
    upstream: () => replied(502, '<html>', 'text/html'),
    expected: failed(),
    calls: 1,
  },
  {
    cause: 'an HTML page',
    at: endpoints,
    upstream: () => replied(200, '<html>', 'text/html'),
    expected: failed(),
    calls: 1,
    headers: paid,
  },
  {
    cause: 'invalid JSON',
    at: endpoints,
    upstream: () => replied(200, '{"a":'),
    expected: failed(),
    calls: 1,
    headers: paid,
  },
  {
    cause: 'an answer that is empty',
    at: endpoints,
    upstream: () => replied(200, '', 'audio/mpeg'),
    expected: failed(),
    calls: 1,
    headers: paid,
  },
  {
    cause: 'an answer that is cut',
    at: endpoints,
    upstream: () => cut('audio/mpeg'),
    expected: failed('upstream_truncated'),
    calls: 1,
    headers: paid,
  },
  {
    cause: 'a connection that breaks before the answer',
    at: endpoints,
    upstream() {
      throw coded('ECONNRESET')
    },
    expected: failed('upstream_unavailable'),
    calls: 1,
    headers: paid,
  },
  {
    cause: 'a connection that is refused',
    at: others,
    upstream() {
      throw coded('ECONNREFUSED')
    },
    expected: failed('upstream_unavailable'),
    calls: 1,
  },
  {
    cause: 'a connection that is refused',
    at: images,
    upstream() {
      throw coded('ECONNREFUSED')
    },
    expected: [503, 'upstream_error', 'upstream_unavailable'],
    calls: 1,
  },
  { cause: 'a JPEG', at: images, upstream: jpeg, expected: failed(), calls: 1, records: 1, headers: paid },
  { cause: 'a JPEG and a converter', at: images, upstream: jpeg, options: { toPng }, expected: [200], calls: 1 },
  {
    cause: 'a JPEG that the converter cannot read',
    at: images,
    upstream: jpeg,
    options: { toPng: () => Promise.reject(new Error('No JPEG')) },
    expected: failed(),
    calls: 1,
    records: 1,
    headers: paid,
  },
]
