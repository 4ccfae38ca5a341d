import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { connect } from 'node:net'
import { ApiError } from '@turnpike/core'
import { afterEach, describe, expect, it } from 'vitest'
import { bytesOf } from '../../../../test/support/form-reader.js'
import { filePart, formBytes, formType, noise } from '../../../../test/support/forms.js'
import { fetchShell } from '../shells/fetch-shell.js'
import type { RequestLog } from '../request-log.js'
import { createHandler } from '../handler.js'
import { nodeShell } from '../shells/node-shell.js'
import type { Operation } from '../operation.js'
import { bytes, operation, route } from '../operation.js'

const servers: (() => void)[] = []
afterEach(() => servers.splice(0).forEach((close) => close()))

/** A handler of one route, and what its hooks were told. */
function setUp(run: (input: unknown) => unknown, fields: Partial<Operation<null>> = {}) {
  const logs: RequestLog[] = []
  const errors: unknown[] = []
  const one = operation<null, string>({
    id: 'test',
    summary: '',
    access: 'open',
    ...fields,
    run: (_, { body }, call) => {
      call.setHeader('x-test', 'set')
      return run(body)
    },
  })
  const { handle } = createHandler<null>({
    routes: [route('POST', '/things', one), route('GET', '/things', one)],
    authenticate: () => null,
    errorBody: ({ type, code, message }) => ({ error: { type, code, message } }),
    onRequest: (log) => logs.push(log),
    onError: (error) => errors.push(error),
  })
  const shell = fetchShell(handle)
  const send = (init: RequestInit = {}) => shell(new Request('https://gw.example/things', { method: 'POST', ...init }))
  const listen = async (): Promise<number> => {
    const listener = nodeShell(handle)
    const server = createServer((request, response) => void listener(request, response))
    servers.push(() => void server.close().closeAllConnections())
    await once(server.listen(0, '127.0.0.1'), 'listening')
    return (server.address() as AddressInfo).port
  }
  return { send, listen, logs, errors }
}

/** Everything that a server sends to a request, until it closes the connection. */
async function raw(port: number, head = 'connection: close\r\n'): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  socket.write(`GET /things HTTP/1.1\r\nhost: x\r\n${head}\r\n`)
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(chunk))
  socket.on('error', () => undefined)
  await once(socket, 'close')
  return Buffer.concat(chunks).toString('latin1')
}

/** A body of these chunks; an error among them ends it. */
async function* chunks(...all: (Uint8Array | Error)[]): AsyncGenerator<Uint8Array> {
  for (const chunk of all) {
    // What was there before it has left by then.
    await new Promise((resolve) => setTimeout(resolve, 5))
    if (chunk instanceof Error) throw chunk
    yield chunk
  }
}

const audio = Uint8Array.of(0, 255, 13, 10)

describe('bytes', () => {
  it('can be a text with its type', async () => {
    const { send, logs } = setUp(() => bytes('WEBVTT ü\n', 'text/vtt; charset=utf-8'))
    const response = await send()
    expect([response.status, await response.text()]).toEqual([200, 'WEBVTT ü\n'])
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/vtt; charset=utf-8',
      'x-test': 'set',
    })
    expect(logs).toMatchObject([{ status: 200, route: '/things' }])
  })

  it('are streamed, and the log line is written at their end', async () => {
    const { send, logs, errors } = setUp(() => bytes(chunks(audio, audio), 'audio/mpeg'))
    const response = await send()
    expect(response.headers.get('content-type')).toBe('audio/mpeg')
    expect(logs).toEqual([])
    expect(Buffer.from(await response.arrayBuffer())).toEqual(Buffer.concat([audio, audio]))
    expect([logs.length, errors]).toEqual([1, []])
  })

  it('are read with the backpressure of the client', async () => {
    let made = 0
    const endless = (async function* () {
      for (;;) {
        made++
        yield audio
      }
    })()
    const { send, logs } = setUp(() => bytes(endless, 'audio/mpeg'))
    const reader = (await send()).body!.getReader()
    await reader.read()
    expect(made).toBe(1)
    await reader.cancel()
    expect(logs).toMatchObject([{ status: 200 }])
  })

  it('are not sent for HEAD', async () => {
    const { listen, logs } = setUp(() => bytes(chunks(audio), 'audio/mpeg'))
    const response = await fetch(`http://127.0.0.1:${await listen()}/things`, { method: 'HEAD' })
    expect([response.headers.get('content-type'), await response.text()]).toEqual(['audio/mpeg', ''])
    expect(logs).toHaveLength(1)
  })
})

