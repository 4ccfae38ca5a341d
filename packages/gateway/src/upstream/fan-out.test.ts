import type { ChatCompletionRequest, ChatStream, ChunkChoice, Completion, Signal } from '@turnpike/core'
import { UpstreamError } from '@turnpike/core'
import { toChunks } from '@turnpike/providers'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { complete, fanOut, fanOutStream } from './fan-out.js'

const { signal } = new AbortController()
const usage = (n: number) => ({
  prompt_tokens: n,
  completion_tokens: 1,
  total_tokens: n + 1,
  prompt_tokens_details: { cached_tokens: n },
})
const answer = (content: string, tokens?: number): Completion => ({
  id: `id-${content}`,
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
  usage: tokens === undefined ? undefined : usage(tokens),
})

describe('n answers', () => {
  it('are n calls, at most eight at a time, with one usage', async () => {
    let calls = 0
    let running = 0
    let most = 0
    const made = await fanOut(20, async () => {
      const number = calls++
      most = Math.max(most, ++running)
      await new Promise((resolve) => setTimeout(resolve, number % 3))
      running--
      return answer(`a${number}`, 10)
    })
    expect([calls, most]).toEqual([20, 8])
    expect(made.id).toBe('id-a0')
    expect(made.choices.map(({ index, message }) => [index, message.content])).toEqual(
      Array.from({ length: 20 }, (_, index) => [index, `a${index}`]),
    )
    expect(made.usage).toEqual({ ...usage(200), completion_tokens: 20, total_tokens: 220 })
  })

  it('have the terms that any of the calls reports, such as a service tier', async () => {
    let calls = 0
    const made = await fanOut(2, async () => {
      const one = answer('a', 1)
      return { ...one, usage: { ...one.usage!, ...(calls++ === 1 && { inference_geo: 'us' }) } }
    })
    expect(made.usage).toMatchObject({ prompt_tokens: 2, inference_geo: 'us' })
  })

  it('have no usage if one call has none', async () => {
    let calls = 0
    const made = await fanOut(2, async () => answer('a', calls++ === 0 ? 1 : undefined))
    expect(made.usage).toBeUndefined()
  })

  it('fail together, with the usage of all that were made, and no other begins', async () => {
    const unusable = (fields: object) =>
      new UpstreamError('Bad', { provider: 'p', kind: 'malformed', accepted: true, ...fields })
    let calls = 0
    const ask = async (): Promise<Completion> => {
      const call = ++calls
      if (call === 3) throw unusable({ usage: usage(100) })
      // These are under way when the third fails.
      await new Promise((resolve) => setTimeout(resolve, 5))
      if (call === 4) throw unusable({ unreported: true })
      return answer('a', 10)
    }
    await expect(fanOut(20, ask)).rejects.toMatchObject({
      failure: {
        usage: { prompt_tokens: 160 },
        calls: { reported: 7, unreported: 1, open: 0 },
        unreported: true,
        accepted: true,
      },
    })
    expect(calls).toBe(8)
  })

  it('are not retried if one was accepted', async () => {
    const busy = () => new UpstreamError('Busy', { provider: 'p', kind: 'status', status: 503, accepted: false })
    let calls = 0
    const later = async (): Promise<Completion> => {
      if (calls++ === 0) return answer('a', 1)
      await new Promise((resolve) => setTimeout(resolve, 1))
      throw busy()
    }
    await expect(fanOut(2, later)).rejects.toMatchObject({ failure: { status: 503, accepted: true } })
    await expect(fanOut(2, () => Promise.reject(busy()))).rejects.toMatchObject({
      failure: { accepted: false },
    })
  })

  it('fail with the reason of an aborted signal', async () => {
    const reason = new Error('left')
    await expect(fanOut(2, () => Promise.reject(reason))).rejects.toBe(reason)
  })

  it('threat 166: have the usage of those that were there when the signal was aborted', async () => {
    const reason = new Error('left')
    let calls = 0
    const ask = async (): Promise<Completion> => {
      if (++calls > 3) throw reason
      return answer('a', 10)
    }
    const ended = { usage: { prompt_tokens: 30 }, calls: { reported: 3, unreported: 0, open: 1 } }
    await expect(fanOut(4, ask)).rejects.toMatchObject({ name: 'EndedCalls', cause: reason, spent: ended })
  })
})

