import { anthropic, createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeAnthropic } from '@turnpike/providers/testing'
import { grayJpeg, pngOf } from '../../packages/providers/src/testing/pictures.js'
import type { TestOptions } from '../support/gateway.js'
import type { Endpoint } from './endpoints.js'
import { endpoints, replied, requestOf } from './endpoints.js'

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

export const json = endpoints.filter((endpoint) => endpoint !== 'transcription')
export const form: Endpoint[] = ['transcription']
export const images: Endpoint[] = ['images']
export const others = endpoints.filter((endpoint) => endpoint !== 'images')

export const invalid = (code: string): Row['expected'] => [400, 'invalid_request_error', code]
export const wrong = invalid('invalid_body')
export const unknownKey: Row['expected'] = [401, 'authentication_error', 'invalid_api_key']
export const failed = (code = 'upstream_error'): Row['expected'] => [502, 'upstream_error', code]
export const paid = { 'x-should-retry': 'false' }

/** A valid request with these fields replaced. */
export const having = (fields: object) => (endpoint: Endpoint) => requestOf(endpoint, fields)

/** Rows for fields that an endpoint refuses; by default with 400 `invalid_body`. */
export const refused = (at: Endpoint, rows: object[], expected: Row['expected'] = wrong): Row[] =>
  rows.map((fields) => ({ cause: `${brief(fields)} is refused`, at: [at], request: having(fields), expected }))

/** Rows for fields that an endpoint accepts. */
export const taken = (at: Endpoint, rows: object[]): Row[] =>
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

export const many = (count: number): string[] => Array.from({ length: count }, () => 'a')
export const smiles = (count: number): string => '😀'.repeat(count)
const claude = () => anthropic({ apiKey: 'sk-ant', transport: fakeAnthropic().transport })
/** A router without any provider but Claude, which only chats. */
export const claudeOnly = (): TestOptions => ({ router: createRouter({ providers: [claude()] }) })

/** A router of which no provider is the only one, that would be asked for any model. */
export const twoProviders = (): TestOptions => ({
  router: createRouter({ providers: ['openai', 'second'].map((id) => openai({ id, apiKey: 'any' })) }),
})

export const jpeg = () => replied(200, { created: 5, data: [{ b64_json: grayJpeg }] })
export const toPng = async () => Uint8Array.from(atob(pngOf('x')), (character) => character.charCodeAt(0))
