import type { HattipHandler } from '@turnpike/http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { hattipListener } from '../../examples/server/src/hattip-listener.js'
import { serverListener } from '../../examples/server/src/listener.js'
import { gatewaySuite } from './gateway-suite.js'
import { serve, setUp } from './setup.js'

const origin = 'http://localhost'

gatewaySuite('the listener of the reference server', (gateway) =>
  serve(serverListener(gateway.node, { handler: gateway.hattip, origin })),
)

gatewaySuite("HatTip's adapter alone", (gateway) => serve(hattipListener(gateway, { origin })))

describe('the listener of the reference server', () => {
  it("offers what is not the gateway's to the HatTip handler, body and all", async () => {
    const asked: string[] = []
    const handler: HattipHandler = async ({ request, passThrough }) => {
      const { pathname } = new URL(request.url)
      asked.push(pathname)
      if (pathname !== '/echo') passThrough()
      return new Response(`HatTip was sent ${await request.text()}`)
    }
    const { gateway, key } = await setUp()
    const { url, close } = await serve(serverListener(gateway.node, { handler, origin }))
    onTestFinished(close)

    const models = await fetch(`${url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    expect([models.status, asked]).toEqual([200, []])
    const echo = await fetch(`${url}/echo`, { method: 'POST', body: 'a body' })
    expect([echo.status, await echo.text()]).toEqual([200, 'HatTip was sent a body'])
    const nothing = await fetch(`${url}/nothing`)
    expect([nothing.status, await nothing.json()]).toMatchObject([404, { error: { code: 'not_found' } }])
    expect(asked).toEqual(['/echo', '/nothing'])
  })
})
