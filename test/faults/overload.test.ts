import { once } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Callee, RawCall } from '../support/raw-client.js'
import { chat, openChat } from '../support/raw-client.js'
import type { RawUpstream } from '../support/raw-upstream.js'
import { rawUpstream } from '../support/raw-upstream.js'
import { runtime } from '../support/runtime.js'
import { completion, hello, helloSeen } from './openai.js'
import type { OverloadServer } from './overload.js'
import { sendOn, startOverloadServer } from './overload.js'
import { expectAnswer, expectError, expectStream } from './replies.js'
import { answer, begun, done, error, piece } from './wire.js'

const full = {
  status: 503,
  body: error('server_error', 'overloaded', 'The gateway is overloaded; try again later'),
  retryAfter: '1',
}
const CAP = 10
/** What one key alone may have of it: the rest is kept for others. */
const ALONE = 8

let upstream: RawUpstream
let server: OverloadServer
let one: Callee
let two: Callee
/** Ends all streams that are open. */
let endStreams: () => void

beforeEach(async () => {
  upstream = await rawUpstream()
  server = await startOverloadServer(upstream.url, { maxInFlight: CAP, bodyLimit: 1_000_000 })
  ;[one, two] = server.callees
  const ended = new Promise<void>((resolve) => (endStreams = resolve))
  upstream.script = begun(hello.start, ended, ...[hello.finish, done].map((text) => piece(text)), piece())
})
afterEach(async () => {
  await server.stop()
  await upstream.close()
})

/** Opens streams, each until it speaks, until one is refused. */
async function fill(callee: Callee): Promise<RawCall[]> {
  const calls: RawCall[] = []
  for (;;) {
    const call = await openChat(callee, { stream: true })
    if (call.status !== 200) {
      expectError(await call.reply, full)
      return calls
    }
    await call.seen(hello.seen)
    calls.push(call)
  }
}

/** Expects that nobody is in, by filling the gateway to exactly what goes in; then empties it again. */
async function expectEmpty(): Promise<void> {
  let calls: RawCall[] = []
  const fillMore = async (): Promise<number> => {
    const opened = await fill(one)
    calls = [...calls, ...opened]
    return calls.length
  }
  await expect.poll(fillMore).toBe(ALONE)
  calls = [...calls, ...(await fill(two))]
  expect(calls.length).toBe(CAP)
  endStreams()
  for (const call of calls) expectStream(await call.reply, helloSeen)
}

const send = (body: string, length?: number): Socket => sendOn(one, body, length)

const request = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], stream: true })

describe('a full gateway', () => {
  it('refuses without calling the upstream, lets running requests finish, and then admits others', async () => {
    const calls = [...(await fill(one)), ...(await fill(two))]
    expect([calls.length, upstream.requests]).toEqual([CAP, CAP])
    expectError(await chat(one), full)
    expect(upstream.requests).toBe(CAP)
    expect((await fetch(`${one.url}/health`)).status).toBe(200)

    endStreams()
    for (const call of calls) expectStream(await call.reply, helloSeen)
    upstream.script = [answer(200, completion({ content: 'Hello' }))]
    expectAnswer(await chat(one), completion({ content: 'Hello' }))
  })

  // Bun closes the connection over a body that nobody reads, and the client may lose the answer.
  it.skipIf(runtime === 'bun')('answers a client that still sends', async () => {
    await fill(one)
    expectError(await chat(one, { messages: 'x'.repeat(10_000_000) }), full)
  })

  it('keeps room for a key that comes late, and gives it the places that others release', async () => {
    const greedy = await fill(one)
    expect(greedy.length).toBe(ALONE)
    expect((await fill(two)).length).toBe(CAP - ALONE)
    for (const { abandon } of greedy.slice(0, 2)) abandon()
    let late = 0
    const fillLater = async (): Promise<number> => {
      expect(await fill(one)).toEqual([])
      late += (await fill(two)).length
      return late
    }
    await expect.poll(fillLater).toBe(2)
  })
})

describe('a place is released by', () => {
  it('invalid requests', async () => {
    for (const body of [{ n: 0 }, { provider: 'unknown' }, { user: 'x'.repeat(1_000_001) }])
      for (let i = 0; i < CAP; i++) expect((await chat(one, body)).status).toBeOneOf([400, 413])
    expect(upstream.requests).toBe(0)
    await expectEmpty()
  })

  it('clients that send their request', async () => {
    const sockets = Array.from({ length: 2 * CAP }, () => send(request.slice(0, -9), request.length))
    for (const socket of sockets) await once(socket, 'connect')
    await expectEmpty()
    for (const socket of sockets) socket.destroy()
  })

  it('clients that disconnect before the upstream has answered', async () => {
    const { script } = upstream
    upstream.script = []
    const sockets = Array.from({ length: ALONE }, () => send(request))
    await expect.poll(() => upstream.requests).toBe(ALONE)
    for (const socket of sockets) socket.destroy()
    upstream.script = script
    await expectEmpty()
  })

  it('clients that disconnect during a stream', async () => {
    for (const { abandon } of await fill(one)) abandon()
    await expectEmpty()
  })

  it('clients that disconnect from a stream that they have stopped reading', async () => {
    const { script } = upstream
    const chunk = piece(hello.start.join('').repeat(1_000))
    upstream.script = [...begun(hello.start), ...Array.from({ length: 100 }, () => chunk)]
    const sockets = Array.from({ length: ALONE }, () => send(request).pause())
    await expect.poll(() => upstream.requests).toBe(ALONE)
    for (const socket of sockets) socket.destroy()
    upstream.script = script
    await expectEmpty()
  })

  it('upstreams that break', async () => {
    const { script } = upstream
    upstream.script = [answer(500, 'Oh no')]
    for (let i = 0; i < CAP; i++) expect((await chat(one, { stream: true })).status).toBe(502)
    upstream.script = script
    await expectEmpty()
  })
})
