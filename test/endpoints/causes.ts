import { audio, endpoints } from './endpoints.js'
import type { Row } from './row.js'
import {
  claudeOnly,
  form,
  having,
  images,
  invalid,
  json,
  many,
  refused,
  smiles,
  taken,
  twoProviders,
  unknownKey,
  wrong,
} from './row.js'
import { upstreamCauses } from './upstream-causes.js'

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
  ...refused('images', [{ size: '1x1' }, { quality: 'odd' }, { style: 'odd' }, { response_format: 'png' }]),
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
    ...refused(at, [{ model: 'unknown' }, { model: 'claude-x' }, { model: 'other/x' }], invalid('model_not_found')).map(
      (row) => ({ ...row, options: twoProviders() }),
    ),
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
    headers: { 'retry-after': '2' },
  },

  ...upstreamCauses,
]
