import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { completion, hello } from '../faults/openai.js'
import type { OverloadServer } from '../faults/overload.js'
import { sendOn, startOverloadServer } from '../faults/overload.js'
import { answer, begun, done, piece } from '../faults/wire.js'
import type { Callee } from '../support/raw-client.js'
import { chat, openChat } from '../support/raw-client.js'
import type { RawUpstream } from '../support/raw-upstream.js'
import { rawUpstream } from '../support/raw-upstream.js'
import { runtime } from '../support/runtime.js'

const CAP = 10
const IDLE_MS = 2_000

let upstream: RawUpstream
let server: OverloadServer
let one: Callee
let two: Callee
let more: Callee
const sockets: Socket[] = []

async function start(bodyMemory: number): Promise<void> {
  server = await startOverloadServer(upstream.url, { maxInFlight: CAP, answerIdleMs: IDLE_MS, bodyMemory })
  ;[one, two, more] = server.callees
}
beforeEach(async () => {
  upstream = await rawUpstream()
  await start(1_000_000)
})
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy()
  await server.stop()
  await upstream.close()
})

const request = (stream: boolean): string =>
  JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], stream })

const send = (callee: Callee, body: string, length?: number): Socket => {
  const socket = sendOn(callee, body, length)
  sockets.push(socket)
  return socket
}
/** What arrives until the connection closes or `ms` have passed. */
async function received(socket: Socket, ms: number): Promise<string> {
  let text = ''
  socket.on('data', (data) => void (text += data.toString('latin1')))
  const closed = new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve))
  socket.resume()
  await Promise.race([closed, delay(ms)])
  return text
}

/** Far more than the buffers of sockets hold. */
const chunk = piece(hello.start.join('').repeat(2_000))
const long = [...begun(hello.start), ...Array.from({ length: 60 }, () => chunk)]

/** Opens streams until one is refused. @returns how many there are */
async function fill(callee: Callee): Promise<number> {
  for (let count = 0; ; count++) if ((await openChat(callee, { stream: true })).status !== 200) return count
}

describe(`threat 49: clients that take nothing, on ${runtime}`, () => {
  // Events of this size take memory as well.
  beforeEach(async () => {
    await server.stop()
    await start(100_000_000)
  })

  it('lose their streams, which are charged as those of clients that leave', { timeout: 60_000 }, async () => {
    upstream.script = [...long, new Promise(() => undefined)]
    for (let i = 0; i < 8; i++) send(one, request(true)).pause()
    await expect.poll(() => upstream.requests).toBe(8)
    expect((await chat(one)).status).toBe(503)
    await expect.poll(() => server.records.length, { timeout: 30_000 }).toBe(8)
    for (const { outcome, completion_tokens } of server.records) {
      expect(outcome).toBe('client_abort')
      expect(completion_tokens).toBeGreaterThan(0)
    }
    await expect.poll(() => upstream.open).toBe(0)
    upstream.script = [answer(200, completion({ content: 'Hello' }))]
    expect((await chat(one)).status).toBe(200)
  })

  it('lose a whole answer that is large', { timeout: 60_000 }, async () => {
    const size = 30_000_000
    await server.stop()
    await start(2 * size)
    upstream.script = [answer(200, completion({ content: 'x'.repeat(size) }))]
    const socket = send(one, request(false)).pause()
    await expect.poll(() => server.records.length, { timeout: 20_000 }).toBe(1)
    // Bun's own time-outs come up to four seconds late.
    await delay(4 * IDLE_MS)
    expect((await received(socket, 5_000)).length).toBeLessThan(size)
    expect(socket.destroyed).toBe(true)
  })

  it('do not lose one that says nothing for a while, nor one that they take slowly', { timeout: 60_000 }, async () => {
    const pause = 3 * IDLE_MS
    upstream.script = begun(hello.start, pause, ...[hello.finish, done].map((text) => piece(text)), piece())
    const silent = openChat(one, { stream: true })
    await expect.poll(() => upstream.requests).toBe(1)
    upstream.script = [...long, ...[hello.finish, done].map((text) => piece(text)), piece()]
    const slow = send(two, request(true))
    let size = 0
    let end = ''
    slow.on('data', (data: Buffer) => {
      size += data.length
      end = (end + data.toString('latin1')).slice(-100)
      slow.pause()
      setTimeout(() => slow.resume(), 5)
    })
    expect(await (await silent).reply).toMatchObject({ status: 200, whole: true })
    await expect.poll(() => end, { timeout: 40_000 }).toContain('[DONE]')
    expect(size).toBeGreaterThan(10_000_000)
  })
})

