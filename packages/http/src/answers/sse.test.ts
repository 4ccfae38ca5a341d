import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { eventsOf } from '../../../../test/support/events.js'
import type { EventStream } from './sse.js'
import { sseBody, sseEvent } from './sse.js'

type Batch = object[]

/** A stream whose batches and end are told from outside; an abort fails it as a gateway's watch does. */
function source() {
  const waiting: { resolve(result: IteratorResult<Batch, undefined>): void; reject(error: unknown): void }[] = []
  const log: string[] = []
  const events: EventStream<Batch> = {
    read: (resolve, reject) => void waiting.push({ resolve, reject }),
    encode: (batch) => batch.map((event) => sseEvent(JSON.stringify(event))).join(''),
    async complete() {
      log.push('complete')
      return ''
    },
    async fail(error) {
      log.push(`fail: ${(error as Error).message}`)
      return error
    },
    async disconnect() {
      log.push('disconnect')
    },
  }
  return {
    events,
    log,
    push: (...batch: Batch) => waiting.shift()!.resolve({ done: false, value: batch }),
    end: () => waiting.shift()!.resolve({ done: true, value: undefined }),
    abort: () => waiting.shift()?.reject(new Error('aborted')),
  }
}

function open(events: EventStream, heartbeatMs = 1_000, hold: (bytes: number) => void = () => undefined) {
  const onEnd = vi.fn()
  const errorEvent = (error: unknown) => ({ error: { message: (error as Error).message } })
  return { onEnd, iterator: sseBody(events, { errorEvent, heartbeatMs, onEnd, hold }) }
}

async function drain(events: EventStream) {
  const { iterator, onEnd } = open(events)
  const chunks: string[] = []
  for (;;) {
    const { done, value } = await iterator.next()
    if (done) break
    chunks.push(value)
  }
  expect(onEnd).toHaveBeenCalledTimes(1)
  return chunks
}

const chunk = (value: string) => ({ done: false, value })

beforeEach(() => vi.useFakeTimers())
afterEach(() => {
  expect(vi.getTimerCount()).toBe(0)
  vi.useRealTimers()
})

