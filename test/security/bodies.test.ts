import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Endpoint } from '../endpoints/endpoints.js'
import { endpoints, paths, requestOf } from '../endpoints/endpoints.js'
import type { Owner, Sent } from '../platform/requests.js'
import { documented, newOwner, requestsOf } from '../platform/requests.js'
import type { World } from '../platform/world.js'
import { startWorld } from '../platform/world.js'
import { runtime } from '../support/runtime.js'
import { sample } from '../support/scope.js'

let world: World
/** An administrator with a gateway key, who may send everything. */
let owner: Owner
beforeAll(async () => {
  world = await startWorld('memory', { RATE_LIMITER: 'memory' })
  owner = await newOwner(world, 'admin')
})
afterAll(() => world.kill())

/** A good request of each route with a JSON body, of both documents. */
function routesWithBody(): Record<string, Sent> {
  const gateway: Record<string, Sent> = {
    'POST /v1/users': { path: '/v1/users', body: {} },
    'POST /admin/balancer/simulate': { path: '/admin/balancer/simulate', body: requestOf('chat') },
  }
  for (const name of endpoints.filter((name): name is Endpoint => name !== 'transcription'))
    gateway[`POST ${paths[name]}`] = { path: paths[name], body: requestOf(name) }
  const all = { ...gateway, ...requestsOf(owner) }
  const routes = (['gateway', 'platform'] as const).flatMap((name) => documented(name, { withJson: true }))
  return Object.fromEntries(routes.map((route) => [route, all[route]!]))
}
const token = (path: string): string => (path.startsWith('/v1/') ? owner.key : owner.access)
const isAlive = async (): Promise<void> => {
  expect((await world.ask('GET', '/health')).status).toBe(200)
  expect((await world.ask('GET', '/api/account', { as: owner })).status).toBe(200)
}
const errorOf = (body: unknown): string => {
  const { error } = body as { error: string | { message: string } }
  return typeof error === 'string' ? error : error.message
}

