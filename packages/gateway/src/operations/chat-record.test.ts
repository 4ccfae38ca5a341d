import type { UsageLedger } from '@turnpike/core'
import { ApiError, memoryKV, StorageError } from '@turnpike/core'
import { builtInPrices } from '@turnpike/providers'
import { describe, expect, it } from 'vitest'
import { completion, errorOf, OWNER, testGateway } from '../../../../test/support/gateway.js'

const session = '01900000-AAAA-7000-8000-0000000000FF'

describe('the record of a completion', () => {
  it('has all fields', async () => {
    const { chat, records, keyId, logs } = await testGateway({ upstream: () => completion() })
    const headers = {
      'x-session-id': session,
      'x-conversation-id': session,
      'x-task-id': session,
      'x-project-id': session,
    }
    const response = await chat({ model: 'openai/gpt-4o' }, { headers })
    const tag = session.toLowerCase()
    expect(await records()).toEqual([
      {
        request_id: response.headers.get('x-request-id'),
        user_id: OWNER,
        key_id: keyId,
        session_id: tag,
        conversation_id: tag,
        task_id: tag,
        project_id: tag,
        task: 'chat',
        model: 'gpt-4o',
        provider: 'openai',
        attempts: 1,
        prompt_tokens: 9,
        completion_tokens: 3,
        tokens: 12,
        accuracy: 'reported',
        units: { input: 9, output: 3 },
        rates: { input: 2.5, output: 10, cache_read: 1.25 },
        catalogue: builtInPrices().table().version,
        // 9 × $2.50 and 3 × $10 for a million
        cost_nano_usd: 52_500,
        outcome: 'complete',
        in_session: false,
        latency_ms: expect.any(Number) as number,
        first_token_ms: null,
        timestamp: '2026-01-02T00:00:00.000Z',
      },
    ])
    expect(logs).toMatchObject([
      { route: '/v1/chat/completions', provider: 'openai', model: 'gpt-4o', stream: false, outcome: 'complete' },
    ])
    expect(JSON.stringify(logs)).not.toContain('Hi')
  })

  it.each(['not-a-uuid', 'x'.repeat(10_000), `${session}, ${session}`, ''])('has no tag for %.20s', async (value) => {
    const { chat, records } = await testGateway()
    await chat({}, { headers: { 'x-session-id': value, 'x-task-id': value } })
    expect(await records()).toMatchObject([{ session_id: '', task_id: '', conversation_id: '', project_id: '' }])
  })

  it.each([
    ['reports no usage', undefined],
    ['reports what no answer has', { prompt_tokens: 2e9, completion_tokens: 2e9, total_tokens: 4e9 }],
    ['reports a prompt that no answer has', { prompt_tokens: 2e9, completion_tokens: 2, total_tokens: 4e9 }],
  ])('is estimated where the upstream %s, and the client receives the estimate', async (_, reported) => {
    const { chat, records } = await testGateway({ upstream: () => completion({ usage: reported }) })
    const response = await chat({ messages: [{ role: 'user', content: 'x'.repeat(41) }], system: 'abc' })
    const usage = { prompt_tokens: 11, completion_tokens: 2, total_tokens: 13 }
    expect(await response.json()).toMatchObject({ usage })
    expect(await records()).toMatchObject([
      { prompt_tokens: 11, completion_tokens: 2, tokens: 13, accuracy: 'estimated' },
    ])
  })

  it('has sums that match', async () => {
    const { chat, gateway } = await testGateway({ upstream: () => completion() })
    await Promise.all([chat(), chat(), chat()])
    expect(await gateway.ledger.totals('user', OWNER)).toEqual({
      requests: 3,
      unpriced: 0,
      prompt_tokens: 27,
      completion_tokens: 9,
      tokens: 36,
      cost_nano_usd: 3 * 52_500,
    })
  })

  it('is stored before the answer is sent', async () => {
    let store = (): void => undefined
    const stored = new Promise<void>((resolve) => (store = resolve))
    const ledger = { ready: async () => undefined, append: () => stored } as unknown as UsageLedger
    const { chat } = await testGateway({ ledger })
    let answered = false
    const response = chat().then((value) => ((answered = true), value))
    await new Promise(setImmediate)
    expect(answered).toBe(false)
    store()
    expect((await response).status).toBe(200)
  })
})

describe('a ledger that cannot be written', () => {
  const unavailable = {
    type: 'server_error',
    code: 'ledger_unavailable',
    message: 'Usage cannot be recorded at the moment',
  }

  it('fails the request whose record is lost, and refuses later ones before they cost anything', async () => {
    const kv = await memoryKV()
    let broken = false
    const breaking = {
      ...kv,
      commit: (change: Parameters<typeof kv.commit>[0]) =>
        broken ? Promise.reject(new StorageError('Disk full', 'none')) : kv.commit(change),
    }
    const { chat, upstream, send, errors } = await testGateway({ kv: breaking })
    broken = true
    const first = await chat()
    expect([first.status, await errorOf(first), upstream.requests.length]).toEqual([500, unavailable, 1])
    expect(first.headers.get('x-should-retry')).toBe('false')
    const second = await chat({ stream: true })
    expect(second.headers.get('x-should-retry')).toBeNull()
    expect([second.status, await errorOf(second), upstream.requests.length]).toEqual([500, unavailable, 1])
    expect(errors).toHaveLength(2)
    expect(await (await send('GET', '/health')).json()).toMatchObject({ status: 'unavailable' })
    broken = false
    expect((await chat()).status).toBe(200)
  })

  it('reports the error of a custom ledger', async () => {
    const error = new ApiError(500, 'server_error', 'No', { code: 'ledger_unavailable' })
    const ledger = { ready: () => Promise.reject(error) } as unknown as UsageLedger
    const { chat, upstream } = await testGateway({ ledger })
    expect(await errorOf(await chat())).toEqual({ type: 'server_error', code: 'ledger_unavailable', message: 'No' })
    expect(upstream.requests).toEqual([])
  })
})