describe('sseBody', () => {
  it('sends one chunk per batch and [DONE] at the end', async () => {
    expect(await drain(eventsOf({ a: 1 }, { b: 'x\ny' }))).toEqual([
      'data: {"a":1}\n\n',
      'data: {"b":"x\\ny"}\n\n',
      'data: [DONE]\n\n',
    ])
  })

  it('sends the custom end of a stream in place of [DONE]', async () => {
    expect(await drain({ ...eventsOf({ a: 1 }), end: ': end\n\n' })).toEqual(['data: {"a":1}\n\n', ': end\n\n'])
  })

  it('threat 49: takes memory for a large event, and ends with the error where there is none', async () => {
    const large = 'x'.repeat(100_000)
    const held: number[] = []
    const hold = (bytes: number): void => {
      held.push(bytes)
      if (held.length === 2) throw new Error('No memory')
    }
    const { iterator } = open(eventsOf({ a: 1 }, { b: large }, { c: large }, { d: 1 }), 1_000, hold)
    const chunks: (string | undefined)[] = []
    for (let i = 0; i < 3; i++) chunks.push((await iterator.next()).value)
    expect(chunks).toEqual([
      'data: {"a":1}\n\n',
      `data: {"b":"${large}"}\n\n`,
      'data: {"error":{"message":"No memory"}}\n\n',
    ])
    expect(held).toEqual([200_032, 200_032])
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
  })

  it('sends nothing for a batch without events', async () => {
    const { events, push, end } = source()
    const chunks = drain(events)
    for (const batch of [[{ a: 1 }, { b: 2 }], [], [{ c: 3 }], []]) {
      push(...batch)
      await vi.advanceTimersByTimeAsync(0)
    }
    end()
    expect(await chunks).toEqual(['data: {"a":1}\n\ndata: {"b":2}\n\n', 'data: {"c":3}\n\n', 'data: [DONE]\n\n'])
  })

  it('has a timer only while the body is read', async () => {
    const { events, log } = source()
    const { iterator } = open(events)
    expect(vi.getTimerCount()).toBe(0)
    await iterator.return()
    expect(log).toEqual(['disconnect'])
    expect(await iterator.next()).toEqual({ done: true, value: undefined })
    expect(vi.getTimerCount()).toBe(0)
  })

  it('sends last events with [DONE]', async () => {
    const events = { ...eventsOf(), complete: async () => sseEvent('{"last":true}') }
    expect(await drain(events)).toEqual(['data: {"last":true}\n\ndata: [DONE]\n\n'])
  })

  it.each<[what: string, events: EventStream]>([
    ['fails', eventsOf({ a: 1 }, new Error('broke'))],
    ['fails, told in other words', { ...eventsOf({ a: 1 }, new Error('x')), fail: async () => new Error('broke') }],
    ['fails twice', { ...eventsOf({ a: 1 }, new Error('x')), fail: () => Promise.reject(new Error('broke')) }],
    ['cannot be completed', { ...eventsOf({ a: 1 }), complete: () => Promise.reject(new Error('broke')) }],
  ])('sends an error event in place of [DONE] where a stream %s', async (_, events) => {
    expect(await drain(events)).toEqual(['data: {"a":1}\n\n', 'data: {"error":{"message":"broke"}}\n\n'])
  })

  it('sends an error event where a batch cannot be encoded', async () => {
    const encode = (): string => {
      throw new Error('broke')
    }
    expect(await drain({ ...eventsOf({ a: 1 }), encode })).toEqual(['data: {"error":{"message":"broke"}}\n\n'])
  })

  it('sends a heartbeat per interval of silence, and loses nothing', async () => {
    const { events, push, end } = source()
    const { iterator } = open(events)

    const first = iterator.next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await first).toEqual(chunk(': ping\n\n'))
    const second = iterator.next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await second).toEqual(chunk(': ping\n\n'))

    const third = iterator.next()
    push({ a: 1 })
    expect(await third).toEqual(chunk('data: {"a":1}\n\n'))

    // A batch that arrives while nobody waits is kept for the next one who does.
    const fourth = iterator.next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await fourth).toEqual(chunk(': ping\n\n'))
    push({ b: 2 })
    await vi.advanceTimersByTimeAsync(5_000)
    expect(await iterator.next()).toEqual(chunk('data: {"b":2}\n\n'))
    const fifth = iterator.next()
    end()
    expect(await fifth).toEqual(chunk('data: [DONE]\n\n'))
    expect(await iterator.next()).toMatchObject({ done: true })
  })

  it('sends a heartbeat while the usage record is being stored', async () => {
    let stored!: (last: string) => void
    const events = { ...eventsOf(), complete: () => new Promise<string>((resolve) => (stored = resolve)) }
    const { iterator } = open(events)
    const first = iterator.next()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await first).toEqual(chunk(': ping\n\n'))
    const second = iterator.next()
    stored('')
    expect(await second).toEqual(chunk('data: [DONE]\n\n'))
    expect(await iterator.next()).toMatchObject({ done: true })
  })

  it('sends no comment while the client does not read', async () => {
    const { events, push } = source()
    const { iterator } = open(events)
    await vi.advanceTimersByTimeAsync(60_000)
    const next = iterator.next()
    push({ a: 1 })
    expect(await next).toEqual(chunk('data: {"a":1}\n\n'))
    await iterator.return!()
  })

  describe('calls disconnect once when the client disconnects', () => {
    const disconnect = async (iterator: AsyncIterator<string>, onEnd: () => void) => {
      expect(await iterator.return!()).toEqual({ done: true, value: undefined })
      expect(await iterator.return!()).toEqual({ done: true, value: undefined })
      expect(onEnd).toHaveBeenCalledTimes(1)
    }

    it('before the first chunk', async () => {
      const { events, log } = source()
      const { iterator, onEnd } = open(events)
      await disconnect(iterator, onEnd)
      expect(log).toEqual(['disconnect'])
    })

    it('while it waits for a batch that fails', async () => {
      const { events, log, abort } = source()
      const { iterator, onEnd } = open(events)
      void iterator.next()
      abort()
      await disconnect(iterator, onEnd)
      expect(log).toEqual(['fail: aborted'])
    })

    it('while it waits for a batch that arrives', async () => {
      const { events, log, push } = source()
      const { iterator, onEnd } = open(events)
      void iterator.next()
      const left = disconnect(iterator, onEnd)
      push({ a: 1 })
      await left
      expect(log).toEqual(['disconnect'])
    })

    it('between two chunks', async () => {
      const { events, log, push } = source()
      const { iterator, onEnd } = open(events)
      const next = iterator.next()
      push({ a: 1 })
      await next
      await disconnect(iterator, onEnd)
      expect(log).toEqual(['disconnect'])
    })

    it('but not after its end', async () => {
      const { events, log, end } = source()
      const { iterator, onEnd } = open(events)
      const next = iterator.next()
      end()
      await next
      await disconnect(iterator, onEnd)
      expect(log).toEqual(['complete'])
    })
  })
})
