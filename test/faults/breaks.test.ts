import { describe, expect, it } from 'vitest'
import { openChat } from '../support/raw-client.js'
import type { Step } from '../support/raw-upstream.js'
import { end, reset } from '../support/raw-upstream.js'
import type { Family } from './families.js'
import { ask, families, settle } from './families.js'
import { expectStream } from './replies.js'
import { useServer } from './server.js'
import { begun, closingHead, error, errorEvent, errors, piece, stream } from './wire.js'

interface Break {
  name: string
  /** What the upstream does once the client has two words. */
  next: Step[]
  /** What the client gets after them, before the error; default nothing. */
  seen?: string
  error: string
}

const twentyMegabytes = 'é"\\n'.repeat(5 * 1024 * 1024)

function breaks({ hello, text, textSeen, error: failure }: Family): Break[] {
  const finish = hello.finish.join('')
  const done = hello.done.join('')
  return [
    { name: 'a reset', next: [reset], error: errors.truncated },
    { name: 'an end without the last chunk', next: [end], error: errors.truncated },
    { name: 'a reset within a chunk', next: [piece(finish).slice(0, -20), 20, reset], error: errors.truncated },
    { name: 'a chunk whose size is no number', next: ['what?\r\n'], error: errors.truncated },
    { name: 'a clean end without a finish', next: [piece()], error: errors.truncated },
    { name: 'comments and then an end', next: [piece(': ping\n\n'), piece()], error: errors.truncated },
    { name: 'half a finish', next: [piece(finish.slice(0, -9)), piece()], error: errors.truncated },
    { name: 'a finish and then a reset', next: [piece(finish), 20, reset], error: errors.truncated },
    { name: 'a finish and then an end without the last chunk', next: [piece(finish), end], error: errors.truncated },
    { name: 'an error event', next: [piece(failure(500, 'Secret stack trace')), piece()], error: errors.failed },
    { name: 'an error event 429', next: [piece(failure(429, 'Slow down')), piece()], error: errors.limited },
    {
      name: 'an error event 400',
      next: [piece(failure(400, 'Bad key sk-abcDEF123456')), piece()],
      error: error('invalid_request_error', 'invalid_body', 'Bad key [redacted]'),
    },
    {
      name: 'an error event and then a reset',
      next: [piece(failure(500, 'Secret')), 20, reset],
      error: errors.failed,
    },
    {
      name: 'a text and an error event',
      next: [piece(text('!')), 20, piece(failure(500, 'Secret')), piece()],
      seen: textSeen('!'),
      error: errors.failed,
    },
    {
      name: 'a text and an error event in one write',
      next: [piece(text('!') + failure(500, 'Secret')), piece()],
      seen: textSeen('!'),
      error: errors.failed,
    },
    {
      name: 'a text and an end without a finish in one write',
      next: [piece(text('!') + done) + piece()],
      seen: textSeen('!'),
      error: errors.truncated,
    },
    {
      name: 'an error event after the finish',
      next: [piece(finish), 20, piece(failure(500, 'Secret') + done), piece()],
      error: errors.failed,
    },
    {
      name: 'an error event after the finish in one write',
      next: [piece(finish + failure(500, 'Secret') + done), piece()],
      error: errors.failed,
    },
    { name: 'an event that is not JSON', next: [piece('data: {"choices":[{\n\n'), piece()], error: errors.senseless },
    { name: 'an event of HTML', next: [piece('data: <html>\n\n'), piece()], error: errors.senseless },
    { name: 'an event of 20 MB', next: [piece(text(twentyMegabytes)), piece(finish)], error: errors.senseless },
  ]
}

const at = useServer()

describe.each(families)('a stream of $name that breaks', (family) => {
  const { start, seen } = family.hello

  it.each(breaks(family))('$name', async ({ next, seen: more = '', error }) => {
    let go = (): void => undefined
    at.upstream.script = begun(start, new Promise<void>((resolve) => (go = resolve)), ...next)
    const call = await openChat(at.server, { model: family.model, stream: true })
    await call.seen('" world"')
    go()
    expectStream(settle(family, await call.reply), seen + more + errorEvent(error))
    expect(at.upstream.requests).toBe(1)
  })

  it('in its first read', async () => {
    at.upstream.script = stream([...start, family.error(500, 'Secret')].join(''))
    expectStream(await ask(at.server, family, { stream: true }), seen + errorEvent(errors.failed))
  })

  it('without chunks, at the end of the connection', async () => {
    at.upstream.script = [closingHead, ...start, end]
    expectStream(await ask(at.server, family, { stream: true }), seen + errorEvent(errors.truncated))
  })
})

// Gemini has no such event.
describe.each(families.filter(({ hello }) => hello.done.length > 0))('a stream of $name', (family) => {
  it('is incomplete where it ends without a finish reason', async () => {
    const { start, seen, done } = family.hello
    at.upstream.script = stream(...start, ...done)
    expectStream(await ask(at.server, family, { stream: true }), seen + errorEvent(errors.truncated))
  })
})
