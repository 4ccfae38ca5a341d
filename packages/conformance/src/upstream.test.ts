import { once } from 'node:events'
import { request } from 'node:http'
import { expect, it, onTestFinished, vi } from 'vitest'
import { freePort } from '../../../test/support/free-port.js'
import { IDLE_MS, startUpstreams } from './upstream.js'

it('upstreams tell which requests have no end, and end them', async () => {
  const port = await freePort()
  const upstreams = await startUpstreams(port)
  onTestFinished(() => upstreams.close())
  const open = request({
    port,
    host: '127.0.0.1',
    method: 'POST',
    path: '/google/v1beta/models/a:generateContent?key=secret',
    headers: { expect: '100-continue' },
  })
  const broken = once(open, 'error')
  open.flushHeaders()
  // The server has the request, whose body never comes.
  await once(open, 'continue')

  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const idle = expect(upstreams.idle()).rejects.toThrow(/still open: POST \/google\/v1beta\/models\/a:generateContent$/)
  await vi.advanceTimersByTimeAsync(IDLE_MS)
  await idle
  vi.useRealTimers()
  await broken
  await upstreams.idle()
})
