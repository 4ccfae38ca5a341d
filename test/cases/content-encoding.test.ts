// Longer than 250 lines: each test runs for the same table of families, transports and compressions.
import type { Transport } from '@turnpike/providers'
import { anthropic, createRouter, fetchTransport, google, googleEndpoints, openai } from '@turnpike/providers'
import type { FakeAnswer, FakeRequest } from '@turnpike/providers/testing'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { undiciTransport } from '@turnpike/providers/undici'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { error, errors } from '../faults/wire.js'
import type { CompressingProxy } from '../support/compressing-proxy.js'
import { compressingProxy, compressions } from '../support/compressing-proxy.js'
import { testGateway } from '../support/gateway.js'
import { sample } from '../support/scope.js'
import { joinText, parseStream } from '../support/sse.js'

// Upstreams, or proxies before them, that compress their answers though nobody asked.

/** More than a second of silence in base64. */
const LIMIT = 100_000
const limits = { answer: LIMIT, event: LIMIT }

/** By its name: its fake, its provider, a model of it, and what it says in errors, in whole answers and in streams. */
const families = {
  openai: {
    fake: fakeOpenAI,
    provider: (url: string, transport: Transport) =>
      openai({ apiKey: 'sk-upstream', baseURL: `${url}/v1`, models: [], transport, limits }),
    model: 'gpt-4o',
    refusal: (message: string) => ({ error: { message, type: 'invalid_request_error', param: null, code: null } }),
    event: (text: string, finish_reason: string | null) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion.chunk',
      created: 5,
      model: 'gpt-4o',
      choices: [{ index: 0, delta: { content: text }, finish_reason }],
    }),
  },
  anthropic: {
    fake: fakeAnthropic,
    provider: (url: string, transport: Transport) =>
      anthropic({ apiKey: 'sk-ant-upstream', baseURL: url, models: [], transport, limits }),
    model: 'claude-sonnet-4-5',
    refusal: (message: string) => ({ type: 'error', error: { type: 'invalid_request_error', message } }),
    event: (text: string, end: string | null) =>
      end === null
        ? {
            type: 'message_start',
            message: { id: 'msg_1', model: 'claude', content: [{ type: 'text', text }], usage: { input_tokens: 1 } },
          }
        : { type: 'content_block_start', index: 0, content_block: { type: 'text', text } },
  },
  google: {
    fake: fakeGoogle,
    provider: (url: string, transport: Transport) =>
      google({
        apiKey: 'AIza-upstream',
        baseURL: `${url}/v1beta`,
        models: [],
        transport,
        limits,
        endpoints: googleEndpoints({ audio: true }),
      }),
    model: 'gemini-2.5-flash',
    refusal: (message: string) => ({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }),
    event: (text: string, finishReason: string | null) => ({
      candidates: [{ content: { role: 'model', parts: [{ text }] }, ...(finishReason && { finishReason }) }],
    }),
  },
}

type Family = keyof typeof families
const names = Object.keys(families) as Family[]
const transports = { undici: undiciTransport, fetch: fetchTransport }
const kinds = Object.keys(transports) as (keyof typeof transports)[]
/** In `npm test`, all families over undici. */
const everywhere = sample(
  kinds.flatMap((kind) => names.map((name): [kind: keyof typeof transports, name: Family] => [kind, name])),
  names.length,
)

const proxies: CompressingProxy[] = []
afterEach(() => Promise.all(proxies.splice(0).map((proxy) => proxy.close())))

/** A gateway in front of a compressing proxy in front of a fake of the family, which `override` may answer for. */
async function setUp(
  name: Family,
  kind: keyof typeof transports,
  override?: (request: FakeRequest) => FakeAnswer | undefined,
) {
  const { fake, provider, model } = families[name]
  const proxy = await compressingProxy(fake(override && { override }))
  proxies.push(proxy)
  const router = createRouter({ providers: [provider(proxy.url, transports[kind]())] })
  const at = await testGateway({ router, speechModels: ['tts-1', 'gemini-2.5-flash-preview-tts'] })
  return { ...at, proxy, ask: (fields: object = {}) => at.chat({ model, ...fields }) }
}

