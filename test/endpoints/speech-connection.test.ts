import type { KV } from '@turnpike/core'
import { StorageError } from '@turnpike/core'
import { afterEach, describe, expect, it } from 'vitest'
import type { LocalGateway } from '../faults/gateway.js'
import { startGateway } from '../faults/gateway.js'
import { piece } from '../faults/wire.js'
import type { Step } from '../support/raw-upstream.js'
import { end } from '../support/raw-upstream.js'

// Speech over real sockets: only the end of the connection shows the client that the body is incomplete.

const head = 'HTTP/1.1 200 OK\r\ncontent-type: audio/mpeg\r\ntransfer-encoding: chunked\r\n\r\n'

let at: LocalGateway
afterEach(() => at.close())

async function speak(script: Step[], options: Parameters<typeof startGateway>[0] = {}, init: RequestInit = {}) {
  at = await startGateway(options)
  at.upstream.script = script
  const response = await fetch(`${at.url}/v1/audio/speech`, {
    method: 'POST',
    headers: { authorization: `Bearer ${at.key}`, 'content-type': 'application/json' },
    body: '{"model":"tts-1","input":"Hi"}',
    ...init,
  })
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
  return response
}

const expectRecord = (outcome: string) => expect.poll(at.records).toMatchObject([{ outcome, cost_nano_usd: 30_000 }])

describe('speech', () => {
  it('that is complete ends normally', async () => {
    expect(await (await speak([head, piece('one'), 10, piece('two'), piece()])).text()).toBe('onetwo')
    await expectRecord('complete')
  })

  it('that the upstream cuts is cut for the client', async () => {
    const response = await speak([head, piece('one'), 10, end])
    await expect(response.text()).rejects.toThrow()
    await expectRecord('truncated')
  })

  it('that cannot be recorded is cut for the client', async () => {
    const broken = { is: false }
    const wrap = (kv: KV): KV => ({
      ...kv,
      commit: (change) => (broken.is ? Promise.reject(new StorageError('Disk full', 'none')) : kv.commit(change)),
    })
    const response = await speak([head, piece('one'), 100, piece('two'), piece()], { wrap })
    broken.is = true
    await expect(response.text()).rejects.toThrow()
    expect(await at.records()).toEqual([])
  })

  it('is aborted at the upstream within a second of a client disconnect', async () => {
    const controller = new AbortController()
    const response = await speak([head, piece('one'), 10_000], {}, { signal: controller.signal })
    await response.body!.getReader().read()
    expect(at.upstream.open).toBe(1)
    controller.abort()
    await expect.poll(() => at.upstream.open).toBe(0)
    await expectRecord('client_abort')
  })
})
