import { once } from 'node:events'
import type { Server as HttpServer, ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import type { Deflate, Gzip } from 'node:zlib'
import { constants, createDeflate, createGzip } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startServerFor } from '../faults/server.js'
import { textEvent } from '../support/faults.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'
import type { Server } from '../support/server.js'

const MiB = 1024 * 1024

let server: Server
let upstream: HttpServer
/** What the upstream does with a request. */
let act: (response: ServerResponse) => Promise<void>
/** Bytes that the gateway has taken from the upstream, or that wait for it in the sockets' buffers. */
let taken = 0
beforeAll(async () => {
  upstream = createServer((request, response) => {
    request.resume()
    request.on('end', () => void act(response).catch(() => response.destroy()))
  })
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  server = await startServerFor(`http://127.0.0.1:${(upstream.address() as AddressInfo).port}`)
})
afterAll(async () => {
  await server.stop()
  upstream.close().closeAllConnections()
})

/** Writes a piece again and again, as fast as it is taken, until the connection has ended. @returns whether all of it was written */
async function pour(response: ServerResponse, piece: Buffer, times: number): Promise<boolean> {
  const closed = new Promise((resolve) => response.once('close', resolve))
  for (let i = 0; i < times; i++) {
    if (response.destroyed) return false
    const written = response.write(piece)
    taken += piece.length
    if (!written) await Promise.race([new Promise((resolve) => response.once('drain', resolve)), closed])
  }
  return !response.destroyed
}

const models = ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-flash']
const ask = (model: string, stream: boolean): Promise<Response> =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi' }], stream }),
  })
const isAlive = async (): Promise<void> => expect((await fetch(`${server.url}/health`)).status).toBe(200)
const senseless = /The upstream provider sent an answer that makes no sense/

/** Most bytes of one event, and of a whole answer, and what buffers of sockets may hold besides. */
const EVENT = 16 * MiB
const ANSWER = 64 * MiB
const BUFFERS = 16 * MiB

describe(`threat 10: an upstream that sends without end, on ${runtime}`, () => {
  const piece = Buffer.alloc(MiB, 'x')

  /** Asks while the upstream sends `data` again and again: it is cut off before the end, after at most `most` bytes and what buffers hold. */
  async function expectCutOff(
    { model, stream }: { model: string; stream: boolean },
    { begin = '', data, times, most }: { begin?: string; data: Buffer; times: number; most: number },
  ): Promise<void> {
    let whole: boolean | undefined
    taken = 0
    act = async (response) => {
      response.writeHead(200, { 'content-type': stream ? 'text/event-stream' : 'application/json' })
      if (begin) response.write(begin)
      whole = await pour(response, data, times)
    }
    const response = await ask(model, stream)
    expect([response.status, await response.text()]).toEqual([502, expect.stringMatching(senseless)])
    await expect.poll(() => whole).toBe(false)
    expect(taken).toBeLessThan(most + BUFFERS)
    await isAlive()
  }

  it.each(sample(models))('is cut off within a line of 100 MB, with %s', (model) =>
    expectCutOff({ model, stream: true }, { begin: 'data: {"', data: piece, times: 100, most: EVENT }),
  )

  it('is cut off within many lines of one event', async () => {
    const lines = Buffer.from(`data: ${'x'.repeat(1_000)}\n`.repeat(1_000))
    await expectCutOff({ model: 'gpt-4o', stream: true }, { data: lines, times: 100, most: EVENT })
  })

  it.each(sample(models))('is cut off within a whole answer of 200 MB, with %s', (model) =>
    expectCutOff({ model, stream: false }, { data: piece, times: 200, most: ANSWER }),
  )

  it('threat 95: keeps nobody waiting with events that say nothing, as fast as they are read', async () => {
    const events = Buffer.from('event: ping\ndata: {"type": "ping"}\n\n'.repeat(2_000))
    let end = (): void => undefined
    act = async (response) => {
      end = () => void response.destroy()
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      await pour(response, events, Infinity)
    }
    const answer = ask('claude-sonnet-4-5', true)
    const takenBetween: number[] = []
    for (let i = 0; i < 15; i++) {
      taken = 0
      await isAlive()
      takenBetween.push(taken)
    }
    end()
    expect((await answer).status).toBe(502)
    const [median] = takenBetween.toSorted((a, b) => a - b).slice(7)
    expect(median).toBeLessThan(MiB)
  })

  it('is not read faster than its client reads', async () => {
    taken = 0
    let ended = false
    const events = Buffer.from(textEvent('x'.repeat(1_000)).repeat(100))
    act = async (response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      await pour(response, events, 1_000)
      ended = true
      response.destroy()
    }
    const { hostname, port } = new URL(server.url)
    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], stream: true })
    const socket = connect(Number(port), hostname)
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${server.key}\r\n` +
        `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    await once(socket, 'readable')
    // Nobody reads on, and so nothing is taken any more.
    let before = -1
    await expect
      .poll(
        () => {
          const still = before === taken
          before = taken
          return still
        },
        { interval: 500 },
      )
      .toBe(true)
    expect([ended, taken < 2 * BUFFERS]).toEqual([false, true])
    // The upstream is left with the client.
    socket.destroy()
    await expect.poll(() => ended).toBe(true)
    await isAlive()
  })
})

