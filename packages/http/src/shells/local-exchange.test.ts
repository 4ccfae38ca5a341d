import { describe, expect, it } from 'vitest'
import * as v from 'valibot'
import { createHandler } from '../handler.js'
import { localExchange } from './local-exchange.js'
import { operation, route, sse } from '../operation.js'

const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

describe('a local exchange', () => {
  it.each([
    ['/v1/models', '/v1/models', ''],
    ['/a%2Fb?x=1?y', '/a%2Fb', 'x=1?y'],
    ['/?', '/', ''],
  ])('of %s', (target, path, query) =>
    expect(localExchange({ method: 'GET', path: target })).toMatchObject({
      path,
      query,
      method: 'GET',
      optional: false,
    }),
  )

  it('has headers by their lower-case names, and no address', () => {
    const exchange = localExchange({ method: 'GET', path: '/', headers: { 'X-Test': 'a' } })
    expect([exchange.header('x-test'), exchange.header('x-other'), exchange.header('constructor')]).toEqual([
      'a',
      undefined,
      undefined,
    ])
    expect(exchange.ip()).toBe('')
    expect(() => localExchange({ method: 'GET', path: '/', headers: { 'x-test': 'a\nb: c' } })).toThrow(TypeError)
  })

  it.each<[string, string | Uint8Array | undefined, string]>([
    ['a text', 'hé', 'hé'],
    ['bytes', new Uint8Array([104, 105]), 'hi'],
    ['nothing', undefined, ''],
  ])('has as its body %s', async (_, body, expected) => {
    const exchange = () => localExchange({ method: 'POST', path: '/', ...(body !== undefined && { body }) })
    expect(text(await exchange().bytes(3))).toBe(expected)
    let read = ''
    for await (const chunk of exchange().body()) read += text(chunk)
    expect(read).toBe(expected)
  })

  it('refuses a body over the limit', async () => {
    const { bytes } = localExchange({ method: 'POST', path: '/', body: 'four' })
    await expect(bytes(3)).rejects.toMatchObject({ status: 413, code: 'request_too_large' })
    expect(await bytes(4)).toHaveLength(4)
  })

  it('tells of a disconnect when its signal is aborted, or was', () => {
    const controller = new AbortController()
    const { onDisconnect } = localExchange({ method: 'GET', path: '/', signal: controller.signal })
    const told: string[] = []
    onDisconnect(() => told.push('before'))
    expect(told).toEqual([])
    controller.abort()
    expect(told).toEqual(['before'])
    onDisconnect(() => told.push('after'))
    expect(told).toEqual(['before', 'after'])
    localExchange({ method: 'GET', path: '/' }).onDisconnect(() => told.push('never'))
    expect(told).toHaveLength(2)
  })
})

describe('a handler in the same process', () => {
  const { handle } = createHandler({
    routes: [
      route(
        'POST',
        '/echo',
        operation({
          id: 'echo',
          summary: 'Echoes.',
          access: 'open',
          body: v.object({ say: v.string() }),
          run: (_caller, { body }) => body,
        }),
      ),
      route(
        'GET',
        '/count',
        operation({
          id: 'count',
          summary: 'Counts.',
          access: 'open',
          run() {
            let n = 0
            return sse({
              read: (tell) => tell(n < 2 ? { done: false, value: ++n } : { done: true, value: undefined }),
              encode: (batch) => `data: ${batch as number}\n\n`,
              complete: () => Promise.resolve(''),
              fail: (error) => Promise.resolve(error),
              disconnect: () => Promise.resolve(),
            })
          },
        }),
      ),
    ],
    authenticate: () => null,
    errorBody: ({ code }) => ({ code }),
  })

  it('answers JSON, errors and streams', async () => {
    const post = (body: string) => handle(localExchange({ method: 'POST', path: '/echo', body }))
    expect(await post('{"say":"hi"}')).toMatchObject({ status: 200, body: '{"say":"hi"}' })
    expect(await post('{')).toMatchObject({ status: 400, body: '{"code":"invalid_json"}' })
    expect(await handle(localExchange({ method: 'GET', path: '/none' }))).toMatchObject({ status: 404 })
    const reply = (await handle(localExchange({ method: 'GET', path: '/count' })))!
    const pieces: unknown[] = []
    for await (const piece of reply.body as AsyncIterable<string>) pieces.push(piece)
    expect(pieces).toEqual(['data: 1\n\n', 'data: 2\n\n', 'data: [DONE]\n\n'])
  })
})
