import { execFile, execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import type { Server } from 'node:https'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { needs, programs } from '../support/needs.js'
import { runtime, runtimePath } from '../support/runtime.js'

const folder = mkdtempSync(join(tmpdir(), 'turnpike-images-'))
/** Sends one byte after another, each in a piece of its own. */
function trickle(response: ServerResponse): void {
  response.flushHeaders()
  response.socket!.write('1\r\na\r\n'.repeat(20_000))
}

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(50)])
const script = fileURLToPath(new URL('fetch.mjs', import.meta.url))

/** By path: what the server sends. */
const answers: Record<string, { status?: number; headers?: Record<string, string>; body: Buffer | string }> = {
  '/image.png': { headers: { 'content-type': 'text/html' }, body: png },
  '/jpeg': { body: Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xe0]), Buffer.alloc(10)]) },
  '/page': { headers: { 'content-type': 'image/png' }, body: '<html></html>' },
  '/drawing.svg': { headers: { 'content-type': 'image/svg+xml' }, body: '<svg xmlns="http://www.w3.org/2000/svg"/>' },
  '/empty': { body: '' },
  '/large': { body: Buffer.concat([png, Buffer.alloc(100_000)]) },
  '/moved': { status: 302, headers: { location: '/image.png' }, body: '' },
  '/absent': { status: 404, body: 'no' },
}

let server: Server
let connections = 0
let origin: string
beforeAll(async () => {
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost']
  const kind = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2']
  execFileSync(programs.openssl.path, ['req', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' })
  server = createServer({ key: readFileSync(key), cert: readFileSync(cert) }, ({ url = '' }, response) => {
    if (url === '/silent') return
    if (url === '/small') return trickle(response)
    const { status = 200, headers = {}, body } = answers[url]!
    response.writeHead(status, headers).end(body)
  })
  server.on('connection', () => connections++)
  await once(server.listen(0, 'localhost'), 'listening')
  origin = `https://localhost:${(server.address() as AddressInfo).port}`
})
afterAll(() => server.close().closeAllConnections())

/** What became of each path, fetched by the runtime under test. @param allows an address, `any` or `public` */
async function fetched(allows: string, paths: string[], more: Record<string, string> = {}): Promise<string[]> {
  const environment = { ...process.env, ...more, NODE_EXTRA_CA_CERTS: join(folder, 'cert.pem') }
  const urls = paths.map((path) => origin + path)
  const { stdout } = await promisify(execFile)(runtimePath(), [script, allows, ...urls], { env: environment })
  return stdout.trim().split('\n')
}

describe(`remote images, on ${runtime}`, needs(programs.openssl), () => {
  it('have the type of their first bytes', async () => {
    expect(await fetched('any', ['/image.png', '/jpeg'])).toEqual(['image/png 58', 'image/jpeg 14'])
  })

  it('threat 61: names that nobody answers for keep no thread, and no other image', async () => {
    expect(await fetched('any', ['/image.png'], { SILENT: 'silent.example' })).toEqual(['image/png 58'])
  })

  it('threat 49: are refused where they come in pieces that cost more memory than they have bytes', async () => {
    const refused = '400 An image arrives in too many small pieces'
    expect(await fetched('any', ['/small', '/image.png'])).toEqual([refused, 'image/png 58'])
    expect(await fetched('any', ['/small'], { LEFT: '1000000' })).toEqual(['503 no memory'])
  })

  it('threat 49: take their bytes from a limited memory', async () => {
    const outcomes = ['image/png 58', '503 no memory', '503 no memory']
    expect(await fetched('any', ['/image.png', '/large', '/image.png'], { LEFT: '60000' })).toEqual(outcomes)
  })

  it('are refused where they are invalid, too large, redirected or missing', async () => {
    const unknown = "400 What is at an image's URL is not an image of a known kind"
    expect(await fetched('any', ['/page', '/drawing.svg', '/empty', '/large', '/moved', '/absent', '/silent'])).toEqual(
      [
        unknown,
        unknown,
        unknown,
        '400 The images of a request are too large',
        "400 An image's URL answered with status 302",
        "400 An image's URL answered with status 404",
        '400 An image could not be fetched from its URL',
      ],
    )
  })

  it('are not fetched where a name resolves into the local network: no connection is made', async () => {
    const before = connections
    expect(await fetched('public', ['/image.png'])).toEqual(['400 An image could not be fetched from its URL'])
    expect(connections).toBe(before)
  })

  const unreachable = ['400 An image could not be fetched from its URL']

  it('threat 1: SSRF, are not fetched where a name has another address as well that is not allowed', async () => {
    const addresses = JSON.stringify([['127.0.0.1', '127.0.0.2']])
    expect(await fetched('any', ['/image.png'], { RESOLVES: addresses })).toEqual(['image/png 58'])
    const before = connections
    expect(await fetched('127.0.0.2', ['/image.png'], { RESOLVES: addresses })).toEqual(unreachable)
    expect(connections).toBe(before)
  })

  it('threat 1: SSRF, are fetched from the address that was checked, whatever the name resolves to later', async () => {
    const before = connections
    const rebinding = JSON.stringify([['127.0.0.2'], ['127.0.0.1']])
    expect(await fetched('127.0.0.2', ['/image.png'], { RESOLVES: rebinding })).toEqual(unreachable)
    expect(connections).toBe(before)
  })

  it('threat 1: SSRF, are not fetched from where a redirect leads', async () => {
    const before = connections
    expect(await fetched('any', ['/moved'])).toEqual(["400 An image's URL answered with status 302"])
    expect(connections).toBe(before + 1)
  })
})
