import { ApiError } from '@turnpike/core'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { eventsOf } from '../../../../test/support/events.js'
import { fetchShell } from './fetch-shell.js'
import { createHandler } from '../handler.js'
import { bytes, operation, route, sse } from '../operation.js'

/** A handler whose `enter` writes down who comes and goes, with one route for each method. */
function setUp(run: () => unknown, enter?: () => undefined) {
  const steps: string[] = []
  const one = (body?: v.GenericSchema) =>
    operation<string, string>({
      id: 'test',
      summary: '',
      access: 'key',
      ...(body && { body }),
      run: () => (steps.push('run'), run()),
    })
  const { handle } = createHandler<string>({
    routes: [route('POST', '/things', one(v.object({}))), route('GET', '/things', one())],
    authenticate: () => (steps.push('authenticate'), 'ada'),
    enter:
      enter ??
      ((actor, access) => {
        steps.push(`enter ${actor} ${access}`)
        return () => steps.push('leave')
      }),
    errorBody: ({ code }) => ({ code }),
  })
  const shell = fetchShell(handle)
  const controller = new AbortController()
  const send = (method: string, body?: string) =>
    shell(
      new Request('https://gw.example/things', {
        method,
        signal: controller.signal,
        ...(body !== undefined && { body, headers: { 'content-type': 'application/json' } }),
      }),
    )
  return { send, steps, depart: () => controller.abort() }
}

const inside = ['authenticate', 'enter ada key', 'run']
const whole = [...inside, 'leave']
const ignore = () => undefined

async function* audio(error?: Error) {
  yield Uint8Array.of(1)
  if (error) throw error
}

describe('enter', () => {
  it('runs after authentication and before the body is read, and again once that has been waited for', async () => {
    const { send, steps } = setUp(ignore)
    expect((await send('GET')).status).toBe(200)
    expect(steps.splice(0)).toEqual(whole)
    expect((await send('POST', '{}')).status).toBe(200)
    const before = ['authenticate', 'enter ada key', 'leave']
    expect(steps).toEqual([...before, 'authenticate', 'enter ada key', 'run', 'leave'])
  })

  it('can refuse, and then nothing is read, run or released', async () => {
    const { send, steps } = setUp(ignore, () => {
      throw new ApiError(503, 'server_error', 'Full', { code: 'overloaded', retryAfter: 1 })
    })
    const response = await send('POST', 'no JSON')
    expect([response.status, response.headers.get('retry-after'), await response.json()]).toEqual([
      503,
      '1',
      { code: 'overloaded' },
    ])
    expect(steps).toEqual(['authenticate'])
  })

  it('may return no release function', async () => {
    const { send } = setUp(() => sse(eventsOf({ a: 1 })), ignore)
    expect(await (await send('GET')).text()).toContain('[DONE]')
  })

  it('is not called without an operation', async () => {
    const { send, steps } = setUp(ignore)
    expect([(await send('OPTIONS')).status, (await send('PUT')).status]).toEqual([204, 405])
    expect(steps).toEqual([])
  })
})

describe('the release function is called once for each entry', () => {
  it.each<[string, string, string | undefined, () => unknown]>([
    ['a body that is no JSON', 'POST', 'no JSON', ignore],
    ['a body that is wrong', 'POST', '[1]', ignore],
    ['an operation that fails', 'GET', undefined, () => Promise.reject(new Error('x'))],
    ['a value that is no JSON', 'GET', undefined, () => 1n],
    ['a text', 'GET', undefined, () => bytes('text', 'text/plain')],
    ['a stream that is not sent to HEAD', 'HEAD', undefined, () => sse(eventsOf({ a: 1 }))],
    ['bytes that are not sent to HEAD', 'HEAD', undefined, () => bytes(audio(), 'audio/mpeg')],
  ])('for %s, with the answer', async (_, method, body, run) => {
    const { send, steps, depart } = setUp(run)
    await send(method, body)
    depart()
    expect(steps.filter((step) => step !== 'authenticate' && step !== 'run')).toEqual(
      (method === 'POST' ? [1, 2] : [1]).flatMap(() => ['enter ada key', 'leave']),
    )
  })

  it.each<[string, () => unknown]>([
    ['events', () => sse(eventsOf({ a: 1 }, { a: 2 }))],
    ['events that fail', () => sse(eventsOf({ a: 1 }, new Error('x')))],
    ['bytes', () => bytes(audio(), 'audio/mpeg')],
    ['bytes that fail', () => bytes(audio(new Error('x')), 'audio/mpeg')],
  ])('for a stream of %s, at its end', async (_, run) => {
    const { send, steps, depart } = setUp(run)
    const reader = (await send('GET')).body!.getReader()
    await reader.read()
    expect(steps).toEqual(inside)
    const rest = async () => {
      while (!(await reader.read()).done);
    }
    await rest().catch(ignore)
    expect(steps).toEqual(whole)
    depart()
    expect(steps).toEqual(whole)
  })

  it.each<[string, () => unknown]>([
    ['events', () => sse(eventsOf({ a: 1 }, { a: 2 }))],
    ['bytes', () => bytes(audio(), 'audio/mpeg')],
  ])('for a stream of %s that nobody reads, when its client disconnects', async (_, run) => {
    const departed = setUp(run)
    const response = await departed.send('GET')
    departed.depart()
    await expect.poll(() => departed.steps).toEqual(whole)
    await response.body!.cancel()
    expect(departed.steps).toEqual(whole)

    const cancelled = setUp(run)
    await (await cancelled.send('GET')).body!.cancel()
    expect(cancelled.steps).toEqual(whole)
  })
})
