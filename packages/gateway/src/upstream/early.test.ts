import { createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, testGateway } from '../../../../test/support/gateway.js'

/** A gateway whose upstream answers once `release` was called, and fails as the signal says. */
async function setUp(override?: () => FakeAnswer, options: object = {}) {
  let release = (): void => undefined
  const gate = new Promise<void>((resolve) => (release = resolve))
  const { transport } = fakeOpenAI(override && { override })
  const slow: typeof transport = async (request) => {
    await new Promise<void>((resolve, reject) => {
      void gate.then(resolve)
      request.signal.addEventListener('abort', () => reject(request.signal.reason as Error))
    })
    return transport(request)
  }
  const router = createRouter({ providers: [openai({ apiKey: 'sk-upstream-secret', transport: slow })] })
  const at = await testGateway({ router, earlyPingMs: 10, ...options })
  return { ...at, release }
}

/** Reads the first chunk of a body, and then the rest. */
async function readerOf(response: Response) {
  const reader = response.body!.getReader()
  const decoder = new TextDecoder()
  const next = async () => decoder.decode((await reader.read()).value)
  const rest = async () => {
    let text = ''
    for (let part = await next(); part !== ''; part = await next()) text += part
    return text
  }
  return { next, rest, cancel: () => reader.cancel() }
}

describe('earlyPingMs', () => {
  it('begins a stream with a comment where the first event does not come in time', async () => {
    const { chat, release, records } = await setUp()
    const response = await chat({ stream: true, model: 'gpt-5.4-mini', thinking: { budget_tokens: 20_000 } })
    expect(response.headers.get('x-gateway-warnings')).toBe('emulated=thinking')
    const { next, rest } = await readerOf(response)
    expect([response.status, await next()]).toEqual([200, ': ping\n\n'])
    release()
    const text = await rest()
    expect(text).toMatch(/^data: \{.*\n\n$/s)
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(await records()).toMatchObject([{ outcome: 'complete' }])
  })

  it('repeats the comment after each heartbeat', async () => {
    const { chat, release } = await setUp(undefined, { heartbeatMs: 10 })
    const { next, rest } = await readerOf(await chat({ stream: true }))
    expect([await next(), await next(), await next()]).toEqual(Array(3).fill(': ping\n\n'))
    release()
    expect(await rest()).toContain('[DONE]')
  })

  it('makes a later error an event, without [DONE]', async () => {
    const { chat, release, errors } = await setUp(() => answer({ error: { message: 'SECRET' } }, 500))
    const response = await chat({ stream: true })
    const { next, rest } = await readerOf(response)
    expect([response.status, await next()]).toEqual([200, ': ping\n\n'])
    release()
    const error = { type: 'upstream_error', message: 'The upstream provider failed', code: 'upstream_error' }
    expect(await rest()).toBe(`data: ${JSON.stringify({ error })}\n\n`)
    expect(errors).toHaveLength(1)
  })

  it('leaves an earlier error a status, and an earlier stream as it is', async () => {
    const refused = await setUp(() => answer({ error: { message: 'No' } }, 400), { earlyPingMs: 60_000 })
    refused.release()
    expect((await refused.chat({ stream: true })).status).toBe(400)
    const soon = await setUp(undefined, { earlyPingMs: 60_000 })
    soon.release()
    expect(await (await soon.chat({ stream: true })).text()).not.toContain('ping')
  })

  it('ends the upstream call where the client leaves after the comment', async () => {
    const { chat, logs } = await setUp()
    const { next, cancel } = await readerOf(await chat({ stream: true }))
    expect(await next()).toBe(': ping\n\n')
    await cancel()
    await expect.poll(() => logs.at(-1)).toMatchObject({ status: 200 })
  })

  it('is off by default', async () => {
    const { chat, release } = await setUp(undefined, { earlyPingMs: undefined, heartbeatMs: 1 })
    const asked = chat({ stream: true })
    await new Promise((resolve) => setTimeout(resolve, 30))
    release()
    expect(await (await asked).text()).toMatch(/^data: /)
  })
})

describe('wholeAnswerMs', () => {
  it.each([
    ['its own', { wholeAnswerMs: 10 }],
    ['that of the first event', { firstEventMs: 10 }],
  ])('is %s', async (_, options) => {
    const { chat } = await setUp(undefined, options)
    const response = await chat()
    expect([response.status, await response.json()]).toMatchObject([502, { error: { code: 'upstream_timeout' } }])
  })
})