describe(`threat 49: requests that hold places, on ${runtime}`, () => {
  it('do not by bodies that do not arrive', async () => {
    upstream.script = [answer(200, completion({ content: 'Hello' }))]
    for (let i = 0; i < 2 * CAP; i++) await once(send(one, request(false).slice(0, -9), 1_000), 'connect')
    expect((await chat(one)).status).toBe(200)
    expect((await chat(two)).status).toBe(200)
  })

  it('leave some to other users, whatever keys they have', async () => {
    upstream.script = begun(hello.start, new Promise(() => undefined))
    expect([await fill(one), await fill(more), await fill(two)]).toEqual([8, 1, 1])
  })
})

describe(`threat 49: bodies that take memory, on ${runtime}`, () => {
  it('get so much of it, and leave some to others', async () => {
    const part = 'x'.repeat(300_000)
    for (let i = 0; i < 2; i++) expect(await received(send(one, part, 2_000_000), 500)).toBe('')
    const refused = send(one, part, 2_000_000)
    expect(await received(refused, 5_000)).toMatch(/^HTTP\/1\.1 503 [^]*"code":"overloaded"/)
    expect(await received(send(two, part.slice(0, 150_000), 2_000_000), 500)).toBe('')
    // What was taken is given back.
    for (const socket of sockets) socket.destroy()
    upstream.script = [answer(200, completion({ content: 'Hello' }))]
    await expect.poll(async () => (await chat(one, { user: 'x'.repeat(300_000) })).status).toBe(200)
  })
})

describe(`threat 49: uploads that wait in files, on ${runtime}`, () => {
  /** An upload of 300 kB that does not end. */
  const upload = (callee: Callee): Socket => {
    const { hostname, port } = new URL(callee.url)
    const socket = connect(Number(port), hostname).on('error', () => undefined)
    sockets.push(socket)
    const head = [
      'POST /v1/audio/transcriptions HTTP/1.1',
      'host: x',
      `authorization: Bearer ${callee.key}`,
      'content-type: multipart/form-data; boundary=b',
      'content-length: 2000000',
    ]
    const part =
      '--b\r\ncontent-disposition: form-data; name="file"; filename="a.mp3"\r\ncontent-type: audio/mpeg\r\n\r\n'
    socket.write(`${head.join('\r\n')}\r\n\r\n${part}${'x'.repeat(300_000)}`)
    return socket
  }

  it('take from the same memory', async () => {
    expect(await received(upload(one), 1_000)).toBe('')
    expect(await received(upload(one), 5_000)).toMatch(/^HTTP\/1\.1 503 [^]*"code":"overloaded"/)
    for (const socket of sockets) socket.destroy()
    await expect.poll(() => received(upload(one), 1_000), { timeout: 10_000 }).toBe('')
  })
})

describe(`threat 49: answers that take memory, on ${runtime}`, () => {
  it('keep it until they are sent, and are charged where there is none', { timeout: 60_000 }, async () => {
    const size = 30_000_000
    await server.stop()
    await start(1.5 * size)
    upstream.script = [answer(200, completion({ content: 'x'.repeat(size) }))]
    const unread = send(one, request(false)).pause()
    await expect.poll(() => server.records.length, { timeout: 20_000 }).toBe(1)
    const refused = await chat(one)
    expect(refused).toMatchObject({ status: 503, shouldRetry: 'false' })
    expect(refused.body).toContain('"code":"overloaded"')
    await expect.poll(() => server.records.length).toBe(2)
    expect(server.records[1]).toMatchObject({ outcome: 'upstream_error', accuracy: 'estimated' })
    // Others have theirs, and what was taken is given back.
    upstream.script = [answer(200, completion({ content: 'x'.repeat(100_000) }))]
    expect((await chat(two)).status).toBe(200)
    unread.destroy()
    upstream.script = [answer(200, completion({ content: 'x'.repeat(size) }))]
    await expect.poll(async () => (await chat(one)).status, { timeout: 20_000 }).toBe(200)
  })
})

describe(`threat 49: pipelined requests, on ${runtime}`, () => {
  it('are answered in their order', async () => {
    const { hostname, port } = new URL(one.url)
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    const heads = Array.from({ length: 10 }, (_, i) => `GET /${i === 9 ? '' : `none/${i}`} HTTP/1.1\r\nHost: x\r\n\r\n`)
    socket.write(heads.join(''))
    const answers = (await received(socket, 2_000)).match(/HTTP\/1\.1 \d+/g)
    expect(answers).toEqual(heads.map((_, i) => (i === 9 ? 'HTTP/1.1 200' : 'HTTP/1.1 404')))
  })
})
