import type { Transport } from '@turnpike/providers'
import { fetchTransport } from '@turnpike/providers'
import { undiciTransport } from '@turnpike/providers/undici'
import { expect, it } from 'vitest'
import { startGateway } from '../faults/gateway.js'
import { begun, event } from '../faults/wire.js'
import { openChat } from '../support/raw-client.js'
import { chunks } from './pass.js'

const model = 'gpt-4o-mini'
const asked = {
  model,
  messages: [{ role: 'user', content: 'Hi' }],
  stream: true,
  stream_options: { include_usage: true },
}
const head = { id: 'chatcmpl-1', created: 5, model, object: 'chat.completion.chunk' }
const choice = (delta: object) => ({ index: 0, delta, finish_reason: null })
const role = choice({ role: 'assistant', content: '' })
const hello = choice({ content: 'Hello' })
const seen = chunks(head, role, hello)

it('aborts the upstream within a second of a client disconnect, and records the usage', async () => {
  const given = (more: object) => [
    event({ ...head, choices: [role], ...more }),
    event({ ...head, choices: [hello], ...more }),
  ]
  const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }
  const streams = [
    { texts: given({ usage }), used: { prompt_tokens: 9, completion_tokens: 1, tokens: 10, accuracy: 'partial' } },
    // Without a report it is four characters a token.
    { texts: given({}), used: { prompt_tokens: 1, completion_tokens: 2, tokens: 3, accuracy: 'estimated' } },
  ]
  for (const send of [undiciTransport(), fetchTransport()])
    for (const { texts, used } of streams) {
      const sent: unknown[] = []
      const transport: Transport = (request) => {
        sent.push(JSON.parse(request.body as string))
        return send(request)
      }
      const at = await startGateway({ transport })
      at.upstream.script = begun(texts)
      const call = await openChat(at, { stream: true })
      await call.seen(seen)
      expect(at.upstream.open).toBe(1)
      call.abandon()
      await expect.poll(() => at.upstream.open).toBe(0)
      expect(sent).toEqual([asked])
      const { status, body, whole } = await call.reply
      expect([status, whole]).toEqual([200, false])
      expect(body).toBe(seen)
      await expect.poll(at.records).toMatchObject([{ outcome: 'client_abort', ...used }])
      await at.close()
    }
})
