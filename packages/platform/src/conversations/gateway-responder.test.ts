import { ApiError, changeBalance, createUser } from '@turnpike/core'
import { describe, expect, it } from 'vitest'
import type { TestOptions } from '../../../../test/support/gateway.js'
import { answer, chunk, streamed, testGateway } from '../../../../test/support/gateway.js'
import { gatewayResponder } from './gateway-responder.js'

type FakeAnswer = NonNullable<ReturnType<NonNullable<TestOptions['upstream']>>>

const hello = (): FakeAnswer => streamed(chunk('Hel'), chunk('lo'), chunk('', 'stop'), '[DONE]')

/** A responder by a gateway whose upstream answers as `upstream` says for each model. */
async function setUp(
  upstream: (model: string) => FakeAnswer | undefined,
  options: TestOptions = {},
  models = ['gpt-4o', 'gpt-4o-mini'],
) {
  const at = await testGateway({ upstream: ({ body }) => upstream((body as { model: string }).model), ...options })
  const user = await createUser(at.kv, { id: 'ada' })
  const controller = new AbortController()
  const respond = gatewayResponder(at.gateway, { models: async () => models })
  const project = {
    id: '01900000-0000-7000-8000-00000000000a',
    name: 'A',
    team_type: 'custom' as const,
    color: '#64748b',
    description: null,
    user_id: 'ada',
    created_at: '2026-01-02T00:00:00.000Z',
    updated_at: '2026-01-02T00:00:00.000Z',
  }
  const ask = (own: string[] = []) =>
    respond({
      user,
      project,
      conversation_id: '01900000-0000-7000-8000-00000000000b',
      models: own,
      messages: [{ role: 'user', content: 'Hi' }],
      signal: controller.signal,
    })
  /** The text of a reply. */
  const reply = async (own?: string[]): Promise<string> => {
    let text = ''
    for await (const { choices } of ask(own)) text += choices[0]?.delta.content ?? ''
    return text
  }
  const asked = () => at.upstream.requests.map(({ body }) => (body as { model: string }).model)
  return { ...at, ask, reply, asked, controller, records: async () => (await at.gateway.ledger.records('ada')).items }
}

/** What a reply rejects with. */
const failure = (promise: Promise<unknown>): Promise<ApiError> =>
  promise.then(
    () => Promise.reject(new Error('It did not fail')),
    (error: ApiError) => error,
  )

describe('a reply by the gateway', () => {
  it('is a stream of chunks, which the user pays for', async () => {
    const { reply, records } = await setUp(hello)
    expect(await reply()).toBe('Hello')
    expect(await records()).toMatchObject([
      { user_id: 'ada', key_id: '', model: 'gpt-4o', conversation_id: '01900000-0000-7000-8000-00000000000b' },
    ])
  })

  it('passes the guards of the gateway', async () => {
    const seen: unknown[] = []
    const cover = { name: 'cover', request: (asked: object) => void seen.push(asked), text: () => 'Covered' }
    const { reply } = await setUp(hello, { guards: [cover] })
    expect(await reply()).toBe('Covered')
    const conversation_id = '01900000-0000-7000-8000-00000000000b'
    expect(seen).toMatchObject([{ user_id: 'ada', key_id: '', conversation_id }])

    const refuseAll = () => {
      throw new ApiError(400, 'invalid_request_error', 'Not here', { code: 'content_filter' })
    }
    const before = await setUp(hello, { guards: [{ name: 'no', request: refuseAll }] })
    expect(await failure(before.reply())).toMatchObject({ status: 400, code: 'content_filter', message: 'Not here' })
    expect(before.asked()).toEqual([])
    const after = await setUp(hello, { guards: [{ name: 'no', text: refuseAll }] })
    expect(await failure(after.reply())).toMatchObject({ status: 502, message: 'Not here' })
    // It is paid, and no other model is asked.
    expect([after.asked(), (await after.records()).length]).toEqual([['gpt-4o'], 1])
  })

  it('is by the models of the team first', async () => {
    const { reply, asked } = await setUp(hello)
    expect(await reply(['gpt-4.1'])).toBe('Hello')
    expect(asked()).toEqual(['gpt-4.1'])
  })

  it.each([
    ['an error of the upstream', answer({ error: { message: 'down' } }, 503)],
    ['a limit of its rate', answer({ error: { message: 'slower' } }, 429, { 'retry-after': '1' })],
  ])('is by the next model after %s', async (_, refusal) => {
    const { reply, asked } = await setUp((model) => (model === 'gpt-4o' ? refusal : hello()))
    expect(await reply()).toBe('Hello')
    expect(asked()).toEqual(['gpt-4o', 'gpt-4o-mini'])
  })

  it('is by the next model where there is none of that name', async () => {
    const none = answer({ error: { message: 'The model does not exist', code: 'model_not_found' } }, 404)
    const { reply, asked } = await setUp((model) => (model === 'no-such-model' ? none : hello()))
    expect(await reply(['no-such-model'])).toBe('Hello')
    expect(asked()).toEqual(['no-such-model', 'gpt-4o'])
  })

  it('is not tried again with another model where something may have been paid', async () => {
    // The upstream has accepted the request, and its answer is lost.
    const { reply, asked } = await setUp(() => streamed(new Error('gone')))
    expect(await failure(reply())).toMatchObject({ status: 502, shouldRetry: false })
    expect(asked()).toEqual(['gpt-4o'])
  })

  it('is not tried again where the user has no credits', async () => {
    const { reply, asked, kv } = await setUp(hello, { balancePolicy: 'enforce' })
    expect(await failure(reply())).toMatchObject({ status: 403, code: 'insufficient_credits' })
    expect(asked()).toEqual([])
    await changeBalance(kv, 'ada', () => ({ credit_coins: 1 }))
    expect(await reply()).toBe('Hello')
  })

  it('tells when to try again', async () => {
    const { reply } = await setUp(() => answer({ error: { message: 'slower' } }, 429, { 'retry-after': '7' }))
    const error = await failure(reply())
    expect(error).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
    expect(error.retryAfter).toBeGreaterThanOrEqual(1)
  })

  it('is a 503 without a model', async () => {
    const { reply } = await setUp(hello, {}, [])
    expect(await failure(reply())).toMatchObject({ status: 503, code: 'overloaded' })
  })

  it('ends with an error where the stream breaks off, after the chunks that came', async () => {
    const { ask, asked } = await setUp(() => streamed(chunk('Hel'), new Error('gone')))
    const texts: unknown[] = []
    const error = await failure(
      (async () => {
        for await (const { choices } of ask()) texts.push(choices[0]?.delta.content)
      })(),
    )
    expect([texts.join(''), error.status, asked()]).toEqual(['Hel', 502, ['gpt-4o']])
  })

  it('stops the upstream when its caller leaves', async () => {
    const { ask, controller, signals } = await setUp(() => streamed(chunk('Hel'), new Promise(() => undefined)))
    const chunks = ask()[Symbol.asyncIterator]()
    expect((await chunks.next()).value).toMatchObject({ choices: [{ delta: { content: 'Hel' } }] })
    controller.abort()
    await chunks.return?.()
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })
})