const json = (status: number, body: object): FakeAnswer => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
})
const events = (body: FakeAnswer['body']): FakeAnswer => ({
  status: 200,
  headers: { 'content-type': 'text/event-stream' },
  body,
})
const data = (event: object): string => `data: ${JSON.stringify(event)}\n\n`

/** What the innermost cause of the last error that the gateway told of says. */
function lastCause(all: unknown[]): string {
  let last = all.at(-1) as Error
  while (last.cause instanceof Error) last = last.cause
  return last.message
}

const said = 'This is a simulated answer. You said: Hi'

describe.each(everywhere)('%s, %s', (kind, name) => {
  it.each(Object.keys(compressions))('decodes %s, whole and streamed', async (what) => {
    const { ask, proxy, records } = await setUp(name, kind)
    proxy.compression = compressions[what]!
    const whole = await ask()
    const stream = await ask({ stream: true })
    if (kind === 'fetch' && what === 'gzip, br') {
      // Bun's `fetch` does not decode it, so over `fetch` it is refused everywhere.
      expect(await whole.text()).toBe(unknown('gzip, br'))
      expect(await stream.text()).toBe(unknown('gzip, br'))
      return
    }
    expect([whole.status, stream.status]).toEqual([200, 200])
    expect(await whole.json()).toMatchObject({ choices: [{ message: { content: said }, finish_reason: 'stop' }] })
    const seen = parseStream(await stream.text())
    expect(joinText(seen)).toBe(said)
    expect(seen.at(-1)).toEqual({ type: 'done' })
    expect(await records()).toMatchObject([{ accuracy: 'reported' }, { accuracy: 'reported' }])
    expect(proxy.asked).toEqual(['identity', 'identity'])
  })

  it('refuses an encoding that it does not know, by its name', async () => {
    const { ask, proxy, records } = await setUp(name, kind)
    for (const encoding of ['zstd', 'gzip, compress']) {
      proxy.compression = { encoding, steps: [] }
      for (const fields of [{}, { stream: true }]) {
        const response = await ask(fields)
        expect([response.status, response.headers.get('x-should-retry')]).toEqual([502, 'false'])
        expect(await response.text()).toBe(unknown(encoding))
      }
    }
    expect(await records()).toEqual([])
  })

  it('reads errors, as far as they are of some use', async () => {
    let message = 'The context is too long'
    const { ask } = await setUp(name, kind, () => json(400, families[name].refusal(message)))
    for (const fields of [{}, { stream: true }]) {
      const response = await ask(fields)
      expect([response.status, await response.text()]).toEqual([
        400,
        error('invalid_request_error', 'invalid_body', message),
      ])
    }
    // A few hundred bytes before they are inflated, and more than are read after.
    message = 'x'.repeat(200_000)
    expect(await (await ask()).text()).not.toContain(message)
  })

  it('fails where an answer ends within its encoding, in good order', async () => {
    const { ask, proxy } = await setUp(name, kind)
    for (const compression of Object.values(compressions)) {
      if (kind === 'fetch' && compression.steps.length > 1) continue
      Object.assign(proxy, { compression, cut: 60 })
      const whole = await ask()
      expect(whole.status).toBe(502)
      expect([errors.truncated, ...(kind === 'fetch' ? [errors.senseless] : [])]).toContain(await whole.text())
      const stream = await ask({ stream: true })
      if (stream.status === 200)
        expect(parseStream(await stream.text()).at(-1)).toMatchObject({
          type: 'error',
          error: { code: 'upstream_truncated' },
        })
      else expect(stream.status).toBe(502)
    }
  })

  it('counts the bytes of a whole answer after they are inflated', async () => {
    const { ask, errors: told } = await setUp(name, kind, () => json(200, { filler: 'x'.repeat(10 * LIMIT) }))
    const response = await ask()
    expect([response.status, await response.text()]).toEqual([502, errors.senseless])
    expect(lastCause(told)).toBe(`The answer is larger than ${LIMIT} bytes`)
  })

  it('counts the characters of an event after they are inflated', async () => {
    const filler = 'x'.repeat(10 * LIMIT)
    const { ask, errors: told } = await setUp(name, kind, () => events(data({ filler })))
    const response = await ask({ stream: true })
    expect([response.status, await response.text()]).toEqual([502, errors.senseless])
    expect(lastCause(told)).toBe(`An event is larger than ${LIMIT} characters`)
  })

  it('gives each event of a stream as it was flushed, and leaves the upstream with its client', async () => {
    for (const what of [
      'gzip',
      'deflate',
      'deflate without a header',
      'br',
      ...(kind === 'undici' ? ['gzip, br'] : []),
    ]) {
      const { event } = families[name]
      let sendNext!: () => void
      const next = new Promise<void>((resolve) => (sendNext = resolve))
      const { ask, proxy } = await setUp(name, kind, () =>
        events(
          (async function* () {
            yield data(event('One', null))
            await next
            yield data(event('Two', name === 'openai' ? null : 'STOP'))
            await new Promise(() => undefined)
          })(),
        ),
      )
      proxy.compression = compressions[what]!
      const response = await ask({ stream: true })
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader()
      let seen = ''
      const until = async (text: string): Promise<void> => {
        while (!seen.includes(text)) {
          const { done, value } = await reader.read()
          if (done) throw new Error(`The stream ended: ${seen}`)
          seen += value
        }
      }
      await until('"One"')
      expect(seen).not.toContain('"Two"')
      sendNext()
      await until('"Two"')
      await reader.cancel()
      await vi.waitFor(() => expect(proxy.open).toBe(0), { timeout: 10_000 })
    }
  })
})