describe('n streams', () => {
  const choice = (content: string, finish_reason: 'stop' | null = null): ChunkChoice => ({
    index: 0,
    delta: { content },
    finish_reason,
  })
  const opened = (batches: AsyncIterable<ChunkChoice[]>, id = 'first'): ChatStream => ({
    head: { id, object: 'chat.completion.chunk', created: 1, model: 'm' },
    batches,
    usage: () => usage(10),
  })
  async function* saying(name: string): AsyncGenerator<ChunkChoice[]> {
    yield [choice(`${name}1`)]
    await new Promise((resolve) => setTimeout(resolve, 1))
    yield [choice(`${name}2`), choice('', 'stop')]
  }

  it('are merged by index, with one head and one usage', async () => {
    let calls = 0
    const stream = await fanOutStream(10, signal, async () => opened(saying(`s${calls++}-`), `id${calls}`))
    const texts = Array.from({ length: 10 }, () => '')
    const finishes: number[] = []
    let last: unknown
    for await (const chunk of toChunks(stream)) {
      expect(chunk.id).toBe('id1')
      last = chunk.usage
      for (const { index, delta, finish_reason } of chunk.choices) {
        texts[index] = `${texts[index]}${delta.content ?? ''}`
        if (finish_reason) finishes.push(index)
      }
    }
    expect(texts).toEqual(Array.from({ length: 10 }, (_, index) => `s${index}-1s${index}-2`))
    expect(finishes.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 10 }, (_, index) => index))
    expect(last).toEqual({ ...usage(100), completion_tokens: 10, total_tokens: 110 })
  })

  it('are read in turn, so that none holds back another', async () => {
    async function* fast(): AsyncGenerator<ChunkChoice[]> {
      for (let i = 0; i < 50; i++) yield [choice('x')]
    }
    const { batches } = await fanOutStream(2, signal, async () => opened(fast()))
    const order: number[] = []
    for await (const [{ index }] of batches as AsyncIterable<[ChunkChoice]>) order.push(index)
    expect(order.slice(0, 10).toSorted((a, b) => a - b)).toEqual([0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
  })

  it('threat 166: fail before the start if one does, with the usage of those that had begun', async () => {
    const refused = new UpstreamError('Busy', { provider: 'p', kind: 'status', status: 429, accepted: false })
    let calls = 0
    let ended = 0
    const open = async (): Promise<ChatStream> => {
      const call = calls++
      if (call === 1) throw refused
      async function* batches() {
        yield* saying('a')
        ended++
      }
      return { ...opened(batches()), usage: () => (ended < 2 ? undefined : usage(10)) }
    }
    await expect(fanOutStream(3, signal, open)).rejects.toMatchObject({
      failure: { status: 429, accepted: true, usage: { prompt_tokens: 20 }, unreported: undefined },
    })
  })

  it('fail before the start with the reason of an aborted signal', async () => {
    const controller = new AbortController()
    const reason = new Error('left')
    const open = (given: Signal) =>
      new Promise<ChatStream>((_, reject) => given.addEventListener('abort', () => reject(given.reason as Error)))
    const stream = fanOutStream(3, controller.signal, open)
    controller.abort(reason)
    await expect(stream).rejects.toBe(reason)
  })

  it('stop silently if nobody reads any more', async () => {
    const unhandled = vi.fn()
    process.on('unhandledRejection', unhandled)
    onTestFinished(() => void process.off('unhandledRejection', unhandled))
    const controller = new AbortController()
    async function* waiting(one: Signal): AsyncGenerator<ChunkChoice[]> {
      yield [choice('x')]
      await new Promise((_, reject) => one.addEventListener('abort', () => reject(one.reason as Error)))
    }
    const stream = await fanOutStream(2, controller.signal, async (one) => opened(waiting(one)))
    await stream.batches[Symbol.asyncIterator]().next()
    controller.abort(new Error('left'))
    await new Promise((resolve) => setTimeout(resolve, 5))
    expect(unhandled).not.toHaveBeenCalled()
  })

  it('are not aborted after they are complete', async () => {
    let given!: Signal
    const stream = await fanOutStream(2, signal, async (one) => {
      given = one
      return opened(saying('a'))
    })
    for await (const _ of stream.batches);
    expect(given.aborted).toBe(false)
  })

  it('fail together in mid-stream, once those that run have been read', async () => {
    async function* breaking(): AsyncGenerator<ChunkChoice[]> {
      yield [choice('x')]
      throw new Error('broke')
    }
    let calls = 0
    const stream = await fanOutStream(20, signal, async () => opened(calls++ === 0 ? breaking() : saying('a')))
    let text = ''
    const read = async () => {
      for await (const choices of stream.batches) for (const { delta } of choices) text += delta.content
    }
    await expect(read()).rejects.toThrow('broke')
    expect(text.match(/a2/g)).toHaveLength(7)
    expect(calls).toBe(8)
  })

  it('tell what each call reports that may be billed', async () => {
    const told = [usage(1), undefined, usage(3)]
    let calls = 0
    const refused = new UpstreamError('Busy', { provider: 'p', kind: 'status', status: 429, accepted: false })
    const stream = await fanOutStream(20, signal, async () => {
      const index = calls++
      if (index === 9) throw refused
      return { ...opened(saying(`s${index}`)), usage: () => told[index] }
    })
    const read = async () => {
      for await (const _ of stream.batches);
    }
    await expect(read()).rejects.toBe(refused)
    expect(calls).toBeLessThan(20)
    const reports = [...stream.calls!()]
    expect(reports.slice(0, 3)).toEqual([
      [0, told[0]],
      [1, undefined],
      [2, told[2]],
    ])
    expect([reports.length, new Map(reports).has(9)]).toEqual([calls - 1, false])
    expect(stream.usage()).toMatchObject({ prompt_tokens: 4, completion_tokens: 2 })
  })

  it('begin no further call once nobody reads', async () => {
    let calls = 0
    const stream = await fanOutStream(20, signal, async () => opened(saying(`s${calls++}`)))
    for await (const _ of stream.batches) stream.beginNoMore!()
    expect([calls, stream.calls!().size]).toEqual([8, 8])
  })

  it('are aborted when the reader returns', async () => {
    let given!: Signal
    const stream = await fanOutStream(2, signal, async (one) => {
      given = one
      return opened(saying('a'))
    })
    for await (const _ of stream.batches) break
    expect(given.aborted).toBe(true)
  })
})

describe('a request for n', () => {
  const request: ChatCompletionRequest = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], n: 3 }
  const chatOf = (oneChoice: boolean) => {
    const asked: ChatCompletionRequest[] = []
    const prepare = vi.fn(async (given: ChatCompletionRequest) => ({ ...given, prepared: true }))
    const ask = async (given: ChatCompletionRequest) => {
      asked.push(given)
      return answer('a', 1)
    }
    const stream = () => Promise.reject(new Error('not called'))
    return { asked, prepare, chat: { oneChoice, prepare, preview: () => [], complete: ask, stream } }
  }

  it('is one call where a call returns n answers', async () => {
    const { asked, prepare, chat } = chatOf(false)
    await complete(chat, request, { signal })
    expect([asked, prepare.mock.calls]).toEqual([[request], []])
  })

  it('is n calls otherwise, prepared once', async () => {
    const { asked, prepare, chat } = chatOf(true)
    expect((await complete(chat, request, { signal })).choices).toHaveLength(3)
    expect(asked).toEqual(Array.from({ length: 3 }, () => ({ ...request, n: undefined, prepared: true })))
    expect(prepare).toHaveBeenCalledTimes(1)
  })
})
