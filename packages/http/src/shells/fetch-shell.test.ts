import { describe, expect, it, vi } from 'vitest'
import type { Exchange, Reply } from './exchange.js'
import { fetchShell } from './fetch-shell.js'

const base = 'https://gw.example'

/** Sends a request through the shell. @returns the exchange that the handler saw, and the response */
async function send(request: Request, reply: Reply = { status: 204, headers: {} }, options = {}, call = {}) {
  let seen: Exchange | undefined
  const shell = fetchShell(async (exchange) => {
    seen = exchange
    return reply
  }, options)
  const response = await shell(request, call)
  return { exchange: seen!, response }
}

describe('the exchange', () => {
  it.each<[url: string, path: string, query: string]>([
    [base, '/', ''],
    [`${base}/v1/models`, '/v1/models', ''],
    [`${base}/v1/models?provider=openai&x=%20`, '/v1/models', 'provider=openai&x=%20'],
    [`${base}/a%2Fb/%C3%A9`, '/a%2Fb/%C3%A9', ''],
    [`${base}?a=/b`, '/', 'a=/b'],
    [`${base}/x?`, '/x', ''],
    [`${base}/x?a=1?b`, '/x', 'a=1?b'],
    [`${base}/x#y?z`, '/x', ''],
    [`${base}/x?a=1#b`, '/x', 'a=1'],
    ['http://u:p@h:8080/x', '/x', ''],
    ['http://[::1]:3000/x?y', '/x', 'y'],
    ['/x?y', '/x', 'y'],
  ])('of %s', async (url, path, query) => {
    // A Request refuses credentials in its URL, and one without a host, so that these are made up.
    const request = /^\/|@/.test(url) ? ({ ...head(url) } as Request) : new Request(url)
    const { exchange } = await send(request)
    expect([exchange.path, exchange.query]).toEqual([path, query])
  })

  it('has method and headers, with undefined for missing ones', async () => {
    const { exchange } = await send(new Request(base, { method: 'DELETE', headers: { 'X-Test': 'a' } }))
    expect(exchange.method).toBe('DELETE')
    expect(exchange.header('x-test')).toBe('a')
    expect(exchange.header('x-other')).toBeUndefined()
    expect(exchange.optional).toBe(false)
  })

  it('has the address of the client, behind trusted proxies only', async () => {
    const request = () => new Request(base, { headers: { 'x-forwarded-for': '6.6.6.6, 1.1.1.1' } })
    const ip = async (options: object, call: object) => (await send(request(), undefined, options, call)).exchange.ip()
    expect(await ip({}, {})).toBe('')
    expect(await ip({}, { ip: '10.0.0.1' })).toBe('10.0.0.1')
    expect(await ip({ trustedHops: 1 }, { ip: '10.0.0.1' })).toBe('1.1.1.1')
  })

  it('has the body', async () => {
    const { exchange } = await send(new Request(base, { method: 'POST', body: 'hé' }))
    expect(new TextDecoder().decode(await exchange.bytes(3))).toBe('hé')
    const empty = await send(new Request(base))
    expect(await empty.exchange.bytes(3)).toHaveLength(0)
  })

  it('has the body as a stream', async () => {
    const { exchange } = await send(new Request(base, { method: 'POST', body: 'abc' }))
    let text = ''
    for await (const chunk of exchange.body()) text += new TextDecoder().decode(chunk)
    expect(text).toBe('abc')
  })
})

function head(url: string) {
  return { url, method: 'GET', headers: new Headers(), body: null, signal: new AbortController().signal }
}

