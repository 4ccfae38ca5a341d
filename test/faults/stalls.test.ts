import { fetchTransport } from '@turnpike/providers'
import { undiciTransport } from '@turnpike/providers/undici'
import { afterEach, describe, expect, it } from 'vitest'
import type { Step } from '../support/raw-upstream.js'
import { sample } from '../support/scope.js'
import { ping } from './claude.js'
import { ask, families, helloSeen, helloStream } from './families.js'
import type { LocalGateway } from './gateway.js'
import { startGateway } from './gateway.js'
import { openai } from './openai.js'
import { expectError, expectStream, late } from './replies.js'
import { answer, begun, chunkedHead, errorEvent, errors, piece } from './wire.js'

const FIRST_MS = 500
const BETWEEN_MS = 250
/** Longer than a busy machine takes for what comes at once. */
const PATIENT_MS = 5_000

/** Forty times, for longer than an upstream has for its first event. */
const often = (text: string): Step[] => Array.from({ length: 40 }, () => [piece(text), 20]).flat()

// The transports know nothing of the families.
const ways = [
  ...families.map((family) => ({ family, name: family.name, by: 'undici', transport: undiciTransport })),
  { family: openai, name: openai.name, by: 'fetch', transport: fetchTransport },
]
describe.each(sample(ways))('an upstream of $name that stalls, at $by', ({ family, transport }) => {
  const { start: first, finish, done, seen } = family.hello
  let at: LocalGateway
  const start = async (firstEventMs: number) => {
    at = await startGateway({ transport: transport(), firstEventMs, betweenEventsMs: BETWEEN_MS })
  }
  afterEach(() => at.close())

  const expectHungUp = () => expect.poll(() => at.upstream.open).toBe(0)

  const stalls: [when: string, stream: boolean, script: Step[]][] = [
    ['before its head', false, []],
    ['before its first event', true, [chunkedHead]],
    ['within its answer', false, [answer(200, family.answer('Hello')).slice(0, -20)]],
    ['but for pings', true, [chunkedHead, ...often(ping)]],
    ['before its head', true, []],
    ['within its head', true, [chunkedHead.slice(0, -20)]],
    ['within an error answer', false, [answer(500, 'Oh no').slice(0, -2)]],
    ['within its first event', true, [chunkedHead, piece(first[0]!.slice(0, -9))]],
    ['but for comments', true, [chunkedHead, ...often(': ping\n\n')]],
  ]
  it.each(sample(stalls, 4))('%s, stream %s', async (_, stream, script) => {
    await start(FIRST_MS)
    at.upstream.script = script
    const begin = performance.now()
    expectError(await ask(at, family, { stream }), late)
    expect(performance.now() - begin).toBeGreaterThan(FIRST_MS - 5)
    await expectHungUp()
    expect([at.upstream.requests, await at.records()]).toEqual([1, []])
  })

  it.each<[string, Step[], string]>([
    ['after its first event', begun(first.slice(0, 1)), seen.split(/(?<=\n\n)/)[0]!],
    ['between two events', begun(first), seen],
    ['within an event', begun(first, piece(finish.join('').slice(0, -20))), seen],
    ['after the finish', begun([...first, ...finish]), seen],
  ])('%s', async (_, script, seen) => {
    await start(PATIENT_MS)
    at.upstream.script = script
    expectStream(await ask(at, family, { stream: true }), seen + errorEvent(errors.late))
    await expectHungUp()
    expect(at.upstream.requests).toBe(1)
    // Only OpenAI tells nothing of its usage before the end.
    const accuracy = family === openai ? 'estimated' : 'partial'
    expect(await at.records()).toEqual([expect.objectContaining({ outcome: 'idle_timeout', accuracy })])
  })

  // What says why the answer ends waits for the end before anything of it is sent.
  it('but never for too long', async () => {
    at = await startGateway({ transport: transport(), firstEventMs: 2_000, betweenEventsMs: 2_000 })
    const slow = helloStream(family).flatMap((text) => [600, piece(text)])
    at.upstream.script = [chunkedHead, ...slow, piece()]
    expectStream(await ask(at, family, { stream: true }), helloSeen(family))
    expect(await at.records()).toEqual([expect.objectContaining({ outcome: 'complete' })])
  })

  // A second is given for the rest, so that the connection can be used again.
  if (done.length > 0)
    it('after its end event, which is no failure of the answer', async () => {
      await start(PATIENT_MS)
      at.upstream.script = begun(helloStream(family))
      expectStream(await ask(at, family, { stream: true }), helloSeen(family))
      await expectHungUp()
    })
})
