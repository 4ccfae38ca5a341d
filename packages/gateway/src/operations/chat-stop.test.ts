import { afterEach, describe, expect, it, vi } from 'vitest'
import { chunk, streamed, testGateway } from '../../../../test/support/gateway.js'
import { parseStream } from '../../../../test/support/sse.js'

/** A gateway whose upstream streams these pieces. */
const streaming = (...pieces: Parameters<typeof streamed>) => testGateway({ upstream: () => streamed(...pieces) })

afterEach(() => vi.useRealTimers())

describe('a client that disconnects', () => {
  it('between two chunks aborts the upstream and is recorded', async () => {
    const { chat, records, signals, logs } = await streaming(chunk('Hello'), new Promise(() => undefined))
    const reader = (await chat({ stream: true })).body!.getReader()
    await reader.read()
    await reader.cancel()
    expect(signals[0]!.aborted).toBe(true)
    expect(await records()).toMatchObject([{ completion_tokens: 2, accuracy: 'estimated', outcome: 'client_abort' }])
    expect(logs).toHaveLength(1)
  })

  it('before the upstream has answered aborts it too', async () => {
    const { chat, records, signals } = await streaming(chunk('Hello'), new Promise(() => undefined))
    const client = new AbortController()
    const reader = (await chat({ stream: true }, { signal: client.signal })).body!.getReader()
    await reader.read()
    const waiting = reader.read()
    client.abort()
    await waiting
    expect(signals[0]!.aborted).toBe(true)
    await expect.poll(records).toMatchObject([{ outcome: 'client_abort' }])
  })

  it('before the first chunk is recorded', async () => {
    const { chat, records, signals } = await streaming(chunk('Hello'), new Promise(() => undefined))
    const response = await chat({ stream: true })
    await response.body!.cancel()
    expect(signals[0]!.aborted).toBe(true)
    expect(await records()).toMatchObject([{ outcome: 'client_abort' }])
  })
})

describe('a shutdown', () => {
  it('lets streams finish', async () => {
    let open = (): void => undefined
    const more = new Promise<void>((resolve) => (open = resolve))
    const { chat, gateway, records } = await streaming(chunk('a'), more, chunk('b', 'stop'))
    const text = (await chat({ stream: true })).text()
    let drained = false
    const drain = gateway.drain().then(() => (drained = true))
    await new Promise(setImmediate)
    expect(drained).toBe(false)
    open()
    expect(parseStream(await text).at(-1)).toEqual({ type: 'done' })
    await drain
    expect(await records()).toMatchObject([{ outcome: 'complete' }])
  })

  it('ends streams that take too long with an error event, and records them', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { chat, gateway, records } = await streaming(chunk('Hello'), new Promise(() => undefined))
    const text = (await chat({ stream: true })).text()
    for (let i = 0; i < 5; i++) await new Promise(setImmediate)
    const drain = gateway.drain(3_000)
    await vi.advanceTimersByTimeAsync(3_000)
    expect(parseStream(await text).at(-1)).toEqual({
      type: 'error',
      error: { type: 'server_error', message: 'The server is shutting down', code: 'internal_error' },
    })
    await drain
    expect(await records()).toMatchObject([{ outcome: 'server_shutdown' }])
  })
})