describe('a body over the limit', () => {
  const tooLarge = { status: 413, code: 'request_too_large' }

  it('is refused by its content-length, without being read', async () => {
    let read = 0
    const body = new ReadableStream(
      { pull: (controller) => (read++, controller.enqueue(new Uint8Array(1))) },
      { highWaterMark: 0 },
    )
    const request = new Request(base, {
      method: 'POST',
      body,
      duplex: 'half',
      headers: { 'content-length': '4' },
    } as RequestInit)
    const { exchange } = await send(request)
    await expect(exchange.bytes(3)).rejects.toMatchObject(tooLarge)
    expect(read).toBe(0)
  })

  it('is refused even if its content-length is smaller', async () => {
    const request = new Request(base, { method: 'POST', body: 'four', headers: { 'content-length': '2' } })
    await expect((await send(request)).exchange.bytes(3)).rejects.toMatchObject(tooLarge)
  })

  it('is refused while it arrives, and cancelled', async () => {
    let read = 0
    let cancelled = false
    const body = new ReadableStream(
      {
        pull: (controller) => (read++, controller.enqueue(new Uint8Array(1))),
        cancel: () => void (cancelled = true),
      },
      { highWaterMark: 0 },
    )
    const { exchange } = await send(new Request(base, { method: 'POST', body, duplex: 'half' } as RequestInit))
    await expect(exchange.bytes(3)).rejects.toMatchObject(tooLarge)
    expect(read).toBe(4)
    expect(cancelled).toBe(true)
  })
})

describe('a body that stalls', () => {
  /** A request with one chunk, and no end. */
  const begun = (headers: Record<string, string>) =>
    new Request(base, {
      method: 'POST',
      body: new ReadableStream({ start: (controller) => controller.enqueue(new Uint8Array(1)) }),
      duplex: 'half',
      headers,
    } as RequestInit)
  const tooSlow = { status: 408, code: 'invalid_body' }

  it.each([[{}], [{ 'content-length': '2' }]])('is refused, with the headers %j', async (headers) => {
    const { exchange } = await send(begun(headers), undefined, { bodyIdleMs: 20 })
    await expect(exchange.bytes(3)).rejects.toMatchObject(tooSlow)
  })

  it('is refused where it is a file', async () => {
    const { exchange } = await send(begun({}), undefined, { bodyIdleMs: 20 })
    const sizes: number[] = []
    const read = async () => {
      for await (const chunk of exchange.body()) sizes.push(chunk.length)
    }
    await expect(read()).rejects.toMatchObject(tooSlow)
    expect(sizes).toEqual([1])
  })
})

describe('a response', () => {
  it.each<[body: string | Uint8Array | undefined, text: string]>([
    ['hé', 'hé'],
    [Uint8Array.of(104, 105), 'hi'],
    [undefined, ''],
  ])('has status, headers and body %j', async (body, text) => {
    const { response } = await send(new Request(base), { status: 418, headers: { 'x-a': 'b' }, ...(body && { body }) })
    expect([response.status, response.headers.get('x-a'), await response.text()]).toEqual([418, 'b', text])
  })

  it('is read from an iterable with the backpressure of the client', async () => {
    let taken = 0
    const body = (async function* () {
      for (const chunk of ['a', Uint8Array.of(98), 'ü']) {
        taken++
        yield chunk
      }
    })()
    const { response } = await send(new Request(base), { status: 200, headers: {}, body })
    expect(taken).toBe(0)
    const reader = response.body!.getReader()
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('a')
    await new Promise(setImmediate)
    expect(taken).toBe(1)
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('b')
    expect(new TextDecoder().decode((await reader.read()).value)).toBe('ü')
    expect(await reader.read()).toMatchObject({ done: true })
  })

  it('fails if its iterable fails', async () => {
    const body = (async function* () {
      yield 'a'
      throw new Error('broke')
    })()
    const { response } = await send(new Request(base), { status: 200, headers: {}, body })
    await expect(response.text()).rejects.toThrow('broke')
  })
})

