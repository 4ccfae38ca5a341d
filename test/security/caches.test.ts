import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readPage } from '../support/page.js'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const ADMIN_TOKEN = 'admin-token-of-the-tests'
const KEPT = 'private, no-store; Cookie, Authorization; nosniff'

/** The paths of docs/openapi/gateway.json, and their methods. */
const { paths } = JSON.parse(readPage('docs/openapi/gateway.json')) as { paths: Record<string, Record<string, object>> }
const routes = Object.entries(paths).flatMap(([path, item]) =>
  Object.keys(item).flatMap((method) =>
    /^(get|post|delete|patch|put)$/.test(method) ? [[method.toUpperCase(), path]] : [],
  ),
) as [string, string][]

// The platform: test/platform/threats.test.ts.
describe('threat 26: shared caches and sniffing, at the gateway', () => {
  let server: Server
  beforeAll(async () => {
    server = await startServer({ ADMIN_TOKEN })
  })
  afterAll(() => server.stop())

  /** What caches and browsers are told by an answer. */
  const told = (headers: Headers): string =>
    ['cache-control', 'vary', 'x-content-type-options'].map((name) => headers.get(name)).join('; ')
  async function ask(
    method: string,
    path: string,
    headers: Record<string, string> = {},
    body?: object,
  ): Promise<string> {
    const leaving = new AbortController()
    const response = await fetch(server.url + path, {
      method,
      headers: { ...headers, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal: leaving.signal,
    })
    // Some streams have no end.
    leaving.abort()
    return told(response.headers)
  }

  it('every route says that nobody else may keep it, but what is the same for everybody', async () => {
    const seen: Record<string, string[]> = {}
    for (const [method, path] of routes) {
      const target = path.replaceAll(/\{\w+\}/g, 'nothing')
      for (const credential of [undefined, server.key, ADMIN_TOKEN]) {
        const headers = credential === undefined ? {} : { authorization: `Bearer ${credential}` }
        ;(seen[await ask(method, target, headers, method === 'POST' ? {} : undefined)] ??= []).push(path)
      }
    }
    const { [KEPT]: kept = [], ...others } = seen
    expect(kept.length).toBeGreaterThan(60)
    const listed = Object.fromEntries(
      Object.entries(others).map(([how, which]) => [how, [...new Set(which)].toSorted()]),
    )
    expect(listed).toEqual({
      'no-cache; Cookie, Authorization; nosniff': ['/v1/openapi.json'],
      'private, no-store, no-transform; Cookie, Authorization; nosniff': ['/admin/events'],
      'no-cache; accept-encoding; nosniff': ['/admin', '/console', '/docs'],
    })
  })

  it('answers and errors of all kinds do', async () => {
    const headers = { authorization: `Bearer ${server.key}` }
    const chat = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] }
    const at = '/v1/chat/completions'
    expect({
      answer: await ask('POST', at, headers, chat),
      stream: await ask('POST', at, headers, { ...chat, stream: true }),
      speech: await ask('POST', '/v1/audio/speech', headers, { model: 'tts-1', input: 'Hi', voice: 'alloy' }),
      400: await ask('POST', at, headers, { ...chat, model: 1 }),
      401: await ask('POST', at, {}, chat),
      404: await ask('GET', '/v1/nothing'),
      'no path': await ask('GET', '/nothing'),
      405: await ask('PUT', at, headers),
      HEAD: await ask('HEAD', '/health'),
      OPTIONS: await ask('OPTIONS', at),
    }).toEqual({
      answer: KEPT,
      stream: KEPT.replace('no-store', 'no-store, no-transform'),
      speech: KEPT,
      400: KEPT,
      401: KEPT,
      404: KEPT,
      'no path': KEPT,
      405: KEPT,
      HEAD: KEPT,
      OPTIONS: KEPT,
    })
  })

  // Bun refuses them itself.
  it.skipIf(runtime === 'bun')('refusals of what is no request do', async () => {
    for (const bytes of ['hello\r\n\r\n', 'GET / HTTP/1.1\r\n\r\n', 'CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n']) {
      const { hostname, port } = new URL(server.url)
      const socket = connect(Number(port), hostname)
      socket.write(bytes)
      const [head = ''] = (await text(socket)).split('\r\n\r\n')
      const lines = head.split('\r\n').slice(1)
      expect(told(new Headers(lines.map((line) => line.split(': ') as [string, string])))).toBe(KEPT)
    }
  })
})
