import { createRouter, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, testGateway } from '../support/gateway.js'
import { promptCache } from './prompt-cache.js'

const WEIGHTS = [4, 3, 2, 1]
const SESSIONS = 251
const TURNS = 8

/** A gateway before four deployments, each with a prompt cache of its own. @param limited which one answers 429 */
async function setUp(sticky: boolean) {
  const clock = { now: Date.UTC(2026, 0, 2) }
  const limited = new Set<number>()
  const fakes = WEIGHTS.map((_, i) => {
    const cache = promptCache(() => clock.now)
    const busy: FakeAnswer = answer({ error: { message: 'Slow down' } }, 429, { 'retry-after': '60' })
    return fakeOpenAI({ override: (request) => (limited.has(i) ? busy : cache(request)) })
  })
  const router = createRouter({
    providers: fakes.map(({ transport }, i) => ({
      provider: openai({ apiKey: `key-${i}`, transport }),
      weight: WEIGHTS[i]!,
    })),
    sticky,
    now: () => clock.now,
  })
  const gateway = await testGateway({ router, now: () => clock.now, rateLimit: 1_000_000 })
  const calls = () => fakes.map(({ requests }) => requests.length)
  return { ...gateway, clock, limited, calls }
}
type Setup = Awaited<ReturnType<typeof setUp>>

/** A conversation about a document of 2,000 tokens, which grows by some 300 with each turn. */
const conversation = (session: number, turn: number) => [
  { role: 'system', content: `Document ${session}: ${'words and '.repeat(800)}` },
  ...Array.from({ length: turn }, (_, i) => [
    { role: 'user', content: `Question ${i}: ${'why is it '.repeat(20)}` },
    { role: 'assistant', content: `Answer ${i}: ${'because of '.repeat(90)}` },
  ]).flat(),
  { role: 'user', content: `Question ${turn}: ${'why is it '.repeat(20)}` },
]

/** All sessions have their turns, one after the other: a turn of each in a minute. */
async function converse({ chat, clock }: Setup, name: (session: number) => RequestInit & { fields?: object }) {
  for (let turn = 0; turn < TURNS; turn++)
    for (let session = 0; session < SESSIONS; session++) {
      const { fields, ...init } = name(session)
      const response = await chat({ messages: conversation(session, turn), ...fields }, init)
      expect(response.status).toBe(200)
      await response.arrayBuffer()
      clock.now += 60_000 / SESSIONS
    }
}

const uuid = (session: number): string => `01900000-0000-7000-8000-${String(session).padStart(12, '0')}`
const names: [by: string, name: Parameters<typeof converse>[1]][] = [
  ['X-Session-ID', (session) => ({ headers: { 'x-session-id': uuid(session) } })],
  ['X-Conversation-ID', (session) => ({ headers: { 'x-conversation-id': uuid(session) } })],
  ['prompt_cache_key', (session) => ({ fields: { prompt_cache_key: `s-${session}` } })],
]

/** Percent of the prompts' tokens that were read from a cache, by the usage that the gateway recorded. */
async function cached({ gateway }: Setup): Promise<number> {
  let [read, all] = [0, 0]
  for (let after: string | undefined; ;) {
    const page = await gateway.ledger.records('01900000-0000-7000-8000-000000000001', { ...(after && { after }) })
    for (const { units, prompt_tokens } of page.items) {
      read += units.cache_read ?? 0
      all += prompt_tokens
    }
    if (!page.next) return Math.round((read / all) * 100)
    after = page.next
  }
}

describe('the cached tokens of 251 conversations of 8 turns, on four deployments', () => {
  it('are 41 % where all requests take turns', async () => {
    const at = await setUp(false)
    await converse(at, names[0]![1])
    expect([await cached(at), at.calls()]).toEqual([41, [803, 602, 402, 201]])
  })

  it.each(names)(
    'are 82 %, as with one deployment, where a session stays at its own, by %s',
    async (_, name) => {
      const at = await setUp(true)
      await converse(at, name)
      expect(await cached(at)).toBe(82)
      for (const [i, calls] of at.calls().entries())
        expect(Math.abs(calls / (SESSIONS * TURNS) - WEIGHTS[i]! / 10), `deployment ${i}`).toBeLessThan(0.05)
    },
    180_000,
  )
})

describe('a session', () => {
  it('moves while its deployment rests, to the same one for all its requests, and returns', async () => {
    const at = await setUp(true)
    const ask = async (): Promise<number> => {
      const before = at.calls()
      const headers = { 'x-session-id': uuid(7) }
      expect((await at.chat({ messages: conversation(7, 3) }, { headers })).status).toBe(200)
      return at.calls().findLastIndex((calls, i) => calls > before[i]! && !at.limited.has(i))
    }
    const home = await ask()
    expect([await ask(), await ask()]).toEqual([home, home])
    at.limited.add(home)
    const away = await ask()
    expect(away).not.toBe(home)
    at.limited.delete(home)
    expect([await ask(), await ask()]).toEqual([away, away])
    at.clock.now += 60_000
    expect([await ask(), await ask()]).toEqual([home, home])
  })

  it('is all of a key that names none', async () => {
    const at = await setUp(true)
    for (let i = 0; i < 4; i++) await at.chat()
    expect(at.calls().toSorted()).toEqual([0, 0, 0, 4])
  })

  it('threat 67: does not make a deployment do more than its limits, whatever names a caller chooses', async () => {
    const fakes = [fakeOpenAI(), fakeOpenAI()]
    const providers = fakes.map(({ transport }, i) => ({
      provider: openai({ apiKey: `key-${i}`, transport }),
      requestsPerMinute: 5,
    }))
    const router = createRouter({ providers, sticky: true, now: () => Date.UTC(2026, 0, 2) })
    const { chat } = await testGateway({ router })
    const statuses: number[] = []
    for (let i = 0; i < 12; i++) statuses.push((await chat({ prompt_cache_key: 'x'.repeat(1_000_000) })).status)
    expect(statuses).toEqual([...Array<number>(10).fill(200), 429, 429])
    expect(fakes.map(({ requests }) => requests.length)).toEqual([5, 5])
  })
})
