// Longer than 250 lines: one route, with a reader of its stream.
import { afterEach, describe, expect, it, vi } from 'vitest'
import { watchTimers } from '../../../../../test/support/timers.js'
import { adminGateway } from '../../../../../test/support/admin.js'
import { answer, chunk, streamed } from '../../../../../test/support/gateway.js'
import type { RequestEvent } from '../../records/request-events.js'
import { requestEvents } from '../../records/request-events.js'

const event = (request_id: string): RequestEvent => ({
  request_id,
  user_id: 'ada',
  time: '2026-01-02T00:00:00.000Z',
  method: 'POST',
  route: '/v1/chat/completions',
  status: 200,
  duration_ms: 5,
})

/** What a browser makes of a stream. */
interface Parsed {
  id?: string
  event?: string
  data: Record<string, unknown>
}

/** Reads events as they come. */
function reader(response: Response) {
  const body = response.body!.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  const events: Parsed[] = []
  /** @returns false at the end */
  const read = async (): Promise<boolean> => {
    const { done, value } = await body.read()
    text += value ?? ''
    const blocks = text.split('\n\n')
    text = blocks.pop()!
    for (const block of blocks) {
      const fields = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s).slice(0, 2)))
      if (fields.data) events.push({ ...fields, data: JSON.parse(fields.data as string) })
    }
    return !done
  }
  return {
    body,
    read,
    async until(count: number): Promise<Parsed[]> {
      while (events.length < count && (await read()));
      return events
    },
    async rest(): Promise<Parsed[]> {
      while (await read());
      return events
    },
  }
}
const ids = (events: Parsed[]): unknown[] => events.map(({ data }) => data['request_id'])

afterEach(() => vi.useRealTimers())

