import { fetchTransport } from '@turnpike/providers'
import { undiciTransport } from '@turnpike/providers/undici'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { chat } from '../support/raw-client.js'
import type { Step } from '../support/raw-upstream.js'
import type { LocalGateway } from './gateway.js'
import { startGateway } from './gateway.js'
import { expectError, expectStream } from './replies.js'
import {
  answer,
  begun,
  chunkedHead,
  completion,
  done,
  errorEvent,
  errors,
  hello,
  helloSeen,
  piece,
  usageGiven,
} from './wire.js'

const FIRST_MS = 120
const BETWEEN_MS = 60
const late = { status: 502, body: errors.late, shouldRetry: 'false' }

describe.each([
  ['undici', undiciTransport],
  ['fetch', fetchTransport],
])('an upstream that falls silent, by %s', (_, transport) => {
  let at: LocalGateway
  beforeEach(async () => {
    at = await startGateway({ transport: transport(), firstEventMs: FIRST_MS, betweenEventsMs: BETWEEN_MS })
  })
  afterEach(() => at.close())

  const expectHungUp = () => vi.waitFor(() => expect(at.upstream.open).toBe(0), { timeout: 2_000, interval: 5 })

  it.each<[string, boolean, Step[]]>([
    ['before its head', false, []],
    ['before its head', true, []],
    ['within its head', true, [chunkedHead.slice(0, -20)]],
    ['within its answer', false, [answer(200, completion({ content: 'Hello' })).slice(0, -20)]],
    ['within an error answer', false, [answer(500, 'Oh no').slice(0, -2)]],
    ['before its first event', true, [chunkedHead]],
    ['within its first event', true, [chunkedHead, piece('data: {"choices":[')]],
    ['but for comments', true, [chunkedHead, ...Array.from({ length: 40 }, () => [piece(': ping\n\n'), 5]).flat()]],
  ])('%s, stream %s', async (_, stream, script) => {
    at.upstream.script = script
    const start = performance.now()
    expectError(await chat(at, { stream }), late)
    expect(performance.now() - start).toBeGreaterThan(FIRST_MS - 5)
    await expectHungUp()
    expect([at.upstream.requests, await at.records()]).toEqual([1, []])
  })

  it.each<[string, Step[], string]>([
    ['after its first event', begun(hello.start.slice(0, 1)), hello.seen.split(/(?<=\n\n)/)[0]!],
    ['between two events', begun(hello.start), hello.seen],
    ['within an event', begun(hello.start, piece(hello.finish.slice(0, -20))), hello.seen],
    ['after the finish', begun([...hello.start, hello.finish]), hello.seen],
  ])('%s', async (_, script, seen) => {
    at.upstream.script = script
    expectStream(await chat(at, { stream: true }), seen + errorEvent(errors.late))
    await expectHungUp()
    expect(at.upstream.requests).toBe(1)
    expect(await at.records()).toEqual([expect.objectContaining({ outcome: 'idle_timeout', accuracy: 'estimated' })])
  })

  // The last two events, the finish and the usage, wait for the end before anything of them is sent.
  it('but never for too long', async () => {
    const patient = await startGateway({ transport: transport(), firstEventMs: 300, betweenEventsMs: 300 })
    const slow = [...hello.start, hello.finish, usageGiven, done].flatMap((text) => [160, piece(text)])
    patient.upstream.script = [chunkedHead, ...slow, piece()]
    expectStream(await chat(patient, { stream: true }), helloSeen)
    expect(await patient.records()).toEqual([expect.objectContaining({ outcome: 'complete' })])
    await patient.close()
  })

  // A second is given for the rest, so that the connection can be used again.
  it('after [DONE], which is no fault of the answer', async () => {
    at.upstream.script = begun([...hello.start, hello.finish, done])
    expectStream(await chat(at, { stream: true }), helloSeen)
    await expectHungUp()
  })
})