describe(`threat 8: requests that are too much, on ${runtime}`, () => {
  /** Announces a body of so many bytes, and sends none of it. @returns the status and the body of the answer */
  async function announce(route: string, path: string, bytes: number): Promise<[number, unknown]> {
    const { hostname, port } = new URL(world.url)
    const socket = connect(Number(port), hostname)
    const lines = [
      `${route.split(' ')[0]} ${path} HTTP/1.1`,
      `Host: ${hostname}:${port}`,
      `Authorization: Bearer ${token(path)}`,
      'Content-Type: application/json',
      `Content-Length: ${bytes}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n`)
    const [first] = (await once(socket, 'data')) as [Buffer]
    let answer = first.toString()
    if (!answer.endsWith('}')) answer += ((await once(socket, 'data')) as [Buffer])[0].toString()
    socket.destroy()
    return [Number(answer.slice(9, 12)), JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))]
  }

  it('are refused by their announced length on each route, before they are read', async () => {
    for (const [route, { path }] of Object.entries(routesWithBody())) {
      const [status, body] = await announce(route, path, 21 * 1024 * 1024)
      expect([route, status, errorOf(body)]).toEqual([route, 413, expect.stringMatching(/is larger than \d+ bytes/)])
    }
    // The platform has no use for as much.
    const [status] = await announce('POST ', '/api/sessions', 1024 * 1024 + 1)
    expect(status).toBe(413)
    await isAlive()
  })

  it('are refused by their length where it was not announced', async () => {
    const { hostname, port } = new URL(world.url)
    const socket = connect(Number(port), hostname)
    const head = `POST /v1/chat/completions HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${owner.key}\r\n`
    socket.write(`${head}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n`)
    const piece = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1024 * 1024, ' '), Buffer.from('\r\n')])
    // Bun closes the connection behind its answer, which may be lost while the client still sends.
    const answer = text(socket).catch((error: unknown) => {
      if (runtime === 'bun') return ''
      throw error
    })
    socket.on('error', () => undefined)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    for (let sent = 0; sent < 64 && socket.writable; sent++)
      if (!socket.write(piece)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
    expect(await answer).toMatch(runtime === 'bun' ? /^(HTTP\/1\.1 413 |$)/ : /^HTTP\/1\.1 413 /)
    await isAlive()
  })

  const form = 'multipart/form-data; boundary=b'
  const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n'
  it.each<[path: string, type: string, begin: string]>([
    ['/api/auth', 'application/json', ' '],
    ['/v1/chat/completions', 'application/json', ' '],
    ['/v1/audio/transcriptions', form, part],
    ['/api/user-files', form, part],
  ])('are refused in pieces of a byte: %s', async (path, type, begin) => {
    const { hostname, port } = new URL(world.url)
    const socket = connect(Number(port), hostname)
    const head = [`POST ${path} HTTP/1.1`, `Host: ${hostname}:${port}`, `Authorization: Bearer ${token(path)}`]
    socket.write(
      [...head, `Content-Type: ${type}`, 'Transfer-Encoding: chunked', 'Connection: close', '\r\n'].join('\r\n'),
    )
    socket.write(`${begin.length.toString(16)}\r\n${begin}\r\n`)
    const pieces = '1\r\n \r\n'.repeat(1_000)
    const answer: string[] = []
    socket.on('data', (text) => void answer.push(String(text)))
    socket.on('error', () => undefined)
    const closed = new Promise((resolve) => socket.once('close', resolve))
    for (let sent = 0; sent < 3_000 && socket.writable && answer.length === 0; sent++)
      if (!socket.write(pieces)) await Promise.race([new Promise((resolve) => socket.once('drain', resolve)), closed])
    // Bun joins pieces, and may lose the answer behind which it closes the connection.
    if (runtime === 'node') {
      await expect.poll(() => answer.join('')).toMatch(/^HTTP\/1\.1 400 [^]*arrives in too many small pieces/)
      await closed
    }
    socket.destroy()
    await isAlive()
  })

  it.each(sample(['{"a":', '[', '[{"a":']))('are refused where they nest deeply, of %s', async (opening) => {
    for (const [route, { path, body }] of Object.entries(routesWithBody())) {
      const levels = Math.ceil(129 / opening.match(/[[{]/g)!.length)
      const fields = JSON.stringify(body ?? {}).slice(1, -1)
      // What anybody may send is short.
      for (const count of [levels, path.startsWith('/api/auth') ? 2_000 : 100_000]) {
        const sent = `{${fields}${fields && ','}"x":${opening.repeat(count)}`
        const { status, body: answer } = await world.ask(route.split(' ')[0]!, path, { as: token(path), body: sent })
        expect([route, status, errorOf(answer)]).toEqual([route, 400, 'The request body nests deeper than 128 levels'])
      }
    }
    await isAlive()
  })

  const message = '{"role":"user","content":"a"}'
  /** What is wide, and the status of its answer. */
  const wide: [what: string, status: number, body: () => string][] = [
    ['a million messages', 413, () => `{"model":"gpt-4o","messages":[${`${message},`.repeat(1e6)}${message}]}`],
    ['a million empty messages', 400, () => `{"model":"gpt-4o","messages":[${'{},'.repeat(1e6)}{}]}`],
    ['a million numbers for messages', 400, () => `{"model":"gpt-4o","messages":[${'1,'.repeat(1e6)}1]}`],
    ['a million parts', 400, () => `{"model":"gpt-4o","messages":[{"role":"user","content":[${'1,'.repeat(1e6)}1]}]}`],
    ['a million tools', 400, () => `{"model":"gpt-4o","messages":[${message}],"tools":[${'{},'.repeat(1e6)}{}]}`],
    ['a million fields', 400, () => `{"messages":[],${Array.from({ length: 1e6 }, (_, i) => `"f${i}":1`).join()}}`],
    ['a million keys that are the same', 400, () => `{${'"model":"m",'.repeat(1e6)}"messages":1}`],
    ['a text of 20 MB for messages', 400, () => `{"model":"gpt-4o","messages":"${'a'.repeat(20_000_000)}"}`],
  ]
  it.each(sample(wide, 2))('are refused with %s', async (_, status, body) => {
    const before = await world.call<number>('worked')
    const answer = await world.ask('POST', '/v1/chat/completions', { as: owner.key, body: body() })
    expect(answer.status).toBe(status)
    // Not each of them is looked at, once one is wrong.
    expect((await world.call<number>('worked')) - before).toBeLessThan(2_000)
    await isAlive()
  })

  it('are refused with a million of anything on the platform', async () => {
    for (const item of sample(['{}', '1', '""', '[]'])) {
      const body = `{"name":[${`${item},`.repeat(1e6)}${item}]}`
      expect((await world.ask('POST', '/api/projects', { as: owner, body })).status).toBe(413)
      const fewer = `{"name":[${`${item},`.repeat(300_000)}${item}]}`
      expect((await world.ask('POST', '/api/projects', { as: owner, body: fewer })).status).toBe(400)
    }
    await isAlive()
  })
})

describe(`threat 27: decompression bombs, on ${runtime}`, () => {
  const encodings = [
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['gzip, gzip', (text: string) => gzipSync(gzipSync(text))],
    ['x-gzip', gzipSync],
    ['zstd', (text: string) => Buffer.from(text)],
  ] as const
  it.each(sample(encodings, 3))('a request in %s is refused on each route', async (encoding, compress) => {
    for (const [route, { path, body }] of Object.entries(routesWithBody())) {
      const response = await fetch(world.url + path, {
        method: route.split(' ')[0]!,
        headers: {
          authorization: `Bearer ${token(path)}`,
          'content-type': 'application/json',
          'content-encoding': encoding,
        },
        body: new Uint8Array(compress(JSON.stringify(body))),
      })
      const message = `Content-Encoding "${encoding}" is not supported; send the body uncompressed`
      expect([route, response.status, errorOf(await response.json())]).toEqual([route, 400, message])
    }
  })

  it.each(['/v1/audio/transcriptions', '/api/user-files'])('a form in gzip is refused by %s', async (path) => {
    const form = new Response(requestOf('transcription') as FormData)
    const response = await fetch(world.url + path, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${token(path)}`,
        'content-type': form.headers.get('content-type')!,
        'content-encoding': 'gzip',
      },
      body: new Uint8Array(gzipSync(new Uint8Array(await form.arrayBuffer()))),
    })
    expect(response.status).toBe(400)
  })
})
