import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { sseBody } from './sse.js'

/** A source whose batches and end are told from outside; an abort ends it as a gateway's watch does. */
function source() {
  const waiting: { resolve(batch: object[] | undefined): void; reject(error: unknown): void }[] = []
  const log: string[] = []
  const signal = new AbortController()
  signal.signal.addEventListener('abort', () => waiting.shift()?.reject(new Error('aborted')))
  const events = (async function* () {
    try {
      log.push('started')
      if (signal.signal.aborted) throw new Error('aborted')
      for (;;) {
        const batch = await new Promise<object[] | undefined>((resolve, reject) => waiting.push({ resolve, reject }))
        if (!batch) return
        yield batch
      }
    } finally {
      log.push('finished')
    }
  })()
  return { events, log, signal, push: (batch?: object[]) => waiting.shift()!.resolve(batch) }
}

function open(events: AsyncIterable<object[]>, heartbeatMs = 1_000) {
  const onEnd = vi.fn()
  const errorEvent = (error: unknown) => ({ error: { message: (error as Error).message } })
  return { onEnd, iterator: sseBody(events, { errorEvent, heartbeatMs, onEnd })[Symbol.asyncIterator]() }
}

async function* batches(...all: (object[] | Error)[]): AsyncGenerator<object[]> {
  for (const batch of all)
    if (batch instanceof Error) throw batch
    else yield batch
}

async function drain(events: AsyncIterable<object[]>) {
  const { iterator, onEnd } = open(events)
  const pieces: string[] = []
  for (;;) {
    const { done, value } = await iterator.next()
    if (done) return { pieces, onEnd }
    pieces.push(value)
  }
}

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('sseBody', () => {
  it('sends a piece per batch and [DONE] at the end', async () => {
    const { pieces, onEnd } = await drain(batches([{ a: 1 }, { b: 'x\ny' }], [], [{ c: null }]))
    expect(pieces).toEqual(['data: {"a":1}\n\ndata: {"b":"x\\ny"}\n\n', 'data: {"c":null}\n\n', 'data: [DONE]\n\n'])
    expect(onEnd).toHaveBeenCalledTimes(1)
  })

  it('sends an error event in place of [DONE]', async () => {
    const { pieces, onEnd } = await drain(batches([{ a: 1 }], new Error('broke')))
    expect(pieces).toEqual(['data: {"a":1}\n\n', 'data: {"error":{"message":"broke"}}\n\n'])
    expect(onEnd).toHaveBeenCalledTimes(1)
  })

  it('sends only [DONE] for no events', async () => {
    expect((await drain(batches())).pieces).toEqual(['data: [DONE]\n\n'])
  })

  it('sends a comment for each interval of silence, and loses nothing', async () => {
    const { events, push } = source()
    const { iterator } = open(events)
    const ping = { done: false, value: ': ping\n\n' }

    const first = iterator.next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await first).toEqual(ping)
    const second = iterator.next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await second).toEqual(ping)

    const third = iterator.next()
    push([{ a: 1 }])
    expect(await third).toEqual({ done: false, value: 'data: {"a":1}\n\n' })

    // A batch that arrives while nobody waits is kept for the next one who does.
    const fourth = iterator.next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await fourth).toEqual(ping)
    push([{ b: 2 }])
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await iterator.next()).toEqual({ done: false, value: 'data: {"b":2}\n\n' })
    const fifth = iterator.next()
    await vi.advanceTimersByTimeAsync(0)
    push()
    expect(await fifth).toEqual({ done: false, value: 'data: [DONE]\n\n' })
    expect(await iterator.next()).toMatchObject({ done: true })
  })

  it('sends no comment while the client does not read', async () => {
    const { events, push } = source()
    const { iterator } = open(events)
    await vi.advanceTimersByTimeAsync(60_000)
    const next = iterator.next()
    await vi.advanceTimersByTimeAsync(0)
    push([{ a: 1 }])
    expect(await next).toEqual({ done: false, value: 'data: {"a":1}\n\n' })
    await iterator.return!()
  })

  it('lets the source see that a client left before the first piece', async () => {
    const { events, log, signal } = source()
    const { iterator, onEnd } = open(events)
    signal.abort()
    expect(await iterator.return!()).toEqual({ done: true, value: undefined })
    expect(log).toEqual(['started', 'finished'])
    expect(onEnd).toHaveBeenCalledTimes(1)
  })

  it('ends the source when a client leaves while it waits', async () => {
    const { events, log, signal } = source()
    const { iterator, onEnd } = open(events)
    const next = iterator.next()
    await vi.advanceTimersByTimeAsync(0)
    signal.abort()
    expect(await iterator.return!()).toEqual({ done: true, value: undefined })
    await next
    expect(log).toEqual(['started', 'finished'])
    expect(onEnd).toHaveBeenCalledTimes(1)
  })

  it('ends the source when a client leaves between two pieces', async () => {
    const { events, log, push } = source()
    const { iterator, onEnd } = open(events)
    const next = iterator.next()
    await vi.advanceTimersByTimeAsync(0)
    push([{ a: 1 }])
    await next
    await iterator.return!()
    expect(log).toEqual(['started', 'finished'])
    expect(onEnd).toHaveBeenCalledTimes(1)
  })

  it('tells its end once, also if the client leaves at the very end', async () => {
    const { iterator, onEnd } = open(batches())
    await iterator.next()
    const last = iterator.next()
    await iterator.return!()
    await last
    expect(onEnd).toHaveBeenCalledTimes(1)
  })
})