const unknown = (encoding: string): string =>
  error('upstream_error', 'upstream_error', `The upstream provider used an unknown content encoding: ${encoding}`)

describe.each(kinds)('%s: other endpoints', (kind) => {
  it.each([
    ['openai', '/v1/embeddings', { model: 'text-embedding-3-small', input: 'Hi', dimensions: 8 }],
    ['google', '/v1/embeddings', { model: 'gemini-embedding-001', input: 'Hi', dimensions: 8 }],
    ['openai', '/v1/images/generations', { model: 'gpt-image-2', prompt: 'Hi' }],
    ['google', '/v1/images/generations', { model: 'gemini-2.5-flash-image', prompt: 'Hi' }],
    ['openai', '/v1/audio/speech', { model: 'tts-1', input: 'Hi', voice: 'nova' }],
    [
      'google',
      '/v1/audio/speech',
      { model: 'gemini-2.5-flash-preview-tts', input: 'Hi', voice: 'nova', response_format: 'wav' },
    ],
  ] as const)('%s %s decodes, and counts what is inflated', async (name, path, body) => {
    let size = 0
    const filler = (): FakeAnswer | undefined =>
      size === 0
        ? undefined
        : path.endsWith('speech') && name === 'openai'
          ? { status: 200, headers: { 'content-type': 'audio/mpeg' }, body: new Uint8Array(size) }
          : json(200, { filler: 'x'.repeat(size) })
    const { send, proxy, errors: told } = await setUp(name, kind, filler)
    const response = await send('POST', path, body)
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([response.status, bytes.length > 0]).toEqual([200, true])
    expect(response.headers.get('content-encoding')).toBeNull()
    if (response.headers.get('content-type')!.includes('json')) expect(() => JSON.parse(bytes.toString())).not.toThrow()

    size = 20 * LIMIT
    const large = await send('POST', path, body)
    await large.arrayBuffer().catch(() => undefined)
    expect(lastCause(told)).toBe(`The answer is larger than ${LIMIT} bytes`)

    size = 0
    proxy.compression = { encoding: 'zstd', steps: [] }
    expect(await (await send('POST', path, body)).text()).toContain('unknown content encoding: zstd')
  })
})
