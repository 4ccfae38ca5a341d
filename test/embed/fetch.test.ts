import { fetchTransport } from '@turnpike/providers'
import { undiciTransport } from '@turnpike/providers/undici'
import { expect, it } from 'vitest'
import { never, streaming, textEvent } from '../support/faults.js'
import { setUp } from './setup.js'

// Without a server between: what HTTP servers hide, other hosts of `gateway.fetch` see.

const url = 'http://localhost/v1'

const transports = [
  { transport: 'fetch', make: () => fetchTransport() },
  { transport: 'undici', make: () => undiciTransport() },
]

// A generator that waits cannot be returned, and one that nobody reads does not see that it is aborted.
it.each(transports.flatMap((each) => [true, false].map((waits) => ({ ...each, waits }))))(
  'aborts the upstream when a stream is cancelled: through $transport, while the host waits: $waits',
  async ({ make, waits }) => {
    const setup = await setUp(make())
    const { gateway, key, upstream, userId } = setup
    setup.fault = streaming(textEvent('Hello'), never)
    const response = await gateway.fetch(
      new Request(`${url}/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }], stream: true }),
      }),
    )
    const reader = response.body!.getReader()
    const { value } = await reader.read()
    expect(new TextDecoder().decode(value)).toContain('"content":"Hello"')
    expect(upstream.active).toBe(1)
    const next = waits ? reader.read() : undefined
    if (waits) await new Promise((resolve) => setTimeout(resolve, 20))
    await reader.cancel()
    if (waits) expect(await next).toEqual({ done: true, value: undefined })
    await expect.poll(() => upstream.active).toBe(0)
    const { items } = await gateway.ledger.records(userId)
    expect(items).toMatchObject([{ outcome: 'client_abort', accuracy: 'estimated' }])
    await setup.close()
  },
)

it('answers HEAD without a body', async () => {
  const { gateway, key } = await setUp()
  const request = (method: string) =>
    gateway.fetch(new Request(`${url}/models`, { method, headers: { authorization: `Bearer ${key}` } }))
  const [get, head] = await Promise.all([request('GET'), request('HEAD')])
  expect(head.status).toBe(get.status)
  expect(head.headers.get('content-type')).toBe(get.headers.get('content-type'))
  expect(head.body).toBeNull()
  expect(get.body).not.toBeNull()
})
