import type { Provider } from '@turnpike/core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { anthropic } from '../anthropic/index.js'
import { google } from '../google/index.js'
import { openai } from '../openai/index.js'
import type { FakeAnswer } from '../testing/index.js'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '../testing/index.js'
import type { Transport } from '../upstream/transport.js'
import { createRouter } from './router.js'

const never = new AbortController().signal
const duration_ms = expect.any(Number) as number

const families = [
  { id: 'openai', make: openai, fake: fakeOpenAI, path: '/v1/models', invalidKey: 401 },
  { id: 'anthropic', make: anthropic, fake: fakeAnthropic, path: '/v1/models?limit=1000', invalidKey: 401 },
  { id: 'google', make: google, fake: fakeGoogle, path: '/v1beta/models?pageSize=1000', invalidKey: 400 },
]

const json = (status: number, body: unknown = {}): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: typeof body === 'string' ? body : JSON.stringify(body),
})

/** A router with one provider, whose upstream gives this answer; null = it cannot be reached. */
function setUp(given: () => FakeAnswer | null = () => json(200)) {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const transport: Transport = async (request) => {
    const answer = given()
    if (!answer) throw Object.assign(new Error('refused'), { code: 'ECONNREFUSED' })
    return fakeOpenAI({ override: () => answer }).transport(request)
  }
  const provider = openai({ apiKey: 'sk-test-secret', transport })
  const router = createRouter({ providers: [provider], now: () => clock.now })
  const need = { task: 'chat' as const, request: { model: 'gpt-4o' }, expected: () => ({}) }
  return {
    router,
    clock,
    probe: () => router.probe('openai'),
    state: () => router.state().providers[0]!,
    /** Sends a request, which the upstream answers as given. */
    async request() {
      const { targets } = await router.candidates(need)
      const run = () => provider.chat.complete({ model: 'gpt-4o', messages: [] }, { signal: never })
      const { target } = await router.attempt(targets, never, run)
      router.report(target)
    },
  }
}

describe.each(families)('a probe of $id', ({ id, make, fake, path, invalidKey }) => {
  it('asks for the list of models, with the credential', async () => {
    const upstream = fake({ apiKey: 'the key' })
    const router = createRouter({ providers: [make({ apiKey: 'the key', transport: upstream.transport })] })
    expect(await router.probe(id)).toEqual({ duration_ms, status: 200 })
    expect(upstream.requests.map(({ method, path, bytes }) => [method, path, bytes.length])).toEqual([['GET', path, 0]])
  })

  it('fails where the credential is refused', async () => {
    const { transport } = fake({ apiKey: 'another key' })
    const router = createRouter({ providers: [make({ apiKey: 'the key', transport })] })
    const { status, error } = (await router.probe(id))!
    expect([status, error?.failure]).toMatchObject([invalidKey, { credential: true }])
    expect(router.health()).toMatchObject([{ failures: 1, last_failure: 'status' }])
  })
})

