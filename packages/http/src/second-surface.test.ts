import { once } from 'node:events'
import { request } from 'node:http'
import { json } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import type { AddressInfo } from 'node:net'
import { ApiError } from '@turnpike/core'
import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { field, filePart, formBytes, formType, noise } from '../../../test/support/forms.js'
import { assetRoutes } from './answers/assets.js'
import { parseCookies, setCookie } from './answers/cookies.js'
import { fetchShell } from './shells/fetch-shell.js'
import { createHandler } from './handler.js'
import { createServer } from './node.js'
import type { DefineOperation, FileStream } from './operation.js'
import { content, operation as define, route } from './operation.js'
import { Paging } from './answers/lists.js'

/** A surface that is not the gateway: people with a session cookie, roles of its own, `{ error }` bodies, uploads and files. */
type Access = 'open' | 'user' | 'admin'
interface Person {
  name: string
}
const operation: DefineOperation<Person | null, Access> = define

const files = new Map<string, { bytes: Buffer; title: string }>()

const signIn = operation({
  id: 'sign-in',
  summary: 'Signs in.',
  access: 'open',
  body: v.object({ name: v.string() }),
  run(_, { body: { name } }, call) {
    call.setHeader('set-cookie', [setCookie('session', name), setCookie('seen', '1', { httpOnly: false })])
    return { name }
  },
})
const whoAmI = operation({
  id: 'who-am-i',
  summary: 'Tells who is signed in.',
  access: 'user',
  query: Paging,
  run: (person, { query }) => ({ ...person, ...query }),
})
const upload = operation({
  id: 'upload',
  summary: 'Stores a file.',
  access: 'user',
  form: { file: 'file', limit: 1_000_000, streamed: true },
  body: v.object({ title: v.string(), file: v.custom<FileStream>(() => true) }),
  async run(_, { body: { title, file } }) {
    if (title === 'refused') throw new ApiError(403, 'permission_error', 'No room', { code: 'forbidden' })
    const chunks: Uint8Array[] = []
    for await (const chunk of file.body) chunks.push(chunk)
    files.set(file.name, { bytes: Buffer.concat(chunks), title })
    return { name: file.name, size: files.get(file.name)!.bytes.length }
  },
})
const download = operation({
  id: 'download',
  summary: 'Sends a file.',
  access: 'user',
  params: v.object({ name: v.string() }),
  run(_, { params: { name } }) {
    const { bytes, title } = files.get(name)!
    return content({
      type: 'application/octet-stream',
      size: bytes.length,
      etag: `"${title}"`,
      async *read(range) {
        const part = range ? bytes.subarray(range.start, range.end + 1) : bytes
        for (let at = 0; at < part.length; at += 50_000) yield part.subarray(at, at + 50_000)
      },
    })
  },
})

const { handle, refuse } = createHandler<Person | null, Access>({
  routes: [
    route('POST', '/sign-in', signIn, { bodyLimit: 50 }),
    route('GET', '/me', whoAmI),
    route('POST', '/files', upload),
    route('GET', '/files/{name}', download),
    ...assetRoutes<Access>(
      { '/page/app.js': { type: 'text/javascript; charset=utf-8', body: 'let ü = 1' } },
      { access: 'open', headers: { 'content-security-policy': "default-src 'self'" } },
    ),
  ],
  authenticate(exchange, { access }) {
    const name = parseCookies(exchange.header('cookie')).get('session')
    if (access === 'open') return null
    if (name === undefined)
      throw new ApiError(401, 'authentication_error', 'Sign in first', { code: 'invalid_api_key' })
    return { name }
  },
  errorBody: ({ message }) => ({ error: message }),
})

const server = createServer({ handle, refuse })
let url = ''
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close().closeAllConnections())

const shell = fetchShell(handle)

/** Posts a form and returns the status and the JSON body of the answer. */
type Post = (path: string, headers: Record<string, string>, body: Buffer) => Promise<[number, unknown]>
async function viaShell(...[path, headers, body]: Parameters<Post>): Promise<[number, unknown]> {
  const response = await shell(new Request(`http://x.example${path}`, { method: 'POST', headers, body }))
  return [response.status, await response.json()]
}
// Not `fetch`: Node 24's rejects something nobody can catch when the answer comes before the body has been sent.
const viaHttp: Post = (path, headers, body) =>
  new Promise((resolve, reject) => {
    const sent = request(`${url}${path}`, { method: 'POST', headers }, (response) => {
      json(response).then((value) => resolve([response.statusCode!, value]), reject)
    })
    sent.on('error', reject)
    sent.end(body)
  })

/** The answer to a form that is refused. */
const refusal = (post: Post, title: string, bytes: Uint8Array): Promise<[number, unknown]> =>
  post(
    '/files',
    { cookie, 'content-type': formType() },
    formBytes([field('title', title), filePart(bytes, `${title}.bin`)]),
  )
const hosts: [string, typeof fetch, Post][] = [
  ['fetch', (path, init) => shell(new Request(`http://x.example${path as string}`, init)), viaShell],
  ['node', (path, init) => fetch(`${url}${path as string}`, init), viaHttp],
]

