/** What nobody should send. */
import * as fc from 'fast-check'
import type { Known } from './arbitrary-json.js'

/** A value of a path, a query or a header. */
export type Text = string | Known

/** A body of any bytes. */
export interface JunkBody {
  type: string
  bytes: Uint8Array
}

/** Records as object literals make them, which reports show best. */
export const record = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }): fc.Arbitrary<T> =>
  fc.record<T>(fields, { noNullPrototype: true })

/** Two kinds of values, of which failures are told with the usual one where it fails as well. */
export const often = <T>(weight: number, usual: fc.Arbitrary<T>, seldom: fc.Arbitrary<T>): fc.Arbitrary<T> =>
  fc.oneof({ withCrossShrink: true }, { weight, arbitrary: usual }, { weight: 1, arbitrary: seldom })

/** Segments of a path that lead nowhere, as they are sent; `.` and `..` are missing, because on Bun the path is another without them. */
export const lost = fc.oneof(
  fc.constantFrom(
    '00000000-0000-7000-8000-00000000ffff',
    '1',
    '%',
    '%00',
    '%ff',
    '%2F',
    'a%2Fb',
    '..%2F..',
    '...',
    '.%00',
    '',
    '%0d%0a',
  ),
  fc.constantFrom(
    '__proto__',
    'constructor',
    '%ed%a0%80',
    '%f0%9f%98%80',
    '"\\<>',
    'x'.repeat(3_000),
    '*',
    '%2A',
    ';a=1',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }).map(encodeURIComponent),
)

export const junkQuery: fc.Arbitrary<[string, Text]> = fc.tuple(
  fc.oneof(fc.constantFrom('limit', 'after', 'deleted', '__proto__', 'from', ''), fc.string({ maxLength: 5 })),
  fc.oneof(
    fc.constantFrom('', '-1', '0', '1e9', '501', 'NaN', '%', '\0', '[]', '2026-01-01'),
    fc.string({ unit: 'binary', maxLength: 20 }),
  ),
)

export const junkHeader: fc.Arbitrary<[string, Text]> = fc.oneof(
  fc.constantFrom<[string, string][]>(
    ['range', 'bytes=0-4'],
    ['range', 'bytes=-0'],
    ['range', 'bytes=9999999-'],
    ['if-none-match', '*'],
    ['if-range', '"x"'],
    ['accept', 'text/event-stream'],
    ['accept', 'nonsense'],
    ['accept-encoding', 'gzip, br'],
    ['content-encoding', 'gzip'],
    ['origin', 'https://elsewhere.example'],
    ['origin', 'null'],
    ['sec-fetch-site', 'cross-site'],
    ['access-control-request-method', 'DELETE'],
    ['cookie', '__Host-session=; __Host-session=x; %'],
    ['x-request-id', 'mine'],
    ['x-http-method-override', 'DELETE'],
    ['last-event-id', '-1'],
    ['x-task-id', 'no id'],
    ['forwarded', 'for="['],
    ['x-forwarded-proto', 'gopher'],
  ),
  fc.tuple(fc.stringMatching(/^x-[a-z]{1,8}$/), fc.string({ unit: 'grapheme-ascii', maxLength: 30 })),
)

export const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND']

/** Types of bodies that no operation takes, or not so. */
export const wrongTypes = fc.constantFrom(
  '',
  'text/plain',
  'application/json; charset=utf-16',
  'application/problem+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=x',
  'json',
)
const junkBytes = fc.oneof(
  fc
    .constantFrom('', '{', 'null', '[]', '"x"', '0', '\ufeff{}', '{}{}', '{"a":}', '--x--', '\0')
    .map((it): Uint8Array => Buffer.from(it)),
  fc.uint8Array({ maxLength: 200 }),
)
export const junkBody = record<JunkBody>({
  type: often(2, wrongTypes, fc.constant('application/json')),
  bytes: junkBytes,
})

export const broken = fc.constantFrom(
  'Bearer',
  'Bearer ',
  'Bearer x',
  'Bearer a.b.c',
  'Bearer gw-0',
  'Basic YTpi',
  'gw-0',
  'Bearer x, Bearer y',
)