describe('a client disconnect', () => {
  /** Whether the exchange reports a disconnect. */
  const isDisconnected = (exchange: Exchange): boolean => {
    let disconnected = false
    exchange.onDisconnect(() => (disconnected = true))
    return disconnected
  }

  it('is reported by the signal of the request, also if it was aborted before', async () => {
    const controller = new AbortController()
    const { exchange } = await send(new Request(base, { signal: controller.signal }))
    let calls = 0
    exchange.onDisconnect(() => calls++)
    expect(calls).toBe(0)
    controller.abort()
    expect(calls).toBe(1)
    expect(isDisconnected(exchange)).toBe(true)
    expect(isDisconnected((await send(new Request(base, { signal: AbortSignal.abort() }))).exchange)).toBe(true)
  })

  it('is reported when the response is cancelled, even while its iterable waits, and before that is returned', async () => {
    const log: string[] = []
    const shell = fetchShell(async (exchange) => {
      const body = (async function* () {
        try {
          yield 'a'
          // Like the read of an upstream, this only ends when the client disconnects.
          await new Promise((_, reject) => exchange.onDisconnect(() => reject(new Error('disconnected'))))
        } finally {
          log.push(`finished, disconnected: ${isDisconnected(exchange)}`)
        }
      })()
      return { status: 200, headers: {}, body }
    })
    const reader = (await shell(new Request(base))).body!.getReader()
    await reader.read()
    const waiting = reader.read()
    await reader.cancel()
    expect(await waiting).toMatchObject({ done: true })
    expect(log).toEqual(['finished, disconnected: true'])
  })

  it('is not reported when the response was read to its end', async () => {
    const body = (async function* () {
      yield 'a'
    })()
    const { exchange, response } = await send(new Request(base), { status: 200, headers: {}, body })
    await response.text()
    expect(isDisconnected(exchange)).toBe(false)
  })
})

describe('an answer that nobody takes', () => {
  async function* pieces(size: number, onEnd: () => void) {
    try {
      for (;;) yield new Uint8Array(size)
    } finally {
      onEnd()
    }
  }

  it('is given up after a time, as if the client had disconnected', async () => {
    vi.useFakeTimers()
    try {
      const onEnd = vi.fn()
      const onDisconnect = vi.fn()
      const body = pieces(100_000, onEnd)
      const reply: Reply = { status: 200, headers: {}, body }
      const { exchange, response } = await send(new Request(base), reply, { answerIdleMs: 1_000 })
      exchange.onDisconnect(onDisconnect)
      const reader = response.body!.getReader()
      for (let i = 0; i < 5; i++) {
        // Large chunks arrive in pieces.
        expect((await reader.read()).value!.length).toBe([65_536, 34_464][i % 2])
        await vi.advanceTimersByTimeAsync(900)
      }
      expect([onEnd, onDisconnect].map(({ mock }) => mock.calls.length)).toEqual([0, 0])
      await vi.advanceTimersByTimeAsync(2_000)
      await expect(reader.read()).rejects.toThrow('not read')
      expect([onEnd, onDisconnect].map(({ mock }) => mock.calls.length)).toEqual([1, 1])
    } finally {
      vi.useRealTimers()
    }
  })

  it('has a time-out of the host', async () => {
    const secondsOf = async (body?: Reply['body']) => {
      const setIdleTimeout = vi.fn()
      const { response } = await send(
        new Request(base),
        { status: 200, headers: {}, ...(body && { body }) },
        {},
        { setIdleTimeout },
      )
      await response.body?.cancel()
      return setIdleTimeout.mock.calls
    }
    expect(await secondsOf()).toEqual([[65]])
    const timeout = vi.fn()
    const request = new Request(base)
    const ip = vi.fn()
    const ofBun = fetchShell(async (exchange) => (ip(exchange.ip()), { status: 200, headers: {} }))
    await ofBun(request, { requestIP: () => ({ address: '192.0.2.7' }), timeout })
    expect([ip.mock.calls, timeout.mock.calls]).toEqual([[['192.0.2.7']], [[request, 65]]])
    expect(await secondsOf('x'.repeat(100_000))).toEqual([[60]])
    expect(await secondsOf(pieces(1, () => undefined))).toEqual([[255]])
  })
})