const cookie = 'session=ada'
const form = (title: string, bytes: Uint8Array, name = 'a.bin'): FormData => {
  const form = new FormData()
  form.append('title', title)
  form.append('file', new Blob([bytes as Uint8Array<ArrayBuffer>]), name)
  return form
}

describe.each(hosts)('a second surface, served by %s', (_, send, post) => {
  it('sets several cookies and reads them', async () => {
    const response = await send('/sign-in', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{"name":"ada"}',
    })
    expect(response.headers.getSetCookie()).toEqual([
      'session=ada; Path=/; Secure; HttpOnly; SameSite=Lax',
      'seen=1; Path=/; Secure; SameSite=Lax',
    ])
    const me = await send('/me?limit=5', { headers: { cookie: `x=1; ${cookie}` } })
    expect(await me.json()).toEqual({ name: 'ada', limit: 5 })
  })

  it('has error bodies of its own, and an id on each', async () => {
    const response = await send('/me')
    expect([response.status, await response.json()]).toEqual([401, { error: 'Sign in first' }])
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it("holds a body to its route's own limit", async () => {
    const body = JSON.stringify({ name: 'x'.repeat(50) })
    const response = await send('/sign-in', { method: 'POST', headers: { 'content-type': 'application/json' }, body })
    expect([response.status, await response.json()]).toEqual([
      413,
      { error: 'The request body is larger than 50 bytes' },
    ])
  })

  it('takes a file as it arrives and sends it back, whole, in part or not at all', async () => {
    const bytes = noise(900_000)
    const stored = await send('/files', { method: 'POST', headers: { cookie }, body: form('t1', bytes) })
    expect(await stored.json()).toEqual({ name: 'a.bin', size: 900_000 })

    const whole = await send('/files/a.bin', { headers: { cookie } })
    expect([whole.status, whole.headers.get('content-length')]).toEqual([200, '900000'])
    expect(Buffer.from(await whole.arrayBuffer()).equals(bytes)).toBe(true)

    const part = await send('/files/a.bin', { headers: { cookie, range: 'bytes=100000-299999' } })
    expect([part.status, part.headers.get('content-range')]).toEqual([206, 'bytes 100000-299999/900000'])
    expect(Buffer.from(await part.arrayBuffer()).equals(bytes.subarray(100_000, 300_000))).toBe(true)

    const fresh = await send('/files/a.bin', { headers: { cookie, 'if-none-match': '"t1"' } })
    expect([fresh.status, await fresh.text()]).toEqual([304, ''])

    const beyond = await send('/files/a.bin', { headers: { cookie, range: 'bytes=900000-' } })
    expect([beyond.status, beyond.headers.get('content-range')]).toEqual([416, 'bytes */900000'])
    expect(await beyond.json()).toEqual({ error: 'The range begins after the last of 900000 bytes' })

    const head = await send('/files/a.bin', { method: 'HEAD', headers: { cookie } })
    expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '900000', ''])
  })

  it('refuses a file before it was read', async () => {
    expect(await refusal(post, 'refused', noise(900_000))).toEqual([403, { error: 'No room' }])
  })

  it('refuses a file over the limit as it arrives', async () => {
    const refused = [413, { error: 'The file is larger than 1000000 bytes' }]
    expect(await refusal(post, 'large', noise(1_500_000))).toEqual(refused)
    expect(files.has('large.bin')).toBe(false)
  })

  it('serves assets with a tag that the browser shows again', async () => {
    const plain = { 'accept-encoding': 'identity' }
    const first = await send('/page/app.js', { headers: plain })
    expect([first.status, await first.text()]).toEqual([200, 'let ü = 1'])
    expect(Object.fromEntries(first.headers)).toMatchObject({
      'content-type': 'text/javascript; charset=utf-8',
      'content-length': '10',
      'cache-control': 'no-cache',
      'content-security-policy': "default-src 'self'",
      'x-content-type-options': 'nosniff',
    })
    const again = await send('/page/app.js', {
      headers: { ...plain, 'if-none-match': first.headers.get('etag')! },
    })
    expect(again.status).toBe(304)
  })

  it.each([
    ['gzip, deflate, br', 'gzip'],
    ['br;q=1.0, GZIP;q=0.5', 'gzip'],
    ['gzip;q=0', null],
    ['gzip;q=0.0, identity', null],
    ['identity', null],
    ['', null],
  ])('compresses assets for clients that take it: %s', async (accepted, coding) => {
    const response = await send('/page/app.js', { headers: { 'accept-encoding': accepted } })
    expect(response.headers.get('content-encoding')).toBe(coding)
    expect(response.headers.get('vary')).toContain('accept-encoding')
    const bytes = new Uint8Array(await response.arrayBuffer())
    // `fetch` has decoded what came by HTTP.
    const isDecoded = bytes[0] === 'l'.charCodeAt(0)
    const text = isDecoded ? new TextDecoder().decode(bytes) : gunzipSync(bytes).toString()
    expect(text).toBe('let ü = 1')
    const etag = response.headers.get('etag')!
    expect(etag.endsWith('-gzip"')).toBe(coding !== null)
    const again = await send('/page/app.js', { headers: { 'accept-encoding': accepted, 'if-none-match': etag } })
    expect(again.status).toBe(304)
  })
})
