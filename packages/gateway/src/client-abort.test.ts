import { describe, expect, it } from 'vitest'
import { chunk, streamed, testGateway } from '../../../test/support/gateway.js'

describe('a client that disconnects', () => {
  const later = () => {
    let open = (): void => undefined
    const gate = new Promise<void>((resolve) => (open = resolve))
    return { gate, open: () => open() }
  }

  it('before a whole answer: an estimate of what was sent is recorded', async () => {
    const client = new AbortController()
    const { chat, records, logs } = await testGateway({
      upstream: () => ({
        status: 200,
        headers: { 'content-type': 'application/json' },
        body: streamed(new Promise(() => undefined)).body,
      }),
    })
    const asked = chat({}, { signal: client.signal })
    await new Promise((resolve) => setTimeout(resolve, 20))
    client.abort()
    await asked
    expect(await records()).toMatchObject([
      { outcome: 'client_abort', accuracy: 'estimated', prompt_tokens: 1, completion_tokens: 0, units: { input: 1 } },
    ])
    // Nobody failed.
    expect(logs).toMatchObject([{ status: 499, outcome: 'client_abort' }])
    expect(logs[0]).not.toHaveProperty('error_type')
  })

  it('from a stream with drain: the report of the upstream is recorded', async () => {
    const { gate, open } = later()
    const tokens = { prompt_tokens: 9, completion_tokens: 70 }
    const usage = { ...tokens, total_tokens: 79 }
    const { chat, records, signals, gateway } = await testGateway({
      onClientAbort: 'drain',
      upstream: () =>
        streamed(chunk('Hello'), gate, chunk(' world', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]'),
    })
    const reader = (await chat({ stream: true })).body!.getReader()
    await reader.read()
    const left = reader.cancel()
    await new Promise((resolve) => setTimeout(resolve, 20))
    expect([signals[0]!.aborted, await records()]).toEqual([false, []])
    open()
    await left
    await gateway.drain()
    expect(await records()).toMatchObject([{ outcome: 'client_abort', accuracy: 'reported', ...tokens }])
  })

  it('from a stream with drain: the wait is limited', async () => {
    const { chat, records, signals } = await testGateway({
      onClientAbort: 'drain',
      abandonedMs: 30,
      upstream: () => streamed(chunk('Hello'), new Promise(() => undefined)),
    })
    const client = new AbortController()
    const reader = (await chat({ stream: true }, { signal: client.signal })).body!.getReader()
    await reader.read()
    client.abort()
    await reader.cancel().catch(() => undefined)
    await expect.poll(records).toMatchObject([{ outcome: 'client_abort', accuracy: 'estimated', completion_tokens: 2 }])
    expect(signals[0]!.aborted).toBe(true)
  })
})
