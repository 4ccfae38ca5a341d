import { describe, expect, it } from 'vitest'
import { chat, openChat } from '../support/raw-client.js'
import { rawUpstream } from '../support/raw-upstream.js'
import { runs } from '../support/scope.js'
import { listens, startServer } from '../support/server.js'
import { startGateway } from './gateway.js'
import { completion, hello, helloSeen } from './openai.js'
import { expectAnswer, expectStream } from './replies.js'
import { answer, begun, done, errorEvent, errors, piece } from './wire.js'

/** A promise, and what fulfils it. */
function gate(): { passed: Promise<void>; open: () => void } {
  let open = (): void => undefined
  const passed = new Promise<void>((resolve) => (open = resolve))
  return { passed, open }
}

describe('SIGTERM', () => {
  it.each([
    ['a stream', true],
    ['an answer', false],
  ])('lets %s finish, accepts no new connections and exits with code 0', async (_, stream) => {
    const upstream = await rawUpstream()
    const server = await startServer({ OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${upstream.url}/v1` })
    const { passed, open } = gate()
    const rest = [hello.finish, done].map((text) => piece(text))
    const body = completion({ content: 'Hello' })
    upstream.script = stream ? begun(hello.start, passed, ...rest, piece()) : [passed, answer(200, body)]
    const reply = stream
      ? openChat(server, { stream }).then(async (call) => {
          await call.seen(hello.seen)
          return call.reply
        })
      : chat(server)
    await expect.poll(() => upstream.requests).toBe(1)
    if (stream) await expect.poll(() => upstream.open).toBe(1)

    const exit = server.stop()
    await expect.poll(() => listens(server.url)).toBe(false)
    open()
    if (stream) expectStream(await reply, helloSeen)
    else expectAnswer(await reply, body)
    expect(await exit).toBe(0)
    await upstream.close()
  })

  it('ends a server with code 0 as soon as it has announced its address', async () => {
    for (let i = 0; i < runs(2, 20); i++) expect(await (await startServer()).stop()).toBe(0)
  })
})

describe('drain', () => {
  it('ends a stream that still runs after the time with an error event, and records it', async () => {
    const at = await startGateway()
    at.upstream.script = begun(hello.start)
    const call = await openChat(at, { stream: true })
    await call.seen(hello.seen)

    const start = performance.now()
    const drained = at.gateway.drain(200)
    expect((await fetch(`${at.url}/health`)).status).toBe(503)
    expectStream(await call.reply, hello.seen + errorEvent(errors.shutdown))
    await drained
    expect(performance.now() - start).toBeGreaterThan(195)
    expect(await at.records()).toEqual([expect.objectContaining({ outcome: 'server_shutdown', accuracy: 'estimated' })])
    await expect.poll(() => at.upstream.open).toBe(0)
    await at.close()
  })

  it('waits for a stream no longer than the stream takes', async () => {
    const at = await startGateway()
    const { passed, open } = gate()
    at.upstream.script = begun(hello.start, passed, piece(hello.finish), piece())
    const call = await openChat(at, { stream: true })
    await call.seen(hello.seen)

    let ended = false
    const drained = at.gateway.drain(10_000).then(() => (ended = true))
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(ended).toBe(false)
    open()
    expectStream(await call.reply, helloSeen)
    await drained
    // The drain ends only after the usage record has been committed.
    expect(await at.records()).toEqual([expect.objectContaining({ outcome: 'complete' })])
    await at.close()
  })
})
