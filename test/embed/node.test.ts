import { createServer as createHttpServer, ServerResponse } from 'node:http'
import { nodeShell } from '@turnpike/http'
import { createServer } from '@turnpike/http/node'
import { expect, it, onTestFinished } from 'vitest'
import { thorough } from '../support/scope.js'
import { gatewaySuite } from './gateway-suite.js'
import { listen, PACE, serve } from './setup.js'

gatewaySuite('node:http', (gateway) => serve((request, response) => void gateway.node(request, response)))

gatewaySuite('createServer', (gateway) => listen(createServer(gateway, PACE)))

class OwnResponse extends ServerResponse {
  override write(piece: string | Uint8Array): boolean {
    expect(Buffer.from(piece as string).toString('latin1')).not.toMatch(/^[\da-f]+\r\n/)
    return super.write(piece)
  }
}
if (thorough) {
  gatewaySuite('node:http with a response of its own', (gateway) =>
    listen(
      createHttpServer({ ServerResponse: OwnResponse }, (request, response) => void gateway.node(request, response)),
    ),
  )

  gatewaySuite('node:http behind a middleware that writes in its own way', (gateway) =>
    serve((request, response) => {
      const write = response.write.bind(response) as (piece: string) => boolean
      response.write = (piece: string) => write(piece)
      void gateway.node(request, response)
    }),
  )
}

it('ends the connection where the head of an answer cannot be written, and does not reject', async () => {
  const shell = nodeShell(async () => ({ status: 200, headers: { 'x-broken': 'two\nlines' }, body: 'Hi' }))
  const served: Promise<void>[] = []
  const { url, close } = await serve((request, response) => void served.push(shell(request, response)))
  onTestFinished(close)
  await expect(fetch(url)).rejects.toThrow('fetch failed')
  expect(await Promise.allSettled(served)).toMatchObject([{ status: 'fulfilled' }])
})