describe(`threat 27: an upstream's decompression bomb, on ${runtime}`, () => {
  const encodings = {
    gzip: () => createGzip({ level: 9 }),
    deflate: () => createDeflate({ level: 9 }),
  }

  /** What a compressor makes of a text, to be followed by more; without a text, of its end. */
  async function compressed(compressor: Gzip | Deflate, text?: Buffer): Promise<Buffer> {
    const pieces: Buffer[] = []
    const take = (data: Buffer): void => void pieces.push(data)
    compressor.on('data', take)
    if (text === undefined) await once(compressor.end(), 'end')
    else {
      compressor.write(text)
      await new Promise<void>((resolve) => compressor.flush(constants.Z_FULL_FLUSH, resolve))
    }
    compressor.off('data', take)
    return Buffer.concat(pieces)
  }

  const choice = { index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }
  const answers = { whole: JSON.stringify({ choices: [choice] }), streamed: `\n\n${textEvent('Hi', 'stop')}` }
  const ways = (['gzip', 'deflate'] as const).flatMap((encoding) =>
    (['whole', 'streamed'] as const).map((form) => ({ encoding, form })),
  )

  it.each(sample(ways, 2))('is cut off at the limit, $encoding, $form', async ({ encoding, form }) => {
    let sent: boolean | undefined
    /** Answers with so many times 16 MiB of blanks, and what makes an answer of them. */
    const blanks = (times: number) => async (response: ServerResponse) => {
      const compressor = encodings[encoding]()
      response.writeHead(200, {
        'content-type': form === 'streamed' ? 'text/event-stream' : 'application/json',
        'content-encoding': encoding,
      })
      response.write(await compressed(compressor, Buffer.from(' ')))
      // The same bytes every time, as nothing refers to what precedes them.
      const piece = await compressed(compressor, Buffer.alloc(15 * MiB, ' '))
      sent = await pour(response, piece, times)
      if (!sent) return
      response.write(await compressed(compressor, Buffer.from(answers[form])))
      response.end(await compressed(compressor))
    }
    act = blanks(1)
    expect((await ask('gpt-4o', form === 'streamed')).status).toBe(200)
    // 10 MB that become 10 GB.
    act = blanks(680)
    const response = await ask('gpt-4o', form === 'streamed')
    expect([response.status, await response.text()]).toEqual([502, expect.stringMatching(senseless)])
    await expect.poll(() => sent).toBe(false)
    await isAlive()
  })
})
