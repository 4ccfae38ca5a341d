import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { Fault } from '../../../test/support/client.js'
import { failure, signedInClient } from '../../../test/support/client.js'
import type { Client, ClientOptions } from './index.js'

const refused = (status: number, retryAfter?: string): Fault => {
  return () =>
    Response.json({ error: 'Later' }, { status, ...(retryAfter && { headers: { 'retry-after': retryAfter } }) })
}
const broken: Fault = () => new TypeError('fetch failed')

const params = { id: 'x' }
const chat = { model: 'gpt-4o', messages: [{ role: 'user' as const, content: 'Hi' }] }

/** Reads a stream to its end. */
async function drain(events: AsyncIterable<unknown>): Promise<void> {
  for await (const event of events) void event
}

/** A request of each kind. */
const requests: Record<string, (turnpike: Client, signal?: AbortSignal) => Promise<unknown>> = {
  GET: (turnpike, signal) => turnpike.get('/api/account', { signal }),
  POST: (turnpike) => turnpike.post('/api/projects', { body: { name: 'Website' } }),
  PATCH: (turnpike) => turnpike.patch('/api/projects/{id}', { params, body: { name: 'Website' } }),
  DELETE: (turnpike) => turnpike.delete('/api/projects/{id}', { params }),
  upload: (turnpike) => turnpike.upload(new Blob(['Hello'])),
}
const generations: typeof requests = {
  'a message': (turnpike) =>
    drain(turnpike.stream('/api/projects/{id}/conversation/messages', { params, body: { text: 'Hi' } })),
  'a message without a reply': (turnpike) =>
    turnpike.post('/api/projects/{id}/conversation/messages', { params, body: { text: 'Hi' } }),
  'a reply': (turnpike) => drain(turnpike.stream('/api/projects/{id}/conversation/reply', { params })),
  'a completion': (turnpike) => turnpike.post('/api/gateway/v1/chat/completions', { body: chat }),
  'a streamed completion': (turnpike) => drain(turnpike.stream('/api/gateway/v1/chat/completions', { body: chat })),
  models: (turnpike) => turnpike.get('/api/gateway/v1/models'),
}

/** How often a request was sent that is answered by faults only, and the seconds that it waited. */
async function attempts(fault: Fault, ask: (turnpike: Client) => Promise<unknown>, options: ClientOptions = {}) {
  const { turnpike, faults, sent } = await signedInClient(options)
  faults.push(fault)
  vi.useFakeTimers()
  const begun = Date.now()
  const failed = failure(ask(turnpike))
  await vi.runAllTimersAsync()
  await failed
  return { times: sent.length, seconds: (Date.now() - begun) / 1_000 }
}

beforeEach(() => vi.useRealTimers())
afterEach(() => vi.useRealTimers())

describe('a request that was refused with Retry-After', () => {
  it.each(Object.keys(requests).flatMap((name) => [429, 503].map((status) => [name, status] as const)))(
    '%s is sent again twice after %i',
    async (name, status) => {
      expect(await attempts(refused(status, '5'), requests[name]!)).toEqual({ times: 3, seconds: 10 })
    },
  )

  it.each(Object.keys(generations).flatMap((name) => [429, 503].map((status) => [name, status] as const)))(
    '%s is not sent again after %i',
    async (name, status) => {
      expect(await attempts(refused(status, '0'), generations[name]!)).toEqual({ times: 1, seconds: 0 })
    },
  )

  it('is not sent again where it has to wait for more than 30 seconds', async () => {
    expect(await attempts(refused(429, '30'), requests['GET']!)).toEqual({ times: 3, seconds: 60 })
    expect(await attempts(refused(429, '31'), requests['GET']!)).toEqual({ times: 1, seconds: 0 })
    expect(await attempts(refused(429, '5'), requests['GET']!, { maxRetryAfter: 4 })).toEqual({ times: 1, seconds: 0 })
  })

  it('succeeds when the platform is ready', async () => {
    const { turnpike, faults, sent } = await signedInClient()
    let busy = true
    faults.push((request) => (busy ? ((busy = false), refused(503, '0')(request)) : undefined))
    expect(await turnpike.post('/api/projects', { body: { name: 'Website' } })).toMatchObject({ name: 'Website' })
    expect(sent).toEqual(['POST /api/projects', 'POST /api/projects'])
    expect(await turnpike.list('/api/projects')).toMatchObject({ items: [{ name: 'Website' }] })
  })

  it('waits no longer when it is aborted', async () => {
    const { turnpike, faults, sent } = await signedInClient()
    faults.push(refused(429, '20'))
    vi.useFakeTimers()
    const controller = new AbortController()
    const failed = failure(requests['GET']!(turnpike, controller.signal))
    await vi.advanceTimersByTimeAsync(10_000)
    controller.abort(new Error('No longer needed'))
    expect(await failed).toEqual(new Error('No longer needed'))
    expect([sent.length, vi.getTimerCount()]).toEqual([1, 0])
  })
})

describe('a request that may have been processed', () => {
  const faults = { 'a broken connection': broken, 502: refused(502), 503: refused(503), 504: refused(504) }
  const unsafe = { ...requests, ...generations }
  delete unsafe['GET']

  it.each(Object.entries(faults))('GET is sent again twice after %s', async (_, fault) => {
    expect(await attempts(fault, requests['GET']!)).toEqual({ times: 3, seconds: 1.5 })
  })

  it.each(Object.keys(faults).flatMap((fault) => Object.keys(unsafe).map((name) => [fault, name] as const)))(
    'after %s, %s is not sent again',
    async (fault, name) => {
      expect(await attempts(faults[fault as keyof typeof faults], unsafe[name]!)).toEqual({ times: 1, seconds: 0 })
    },
  )

  it('GET is not sent again after other errors, or with retries: 0', async () => {
    for (const status of [400, 403, 404, 429, 500])
      expect(await attempts(refused(status), requests['GET']!)).toEqual({ times: 1, seconds: 0 })
    expect(await attempts(broken, requests['GET']!, { retries: 0 })).toEqual({ times: 1, seconds: 0 })
  })
})
