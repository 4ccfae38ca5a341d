import type { ApiError } from '@turnpike/core'
import { createUser } from '@turnpike/core'
import { describe, expect, it, vi } from 'vitest'
import { chunk, errorOf, OWNER, streamed, testGateway } from '../../../../test/support/gateway.js'
import { admission } from './admission.js'
import type { UserCaller } from '../caller.js'

const full = { type: 'server_error', code: 'overloaded', message: 'The gateway is overloaded; try again later' }

/** A gateway whose streams stay open until they are told to end. */
async function setUp(options: Parameters<typeof testGateway>[0] = {}) {
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => (end = resolve))
  const at = await testGateway({
    upstream: ({ body }) =>
      (body as { stream?: boolean }).stream ? streamed(chunk('Hi'), ended, chunk('', 'stop'), '[DONE]') : undefined,
    ...options,
  })
  const other = (await at.gateway.keys.create(OWNER, { name: 'other' })).key
  const guest = await createUser(at.kv, {})
  /** A key of another user. */
  const strange = (await at.gateway.keys.create(guest.id, { name: 'strange' })).key
  const open = (key = at.key) => at.chat({ stream: true }, { headers: { authorization: `Bearer ${key}` } })
  /** Opens streams until one is refused. @returns how many there are */
  const fill = async (key?: string): Promise<number> => {
    for (let count = 0; ; count++) if ((await open(key)).status !== 200) return count
  }
  return { ...at, other, strange, open, fill, end }
}

describe('concurrent requests', () => {
  it('above the limit are refused before their body is read, and admitted when there is room', async () => {
    const { open, send, fill, end, upstream } = await setUp({ maxInFlight: 2 })
    const streams = [await open(), await open()]
    const response = await send('POST', '/v1/chat/completions', 'no JSON')
    expect([response.status, response.headers.get('retry-after'), await errorOf(response)]).toEqual([503, '1', full])
    expect(upstream.requests).toHaveLength(2)
    end()
    for (const stream of streams) expect(await stream.text()).toMatch(/data: \[DONE\]\n\n$/)
    expect(await fill()).toBe(2)
  })

  it('are counted only for routes that need a key', async () => {
    const { send, fill } = await setUp({ maxInFlight: 1 })
    expect(await fill()).toBe(1)
    const get = async (path: string) => (await send('GET', path)).status
    // The key of the test is no administrator's.
    expect([await get('/health'), await get('/'), await get('/health/providers')]).toEqual([200, 200, 403])
    expect([await get('/v1/models'), await get('/v1/nothing')]).toEqual([503, 404])
    expect((await send('GET', '/v1/models', undefined, { headers: { authorization: '' } })).status).toBe(401)
  })

  it('leave the last fifth to keys below their fair share', async () => {
    const { strange, fill, gateway } = await setUp({ maxInFlight: 10 })
    expect(await fill()).toBe(8)
    expect(await fill(strange)).toBe(2)
    const third = (await gateway.keys.create(OWNER, { name: 'third' })).key
    expect(await fill(third)).toBe(0)
  })

  it('leave the last tenth to users below their fair share, whatever keys others have', async () => {
    const { other, strange, fill, gateway } = await setUp({ maxInFlight: 20 })
    expect([await fill(), await fill(other)]).toEqual([16, 2])
    for (const name of ['third', 'fourth']) expect(await fill((await gateway.keys.create(OWNER, { name })).key)).toBe(0)
    expect(await fill(strange)).toBe(2)
  })

  it('of keys below their fair share are admitted as soon as there is room', async () => {
    const { key, strange, open, fill } = await setUp({ maxInFlight: 10 })
    const streams = [await open(), await open()]
    expect([await fill(), await fill(strange)]).toEqual([6, 2])
    for (const stream of streams) await stream.body!.cancel()
    // The first has 6 and the other 2 of a share of 10/3.
    expect(await fill(strange)).toBe(2)
    expect(await fill(key)).toBe(0)
  })
})