describe('a byte answer that breaks', () => {
  const broken = new Error('secret')

  it('fails the stream of a web response, and is reported once', async () => {
    const { send, logs, errors } = setUp(() => bytes(chunks(audio, broken), 'audio/mpeg'))
    const response = await send()
    const reader = response.body!.getReader()
    expect((await reader.read()).value).toEqual(audio)
    await expect(reader.read()).rejects.toThrow()
    expect([response.status, errors, logs.length]).toEqual([200, [broken], 1])
  })

  it.each(['', 'connection: close\r\n'])('ends the connection on Node without a last chunk, with %j', async (head) => {
    const { listen, logs, errors } = setUp(() => bytes(chunks(audio, audio, broken), 'audio/mpeg'))
    const text = await raw(await listen(), head)
    expect(text).toContain('HTTP/1.1 200 OK\r\n')
    const coded = '4\r\n\0\u00ff\r\n\r\n'
    expect(text.endsWith(`\r\n\r\n${coded}${coded}`)).toBe(true)
    expect(text).not.toContain('secret')
    expect([errors, logs.length]).toEqual([[broken], 1])
  })

  it('is complete on Node without a failure', async () => {
    const { listen, logs } = setUp(() => bytes(chunks(Buffer.from('abc')), 'audio/mpeg'))
    expect((await raw(await listen())).split('\r\n\r\n').slice(1)).toEqual(['3\r\nabc\r\n0', ''])
    expect(logs).toHaveLength(1)
  })

  it('is not reported where it is the fault of the caller', async () => {
    const refused = new ApiError(400, 'invalid_request_error', 'No', { code: 'invalid_body' })
    const { send, logs, errors } = setUp(() => bytes(chunks(audio, refused), 'audio/mpeg'))
    await expect((await send()).arrayBuffer()).rejects.toThrow()
    expect([errors, logs.length]).toEqual([[], 1])
  })

  it('is aborted when the client disconnects', async () => {
    let resolve = (): void => undefined
    const left = new Promise<void>((settle) => (resolve = settle))
    const endless = (async function* () {
      try {
        for (;;) {
          yield audio
          await new Promise((next) => setTimeout(next, 1))
        }
      } finally {
        resolve()
      }
    })()
    const { listen, logs, errors } = setUp(() => bytes(endless, 'audio/mpeg'))
    const socket = connect(await listen(), '127.0.0.1')
    socket.write('GET /things HTTP/1.1\r\nhost: x\r\n\r\n')
    await once(socket, 'data')
    socket.destroy()
    await left
    await expect.poll(() => [logs.length, errors]).toEqual([1, []])
  })
})

describe('a form', () => {
  const form = { file: 'file', limit: 1_000_000 }
  const init = (content: Uint8Array) => ({
    body: formBytes([filePart(content)]) as Uint8Array<ArrayBuffer>,
    headers: { 'content-type': formType() },
  })

  it('is read for its operation and disposed after it', async () => {
    const content = noise(600_000)
    let file: Parameters<typeof bytesOf>[0] | undefined
    const { send } = setUp(
      async (body) => {
        file = (body as { file: typeof file }).file
        expect((await bytesOf(file!)).equals(content)).toBe(true)
        return { ok: true }
      },
      { form },
    )
    expect(await (await send(init(content))).json()).toEqual({ ok: true })
    await expect(bytesOf(file!)).rejects.toThrow()
  })

  it('is disposed after an operation that fails', async () => {
    let file: Parameters<typeof bytesOf>[0] | undefined
    const { send, errors } = setUp(
      (body) => {
        file = (body as { file: typeof file }).file
        throw new Error('Broken')
      },
      { form },
    )
    expect((await send(init(noise(600_000)))).status).toBe(500)
    await expect(bytesOf(file!)).rejects.toThrow()
    expect(errors).toHaveLength(1)
  })

  it('that is invalid is a 400 with the error body of the surface, with a log line and no report', async () => {
    const { send, logs, errors } = setUp(() => null, { form })
    const response = await send({ body: '{}', headers: { 'content-type': 'application/json' } })
    expect([response.status, await response.json()]).toEqual([
      400,
      {
        error: {
          type: 'invalid_request_error',
          code: 'invalid_body',
          message: 'Content-Type must be multipart/form-data with a boundary',
        },
      },
    ])
    expect([logs.length, errors]).toEqual([1, []])
  })
})