describe('a probe', () => {
  it.each([404, 405])('succeeds where there is no list of models: %d', async (status) => {
    const { probe, state } = setUp(() => json(status, { error: { message: 'Not here' } }))
    expect(await probe()).toEqual({ duration_ms, status })
    expect(state()).toMatchObject({ failures: 0 })
  })

  it.each<[what: string, answer: FakeAnswer | null, status: number | null, kind: string]>([
    ['an error', json(500), 500, 'status'],
    ['no connection', null, null, 'unavailable'],
    ['a page', json(200, '<html></html>'), null, 'malformed'],
    ['a redirect', json(302), 302, 'status'],
  ])('fails where there is %s, which counts', async (_, answer, status, kind) => {
    const { probe, state } = setUp(() => answer)
    const { error, ...result } = (await probe())!
    expect([result, error?.failure.kind]).toEqual([{ duration_ms, status }, kind])
    expect(state()).toMatchObject({ failures: 1, last_failure: kind })
  })

  it('fails where the account cannot pay, which counts, whatever the status', async () => {
    const { probe, state } = setUp(() => json(429, { error: { message: 'No', code: 'insufficient_quota' } }))
    expect(await probe()).toMatchObject({ status: 429 })
    expect(state()).toMatchObject({ failures: 1, last_failure: 'status' })
  })

  it.each([
    ['it was asked too often', 429],
    ['the question itself is wrong', 400],
  ])('fails where %s, which does not count', async (_, status) => {
    const { probe, state } = setUp(() => json(status, { error: { message: 'No' } }))
    expect(await probe()).toMatchObject({ status, error: { failure: { status } } })
    expect(state()).toMatchObject({ failures: 0, limited: [] })
  })

  it('opens the circuit breaker when it fails often, and lets a request try again when it succeeds', async () => {
    let answer = json(500)
    const { probe, state, request, clock } = setUp(() => answer)
    for (let i = 0; i < 5; i++) await probe()
    expect(state()).toMatchObject({ breaker: 'open', failures: 5, next_try: '2026-01-02T00:00:30.000Z' })
    clock.now += 10_000
    answer = json(200)
    await probe()
    expect(state()).toMatchObject({ breaker: 'half-open', failures: 5, next_try: '2026-01-02T00:00:10.000Z' })
    // The next request decides.
    answer = json(500)
    await expect(request()).rejects.toThrow()
    expect(state()).toMatchObject({ breaker: 'open', next_try: '2026-01-02T00:00:40.000Z' })
    answer = json(200, {
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    })
    await probe()
    await request()
    expect(state()).toMatchObject({ breaker: 'closed', failures: 0, next_try: null })
  })

  it('does not hide failures of requests when it succeeds', async () => {
    let answer = json(500)
    const { probe, state, request } = setUp(() => answer)
    await request().catch(() => undefined)
    answer = json(200)
    await probe()
    expect(state()).toMatchObject({ breaker: 'closed', failures: 1, last_failure: 'status' })
  })

  it('asks each instance, and tells of the first that failed', async () => {
    const asked: string[] = []
    const instance = (host: string, status: number) =>
      openai({
        apiKey: 'sk-test',
        baseURL: `https://${host}/v1`,
        transport: (request) => (
          asked.push(request.url),
          fakeOpenAI({ override: () => json(status) }).transport(request)
        ),
      })
    const router = createRouter({ providers: [instance('a', 200), instance('b', 503), instance('c', 500)] })
    expect(await router.probe('openai')).toMatchObject({ status: 503, error: { failure: { status: 503 } } })
    expect(asked).toEqual(['a', 'b', 'c'].map((host) => `https://${host}/v1/models`))
    expect(router.health().map(({ failures }) => failures)).toEqual([0, 1, 1])
  })

  describe('of a silent upstream', () => {
    afterEach(() => vi.useRealTimers())

    it.each<[what: string, Transport]>([
      [
        'that does not answer',
        ({ signal }) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      ],
      [
        'whose answer does not end',
        fakeOpenAI({
          override: () => ({
            ...json(200),
            body: (async function* () {
              yield '{'
              await new Promise(() => undefined)
            })(),
          }),
        }).transport,
      ],
    ])('%s ends after ten seconds', async (_, transport) => {
      vi.useFakeTimers()
      const router = createRouter({ providers: [openai({ apiKey: 'sk-test', transport })] })
      let done = false
      const probing = router.probe('openai').finally(() => (done = true))
      await vi.advanceTimersByTimeAsync(9_999)
      expect(done).toBe(false)
      await vi.advanceTimersByTimeAsync(1)
      expect(await probing).toMatchObject({ status: null, error: { failure: { kind: 'timeout', provider: 'openai' } } })
      expect([router.health()[0], vi.getTimerCount()]).toMatchObject([{ failures: 1, last_failure: 'timeout' }, 0])
    })
  })

  it('is for providers that there are, and that can be asked', async () => {
    const plain: Provider = { id: 'plain', models: async () => [] }
    const broken: Provider = { ...plain, id: 'broken', check: () => Promise.reject(new TypeError('A bug')) }
    const router = createRouter({ providers: [plain, broken] })
    expect(await router.probe('none')).toBeUndefined()
    await expect(router.probe('plain')).rejects.toMatchObject({
      status: 400,
      message: 'The provider "plain" cannot be asked for its models',
    })
    await expect(router.probe('broken')).rejects.toThrow(TypeError)
  })
})