describe('GET /admin/events', () => {
  it('sends each finished request, without its content', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    const { ask, chat, send, key, keyId } = await adminGateway({
      upstream: ({ body }) =>
        (body as { stream?: boolean }).stream
          ? streamed(chunk('SECRET'), chunk('', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]')
          : JSON.stringify(body).includes('fail')
            ? answer({ error: { message: 'SECRET' } }, 500)
            : undefined,
    })
    const { until } = reader(await ask('/admin/events'))
    const message = (content: string) => ({ messages: [{ role: 'user', content }] })
    const responses: Response[] = []
    for (const fields of [{ ...message('SECRET'), stream: true }, message('SECRET fail'), { n: 0 }]) {
      const response = await chat(fields, { headers: { 'x-secret': 'SECRET' } })
      await response.text()
      responses.push(response)
    }
    await send('GET', '/v1/models?provider=SECRET')
    await send('GET', '/health')
    await send('GET', '/v1/users')
    await send('GET', '/v1/SECRET')
    await send('GET', '/v1/models', undefined, { headers: { authorization: 'Bearer SECRET' } })
    const events = await until(5)
    const common = (i: number) => ({
      request_id: responses[i]!.headers.get('x-request-id'),
      time: '2026-01-02T00:00:00.000Z',
      method: 'POST',
      route: '/v1/chat/completions',
      duration_ms: expect.any(Number) as number,
      key_id: keyId,
      user_id: '01900000-0000-7000-8000-000000000001',
    })
    expect(events.map(({ data }) => data)).toEqual([
      {
        ...common(0),
        status: 200,
        task: 'chat',
        requested_model: 'gpt-4o',
        provider: 'openai',
        model: 'gpt-4o',
        stream: true,
        outcome: 'complete',
        attempts: 1,
        prompt_tokens: 9,
        completion_tokens: 3,
        cost_usd: 0.0000525,
        first_token_ms: expect.any(Number) as number,
      },
      {
        ...common(1),
        status: 502,
        task: 'chat',
        requested_model: 'gpt-4o',
        provider: 'openai',
        model: 'gpt-4o',
        stream: false,
        failed_calls: 'openai/gpt-4o: status 500',
        calls_ms: expect.stringMatching(/^\d+-\d+$/) as string,
        error_type: 'upstream_error',
        error_code: 'upstream_error',
      },
      { ...common(2), status: 400, error_type: 'invalid_request_error', error_code: 'invalid_body', error_field: 'n' },
      expect.objectContaining({ route: '/v1/models', status: 200, key_id: keyId }),
      expect.objectContaining({ route: '/v1/models', status: 401, error_code: 'invalid_api_key' }),
    ])
    expect(events.map(({ id }) => id)).toEqual(ids(events))
    expect(JSON.stringify(events)).not.toMatch(/SECRET|Bearer|10\.0\./)
    expect(JSON.stringify(events)).not.toContain(key)
  })

  it('threat 213: keeps those of users, however many requests with wrong keys come', () => {
    const events = requestEvents({ keep: 20 })
    const { publish } = events
    publish(event('a'))
    for (let i = 0; i < 30; i++) publish({ ...event(`x${i}`), user_id: undefined })
    publish(event('b'))
    expect(events.recent().map(({ request_id }) => request_id)).toEqual(['a', 'x28', 'x29', 'b'])
  })

  it.each([
    ['', undefined, ['b', 'c', 'd']],
    ['?replay=2', undefined, ['c', 'd']],
    ['?replay=0', undefined, []],
    ['?replay=9', undefined, ['b', 'c', 'd']],
    ['', 'b', ['c', 'd']],
    ['', 'd', []],
    ['', 'a', ['b', 'c', 'd']],
    ['?replay=1', 'b', ['d']],
  ])('starts with the last requests: %s after %s', async (query, lastId, told) => {
    const events = requestEvents({ keep: 3 })
    for (const id of ['a', 'b', 'c', 'd']) events.publish(event(id))
    const { ask } = await adminGateway({ events })
    const response = await ask(`/admin/events${query}`, lastId === undefined ? {} : { 'last-event-id': lastId })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const stream = reader(response)
    // The head goes out at once, also where there is nothing to tell yet.
    await stream.read()
    events.publish(event('e'))
    expect(ids(await stream.until(told.length + 1))).toEqual([...told, 'e'])
  })

  it('reports to a slow reader how many events it missed, and buffers at most a thousand', async () => {
    const events = requestEvents({ keep: 0 })
    const { ask } = await adminGateway({ events })
    const { read, until } = reader(await ask('/admin/events'))
    await read()
    // The first wakes the stream, which takes it along.
    for (let i = 0; i <= 2_500; i++) events.publish(event(`${i}`))
    const [dropped, ...rest] = await until(1_001)
    expect(dropped).toEqual({ event: 'dropped', data: { dropped: 1_501 } })
    expect(ids(rest)).toEqual(Array.from({ length: 1_000 }, (_, i) => `${1_501 + i}`))
    events.publish(event('next'))
    // Told once.
    expect((await until(1_002)).slice(1_001)).toMatchObject([{ id: 'next' }])
  })

  it('sends heartbeats', async () => {
    const { ask } = await adminGateway({ heartbeatMs: 5 })
    const body = (await ask('/admin/events')).body!.pipeThrough(new TextDecoderStream()).getReader()
    expect((await body.read()).value).toBe('retry: 2000\n\n')
    expect((await body.read()).value).toBe(': ping\n\n')
    await body.cancel()
  })

  it('releases readers that disconnect', async () => {
    const events = requestEvents()
    let readers = 0
    const subscribe: typeof events.subscribe = (listener) => {
      readers++
      const end = events.subscribe(listener)
      return () => {
        readers--
        end()
      }
    }
    const { ask, send, key, logs } = await adminGateway({ events: { ...events, subscribe } })
    // One has no body, one is never read, one leaves between two events, one while it waits.
    await send('HEAD', '/admin/events', undefined, { headers: { authorization: `Bearer ${key}` } })
    expect(readers).toBe(0)
    await (await ask('/admin/events')).body!.cancel()
    const between = reader(await ask('/admin/events'))
    await between.read()
    expect(readers).toBe(1)
    await between.body.cancel()
    const waiting = reader(await ask('/admin/events'))
    await waiting.read()
    const pending = waiting.read().catch(() => undefined)
    await waiting.body.cancel()
    await pending
    await expect.poll(() => [readers, logs.length]).toEqual([0, 4])
  })

  it('ends after a minute, and continues without a gap for authorised readers', async () => {
    vi.useFakeTimers()
    const expectNoTimers = watchTimers()
    const events = requestEvents()
    const { ask, send, key } = await adminGateway({ events })
    const stream = reader(await ask('/admin/events'))
    await stream.read()
    const seen = stream.until(2)
    events.publish(event('first'))
    await vi.advanceTimersByTimeAsync(59_000)
    events.publish(event('second'))
    expect(ids(await seen)).toEqual(['first', 'second'])
    const rest = stream.rest()
    await vi.advanceTimersByTimeAsync(1_000)
    expect(await rest).toHaveLength(2)

    events.publish(event('third'))
    const again = reader(await ask('/admin/events', { 'last-event-id': 'second' }))
    expect(ids(await again.until(1))).toEqual(['third'])
    await again.body.cancel()
    const headers = { authorization: `Bearer ${key}`, 'last-event-id': 'second' }
    expect((await send('GET', '/admin/events', undefined, { headers })).status).toBe(403)
    await expectNoTimers()
  })

  it('ends immediately when the gateway drains', async () => {
    const events = requestEvents()
    const { ask, gateway } = await adminGateway({ events })
    const stream = reader(await ask('/admin/events'))
    await stream.read()
    events.publish(event('last'))
    await gateway.drain()
    expect(ids(await stream.rest())).toEqual(['last'])
    events.publish(event('later'))
    expect(ids(await reader(await ask('/admin/events')).rest())).toEqual(['last', 'later'])
  })

  it('includes relayed events, and relays its own', async () => {
    const events = requestEvents()
    const sent: RequestEvent[] = []
    const publish = (one: RequestEvent): void => {
      sent.push(one)
      events.publish(one)
    }
    const { ask, chat } = await adminGateway({ events: { ...events, publish } })
    const { until } = reader(await ask('/admin/events'))
    // As a relay between processes would.
    events.publish(JSON.parse(JSON.stringify(event('elsewhere'))) as RequestEvent)
    await chat()
    expect(ids(await until(2))).toEqual(['elsewhere', sent[0]!.request_id])
    expect(sent).toHaveLength(1)
  })

  it('does not affect requests if a subscriber throws', async () => {
    const told: string[] = []
    const fail = () => {
      throw new Error('broken')
    }
    const events = { ...requestEvents(), publish: fail }
    const { chat } = await adminGateway({ events, onRequest: [fail, ({ route }) => told.push(route)] })
    expect((await chat()).status).toBe(200)
    expect(told).toEqual(['/v1/chat/completions'])
  })
})