describe('Retry-After of refused requests', () => {
  /** The Retry-After of so many refusals, by how often it was told. */
  const refusals = async ({ gateway, send }: Awaited<ReturnType<typeof setUp>>, count: number) => {
    const { key } = await gateway.keys.create(OWNER, { name: 'crowd', rateLimit: 1e9 })
    const headers = { authorization: `Bearer ${key}` }
    const told = new Map<number, number>()
    for (let i = 0; i < count; i++) {
      const seconds = Number((await send('GET', '/v1/models', undefined, { headers })).headers.get('retry-after'))
      told.set(seconds, (told.get(seconds) ?? 0) + 1)
    }
    return [...told]
  }

  it('is spread over 1,000 requests a second', async () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(5_000)
    try {
      const at = await setUp({ maxInFlight: 1 })
      await at.open()
      expect(await refusals(at, 2_500)).toEqual([
        [1, 1_000],
        [2, 1_000],
        [3, 500],
      ])
      clock.mockReturnValue(7_000)
      expect(await refusals(at, 501)).toEqual([
        [1, 500],
        [2, 1],
      ])
      clock.mockReturnValue(60_000)
      expect(await refusals(at, 1)).toEqual([[1, 1]])
    } finally {
      clock.mockRestore()
    }
  })

  it('is at most 30 seconds', () => {
    const clock = vi.spyOn(performance, 'now').mockReturnValue(5_000)
    try {
      const admit = admission({ maxInFlight: 0 })
      const crowd = { key: { id: 'crowd' }, user: { id: 'ada' } } as UserCaller
      const told = Array.from({ length: 32_000 }, () => {
        try {
          return admit(crowd, 'key')
        } catch (error) {
          return (error as ApiError).retryAfter
        }
      })
      expect([told.indexOf(30), told.lastIndexOf(30)]).toEqual([29_000, 31_999])
    } finally {
      clock.mockRestore()
    }
  })
})

describe('requests of one key', () => {
  it('are limited by an option, separately for each key', async () => {
    const { open, other, fill, end } = await setUp({ maxConcurrentPerKey: 2 })
    expect(await fill()).toBe(2)
    const response = await open()
    expect([response.status, response.headers.get('retry-after'), await errorOf(response)]).toEqual([
      429,
      '1',
      {
        type: 'rate_limit_error',
        code: 'rate_limit_exceeded',
        message: 'This key is limited to 2 requests at a time',
      },
    ])
    expect(await fill(other)).toBe(2)
    end()
  })
})

describe('the place of a request', () => {
  it.each<[string, (at: Awaited<ReturnType<typeof setUp>>) => Promise<unknown>]>([
    ['with an answer', ({ chat }) => chat()],
    ['with a list', ({ send }) => send('GET', '/v1/models')],
    ['with no more than a head', ({ send }) => send('HEAD', '/v1/models')],
    ['with a body that is no JSON', ({ send }) => send('POST', '/v1/chat/completions', '{')],
    ['with a body that is wrong', ({ chat }) => chat({ n: 0 })],
    ['with a body that is too large', ({ chat }) => chat({ user: 'x'.repeat(2_000) })],
    ['with a form that is none', ({ send }) => send('POST', '/v1/audio/transcriptions', '{}')],
    ['with an unknown model', ({ chat }) => chat({ model: 'unknown' })],
    ['with a stream that was read', async ({ open, end }) => (end(), (await open()).text())],
    ['with a stream that nobody wanted', async ({ open }) => (await open()).body!.cancel()],
    [
      'with a stream whose reader left before it was read',
      async ({ chat }) => {
        const controller = new AbortController()
        await chat({ stream: true }, { signal: controller.signal })
        controller.abort()
      },
    ],
  ])('is released: %s', async (_, act) => {
    const at = await setUp({ maxInFlight: 1, bodyLimit: 1_000 })
    await act(at)
    // An upstream that is left comes first.
    await expect.poll(() => at.fill()).toBe(1)
  })

  it.each(['before it was read', 'while it is read'])(
    'threat 62: is kept by a stream whose client left %s until the upstream was read to its end',
    async (when) => {
      const { chat, open, fill, end } = await setUp({ maxInFlight: 1, onClientAbort: 'drain' })
      const controller = new AbortController()
      const body = (await chat({ stream: true }, { signal: controller.signal })).body!
      const reader = when === 'while it is read' ? body.getReader() : undefined
      await reader?.read()
      controller.abort()
      void reader?.read()
      void reader?.read()
      await new Promise((resolve) => setTimeout(resolve))
      expect((await open()).status).toBe(503)
      end()
      await expect.poll(() => fill()).toBe(1)
    },
  )
})

describe('the event loop', () => {
  /** Keeps it from coming around. */
  const block = (ms: number): void => {
    for (const until = performance.now() + ms; performance.now() < until;);
  }
  const turn = () => new Promise((resolve) => setTimeout(resolve))

  it('delay above the limit refuses requests, until it is below the limit', async () => {
    const { open, send } = await setUp({ maxLoopDelayMs: 500 })
    const running = await open()
    expect(running.status).toBe(200)
    block(600)
    const refused = await open()
    expect([refused.status, await errorOf(refused)]).toEqual([503, full])
    // The timer that measures runs now, and tells of that turn.
    await turn()
    expect((await open()).status).toBe(503)
    await expect.poll(async () => (await send('GET', '/v1/models')).status).toBe(200)
    // The delay is measured as long as a request runs.
    await running.body!.cancel()
  })

  it('delay is not limited by default', async () => {
    const { open } = await setUp()
    expect((await open()).status).toBe(200)
    block(100)
    expect((await open()).status).toBe(200)
  })
})
