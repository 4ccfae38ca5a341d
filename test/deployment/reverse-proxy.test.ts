import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import type { RequestOptions } from 'node:https'
import { request } from 'node:https'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filePart, formBytes, formType, noise } from '../support/forms.js'
import { needs, programs } from '../support/needs.js'
import type { RawUpstream } from '../support/raw-upstream.js'
import { end, rawUpstream } from '../support/raw-upstream.js'
import { sample } from '../support/scope.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import type { ReverseProxy } from './reverse-proxy.js'
import { kinds, startProxy } from './reverse-proxy.js'

const password = 'the password of the tests'

/** An event of OpenAI's with a piece of text. */
const piece = (content: string, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_770_933_892,
    model: 'gpt-4o-mini',
    choices: [{ index: 0, delta: { content }, finish_reason }],
  })}\n\n`

for (const kind of sample(kinds))
  describe(
    `the server behind ${kind.name}, as docs/deployment.md configures it`,
    needs(programs[kind.name], programs.openssl),
    () => {
      let upstream: RawUpstream
      let server: Server
      let proxy: ReverseProxy
      beforeAll(async () => {
        upstream = await rawUpstream()
        server = await startServer({ OPENAI_BASE_URL: `${upstream.url}/v1`, TRUSTED_HOPS: '1', BASE_URL: '' })
        proxy = await startProxy(kind, server.url)
      })
      afterAll(async () => {
        await proxy?.stop()
        await server?.stop()
        await upstream?.close()
      })

      /** Sends a request on a connection of its own. */
      async function send(path: string, body: string | Buffer, options: RequestOptions = {}): Promise<IncomingMessage> {
        const sent = request({
          host: '127.0.0.1',
          servername: 'localhost',
          port: proxy.port,
          path,
          method: 'POST',
          rejectUnauthorized: false,
          agent: false,
          ...options,
          headers: { host: `localhost:${proxy.port}`, 'content-type': 'application/json', ...options.headers },
        })
        sent.end(body)
        const [response] = (await once(sent, 'response')) as [IncomingMessage]
        return response
      }

      const signIn = (email: string, options?: RequestOptions, secret = password): Promise<IncomingMessage> =>
        send('/api/auth', JSON.stringify({ email, password: secret }), options)

      it('passes a stream on piece by piece', async () => {
        let release = (): void => undefined
        const second = new Promise<void>((resolve) => (release = resolve))
        upstream.script = [
          'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n',
          piece('first'),
          // What is not passed on at once is waited for in vain.
          second,
          `${piece(' second', 'stop')}data: [DONE]\n\n`,
          end,
        ]
        const body = { model: 'gpt-4o-mini', stream: true, messages: [{ role: 'user', content: 'Hello!' }] }
        const headers = { authorization: `Bearer ${server.key}` }
        const response = await send('/v1/chat/completions', JSON.stringify(body), { headers })
        let read = ''
        for await (const data of response) {
          read += String(data)
          if (read.includes('first')) release()
        }
        expect(read).toMatch(/first[^]* second[^]*data: \[DONE\]\n\n$/)
      })

      it('takes a file of 25 MB, and names the host and scheme that the client called', async () => {
        const { access_token } = JSON.parse(await text(await signIn('admin@localhost'))) as { access_token: string }
        const form = formBytes([filePart(noise(25_000_000), 'large.bin', 'application/octet-stream')])
        const headers = { authorization: `Bearer ${access_token}`, 'content-type': formType() }
        const response = await send('/api/user-files', form, { headers })
        const file = JSON.parse(await text(response)) as { url: string }
        expect([response.statusCode, file]).toEqual([200, expect.objectContaining({ size_bytes: 25_000_000 })])
        expect(file.url).toMatch(new RegExp(`^https://localhost:${proxy.port}/api/user-files/`))
      })

      it('tells the address of the client, which the client cannot choose', async () => {
        const statusOf = async (n: number, options: RequestOptions): Promise<number> => {
          const response = await signIn(`nobody-${n}@example.org`, options, 'a wrong password')
          response.resume()
          return response.statusCode!
        }
        const forged = (n: number) => ({ headers: { 'x-forwarded-for': `192.0.2.${n}` } })
        // Thirty failed sign-ins a minute are allowed to an address.
        for (let n = 0; n < 30; n++) expect(await statusOf(n, forged(n))).toBe(401)
        expect(await statusOf(30, forged(30))).toBe(429)
        expect(await statusOf(31, { localAddress: '127.0.0.2' })).toBe(401)
      })

      it('threat 21: tells it behind more header lines than Node reads by default', async () => {
        const lines = Array.from({ length: 2_500 }, () => ['a', '']).flat()
        const statuses: Record<number, number> = {}
        for (let n = 0; n < 60; n++) {
          const body = JSON.stringify({ email: `nobody-${n}@example.org`, password: 'a wrong password' })
          const head = [
            'host',
            `localhost:${proxy.port}`,
            'content-type',
            'application/json',
            'content-length',
            String(body.length),
          ]
          const sent = request({
            host: '127.0.0.1',
            servername: 'localhost',
            port: proxy.port,
            path: '/api/auth',
            method: 'POST',
            rejectUnauthorized: false,
            agent: false,
            localAddress: '127.0.0.3',
            headers: [...head, 'x-forwarded-for', `192.0.2.${n}`, ...lines],
          })
          sent.end(body)
          const [response] = (await once(sent, 'response')) as [IncomingMessage]
          response.resume()
          statuses[response.statusCode!] = (statuses[response.statusCode!] ?? 0) + 1
        }
        // nginx refuses so many lines itself (400), and so does Bun (431, or Caddy's 502 where it closes the connection).
        const { 401: guesses = 0, ...refused } = statuses
        expect(guesses).toBeLessThanOrEqual(30)
        expect(Object.keys(refused).filter((status) => !['400', '429', '431', '502'].includes(status))).toEqual([])
      })
    },
  )
