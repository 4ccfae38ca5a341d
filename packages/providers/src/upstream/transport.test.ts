import { describe, expect, it, vi } from 'vitest'
import { fetchTransport } from './transport.js'

const utf8 = new TextEncoder()

/** A transport over a fake `fetch`, and the calls of it. */
function setUp(body: ConstructorParameters<typeof Response>[0], init: ResponseInit = {}) {
  const calls: { url: string; init: RequestInit }[] = []
  const transport = fetchTransport({
    fetch: async (url, options) => {
      calls.push({ url: url as string, init: options! })
      options!.signal!.throwIfAborted()
      return new Response(body, init)
    },
  })
  const controller = new AbortController()
  const send = (more: { body?: string } = {}) =>
    transport({ url: 'https://up/x', method: 'POST', headers: { a: 'b' }, signal: controller.signal, ...more })
  return { calls, controller, send }
}

const pieces = (...texts: string[]) =>
  new ReadableStream({
    start(controller) {
      for (const text of texts) controller.enqueue(utf8.encode(text))
      controller.close()
    },
  })

describe('fetchTransport', () => {
  it('sends the request and does not follow redirects', async () => {
    const { calls, send } = setUp('ok', { status: 302, headers: { Location: 'https://other' } })
    const response = await send({ body: '{}' })
    expect(response.status).toBe(302)
    expect(response.header('location')).toBe('https://other')
    expect(response.header('x-none')).toBeUndefined()
    const { signal: _, ...init } = calls[0]!.init
    expect([calls[0]!.url, init]).toEqual([
      'https://up/x',
      { method: 'POST', headers: { a: 'b' }, redirect: 'manual', duplex: 'half', body: '{}' },
    ])
  })

  it('returns the body as it arrives', async () => {
    const { send } = setUp(pieces('a', 'bc'))
    const texts: string[] = []
    for await (const piece of (await send()).body) texts.push(new TextDecoder().decode(piece))
    expect(texts).toEqual(['a', 'bc'])
  })

  it.each(['gzip', 'X-Gzip', 'deflate', 'br'])('tells nothing of %s, which fetch decodes', async (encoding) => {
    const headers = { 'content-encoding': encoding, 'content-length': '5', 'content-type': 'text/plain' }
    const { header } = await setUp('decoded', { headers }).send()
    expect(['content-type', 'content-encoding', 'content-length'].map(header)).toEqual([
      'text/plain',
      undefined,
      undefined,
    ])
  })

  it.each(['zstd', 'gzip, br', 'identity'])('tells of %s, which it may not have decoded', async (encoding) => {
    const { header } = await setUp('bytes', { headers: { 'content-encoding': encoding, 'content-length': '5' } }).send()
    expect(['content-encoding', 'content-length'].map(header)).toEqual([encoding, '5'])
  })

  it('gives an empty body for none', async () => {
    const { send } = setUp(null, { status: 204 })
    for await (const _ of (await send()).body) expect.unreachable()
  })

  it('aborts the request when its reader stops', async () => {
    const { calls, send } = setUp(pieces('a', 'b'))
    for await (const _ of (await send()).body) break
    expect(calls[0]!.init.signal!.aborted).toBe(true)
  })

  it('aborts the request with the reason of the signal, before and during the answer', async () => {
    const reason = new Error('left')
    const during = setUp(pieces('a'))
    await during.send()
    during.controller.abort(reason)
    expect(during.calls[0]!.init.signal!.reason).toBe(reason)
    const before = setUp(pieces('a'))
    before.controller.abort(reason)
    await expect(before.send()).rejects.toBe(reason)
  })

  it('removes its listener from the signal of a failed call', async () => {
    const { signal } = new AbortController()
    const added = vi.spyOn(signal, 'addEventListener')
    const removed = vi.spyOn(signal, 'removeEventListener')
    const send = fetchTransport({ fetch: () => Promise.reject(new Error('refused')) })
    await expect(send({ url: 'http://x', method: 'GET', headers: {}, signal })).rejects.toThrow('refused')
    expect(removed.mock.calls).toEqual(added.mock.calls)
  })

  it('removes its listener from the signal at the end of the body', async () => {
    const { calls, controller, send } = setUp(pieces('a'))
    for await (const _ of (await send()).body);
    controller.abort()
    expect(calls[0]!.init.signal!.aborted).toBe(false)
  })
})
