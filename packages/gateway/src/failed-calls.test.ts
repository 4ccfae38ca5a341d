import { createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, testGateway } from '../../../test/support/gateway.js'
import { requestEvents } from './request-events.js'

const refusal = (status: number) => answer({ error: { message: 'SECRET' } }, status)

/** A gateway whose group `any` has a provider for each of these answers; undefined = it answers well, null = it cannot be reached. */
async function setUp(answers: Record<string, FakeAnswer | null | undefined>) {
  const providers = Object.entries(answers).map(([id, given]) => {
    const { transport } = fakeOpenAI({ override: () => given ?? undefined })
    const broken = () => Promise.reject(Object.assign(new Error('refused'), { code: 'ECONNREFUSED' }))
    return openai({ id, apiKey: 'sk-upstream-secret', transport: given === null ? broken : transport })
  })
  const router = createRouter({ providers, groups: { any: Object.keys(answers).map((id) => `${id}/gpt-4o`) } })
  const events = requestEvents()
  const at = await testGateway({ router, events })
  return {
    ...at,
    /** Sends a request. @returns its status, and what its event and its log record say of failed calls */
    async failedCalls(fields: object = { model: 'any' }) {
      const response = await at.chat(fields)
      await response.text()
      const [event, log] = [events.recent().at(-1)!, at.logs.at(-1)!]
      expect(event.failed_calls).toBe(log['failed_calls'])
      return [response.status, event.failed_calls]
    },
  }
}

describe('failed_calls', () => {
  it('names the calls that failed before another provider answered', async () => {
    const { failedCalls } = await setUp({ a: refusal(429), b: null, c: refusal(503), d: undefined })
    const failed = 'a/gpt-4o: rate_limited 429, b/gpt-4o: unavailable, c/gpt-4o: status 503'
    expect(await failedCalls()).toEqual([200, failed])
    expect(await failedCalls({ model: 'any', stream: true })).toMatchObject([200, expect.stringContaining('c/gpt-4o')])
  })

  it('names the only call, where it fails', async () => {
    const { failedCalls } = await setUp({ a: refusal(401), b: refusal(400) })
    expect(await failedCalls({ model: 'a/gpt-4o' })).toEqual([502, 'a/gpt-4o: credential 401'])
    expect(await failedCalls({ model: 'b/gpt-4o' })).toEqual([400, 'b/gpt-4o: refused 400'])
    expect(await failedCalls({ model: 'b/x, y: z' })).toEqual([400, 'b/x__y:_z: refused 400'])
  })

  it('names an account that cannot pay a credential, after which another provider is tried', async () => {
    const unpaid = answer({ error: { message: 'SECRET', code: 'insufficient_quota' } }, 429)
    const { failedCalls } = await setUp({ a: unpaid, b: undefined })
    expect(await failedCalls()).toEqual([200, 'a/gpt-4o: credential 429'])
    expect(await failedCalls({ model: 'a/gpt-4o' })).toEqual([429, 'a/gpt-4o: credential 429'])
  })

  it('is absent where no call failed', async () => {
    const { failedCalls, logs } = await setUp({ a: undefined })
    expect(await failedCalls()).toEqual([200, undefined])
    expect(await failedCalls({ model: 'none' })).toEqual([400, undefined])
    for (const log of logs) expect(log).not.toHaveProperty('failed_calls')
  })
})
