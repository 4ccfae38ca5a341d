import { coded, cut, endpoints, refusal, replied } from './endpoints.js'
import type { Row } from './row.js'
import { failed, images, invalid, jpeg, others, paid, toPng, wrong } from './row.js'

/** What an upstream does, and what the caller is answered. */
export const upstreamCauses: Row[] = [
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
