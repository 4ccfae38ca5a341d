import type { ChatCompletionRequest, PriceTable, Provider, Router, UsageRecord } from '@turnpike/core'
import { priceTable, UpstreamError } from '@turnpike/core'
import { createRouter, unsupported } from '@turnpike/providers'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { parameters } from '../fuzz/parameters.js'
import { runs } from '../support/scope.js'
import { testGateway } from '../support/gateway.js'
import { costOf, createOracle, statusOf, tally } from './oracle.js'
import type { Place, Row, World } from './world.js'
import { worlds } from './world.js'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date', 'performance'], now: Date.UTC(2026, 0, 2) })
})
afterEach(() => {
  vi.useRealTimers()
})

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/** What happens to every call of a provider. */
interface Witness {
  began(id: string, place: number): void
  ended(id: string, place: number, outcome: Place['outcomes'][number]): void
}

function providerOf({ provider, model, abilities, refusesSeed, outcomes }: Place, index: number, witness: Witness) {
  let calls = 0
  const complete = async ({ user }: ChatCompletionRequest) => {
    const outcome = outcomes[calls++ % outcomes.length]!
    witness.began(user as string, index)
    await new Promise((resolve) => void setTimeout(resolve, outcome.latency))
    witness.ended(user as string, index, outcome)
    if (outcome.failure) throw new UpstreamError('failed', { provider, ...outcome.failure })
    const { prompt: prompt_tokens, completion: completion_tokens } = outcome.usage!
    const message = { role: 'assistant' as const, content: 'Hello', refusal: null }
    return {
      id: 'chatcmpl-1',
      object: 'chat.completion' as const,
      created: 1,
      model,
      choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' as const }],
      usage: { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens },
    }
  }
  return {
    id: provider,
    models: async () => [
      { id: model, object: 'model', created: 1, owned_by: provider, provider, capabilities: ['chat', ...abilities] },
    ],
    chat: {
      oneChoice: false,
      preview({ seed }) {
        if (refusesSeed && seed !== undefined) throw unsupported('no seed')
        return []
      },
      complete,
      stream: () => Promise.reject(new Error('not called')),
    },
  } satisfies Provider
}

async function simulate(world: World): Promise<void> {
  const { places, steps, retries, maxWaitMs } = world
  const oracle = createOracle(world)
  /** What an assertion of the oracle threw within a call, where a router might take it for a failure. */
  const wrong: unknown[] = []
  const guarded = (check: () => void): void => {
    try {
      check()
    } catch (error) {
      wrong.push(error)
    }
  }
  const witness: Witness = {
    began: (id, place) => guarded(() => oracle.began(id, place, Date.now())),
    ended: (id, place, outcome) => guarded(() => oracle.ended(id, place, outcome, Date.now())),
  }

  let prices: Row[]
  let table: PriceTable
  const reprice = (rows: Row[]): void => {
    prices = rows
    const known = places.flatMap(({ provider, model }, i) => (rows[i] ? [[`${provider}/${model}`, rows[i]]] : []))
    table = priceTable(Object.fromEntries(known))
  }
  reprice(world.prices)

  const real = createRouter({
    providers: places.map((place, i) => providerOf(place, i, witness)),
    prices: { table: () => table },
    groups: { any: places.map(({ provider, model }) => `${provider}/${model}`) },
    retries,
    maxWaitMs,
  })
  // Reads the catalogue, so that from here on a choice is made at once.
  await real.candidates({ task: 'chat', request: { model: 'any' }, expected: () => ({}) })

  const versions = new Map<string, string>()
  let step = steps[0]!
  const router: Router = {
    ...real,
    candidates(need) {
      const { user: id } = need.request as unknown as { user: string }
      oracle.admit(id, step, prices, Date.now())
      versions.set(id, table.version)
      return real.candidates(need)
    },
  }
  const { chat, records } = await testGateway({ router, now: () => Date.now(), rateLimit: 100_000 })

  /** The expected usage record of each successful request, by request id. */
  const expected = new Map<string, Partial<UsageRecord>>()
  const frozen = new Map<string, string>()

  for (const [at, next] of steps.entries()) {
    step = next
    await vi.advanceTimersByTimeAsync(step.after)
    if (step.before) reprice(step.before)
    const ids = Array.from({ length: step.count }, (_, i) => `${at}.${i}`)
    const running = new Set(ids)
    const responses = ids.map((user) =>
      chat({ model: 'any', provider: step.provider, user, ...step.fields }).finally(() => running.delete(user)),
    )
    while (running.size > 0 && !ids.every((id) => versions.has(id))) await turn()
    if (step.during) reprice(step.during)
    while (running.size > 0) {
      await turn()
      await vi.advanceTimersByTimeAsync(20)
    }

    for (const [i, id] of ids.entries()) {
      const response = await responses[i]!
      const { served, failure, over, calls, able, prices: inForce } = oracle.requests.get(id)!
      if (wrong.length > 0) throw wrong[0]
      expect(over, 'all were asked who could be').toBe(true)
      if (able === 0) expect([response.status, calls]).toEqual([400, 0])
      else expect(response.status).toBe(served ? 200 : statusOf(failure!))
      if (!served) continue
      const { provider, model } = places[served.place]!
      const { prompt: prompt_tokens, completion: completion_tokens } = served.usage
      const price = inForce[served.place]
      expected.set(response.headers.get('x-request-id')!, {
        provider,
        model,
        attempts: calls,
        prompt_tokens,
        completion_tokens,
        catalogue: versions.get(id)!,
        cost_nano_usd: price ? costOf(price, prompt_tokens, completion_tokens) : null,
        outcome: 'complete',
      })
    }

    const all = await records()
    expect(all).toHaveLength(expected.size)
    for (const record of all) {
      expect(record).toMatchObject(expected.get(record.request_id)!)
      const text = JSON.stringify(record)
      expect(frozen.get(record.request_id) ?? text).toBe(text)
      frozen.set(record.request_id, text)
    }
    expect(real.health().map(({ failures, next_try }) => [failures, next_try])).toEqual(
      oracle.breakers.map(({ inARow, restsUntil }) => [
        inARow,
        restsUntil === undefined ? null : new Date(restsUntil).toISOString(),
      ]),
    )
  }
}

const numRuns = runs(60, 1_000)

it(
  'uses the cheapest healthy candidate, does not fail over after an acceptance, and records each answer once at the price of its admission',
  { timeout: 60_000 + numRuns * 100 },
  async () => {
    await fc.assert(fc.asyncProperty(worlds, simulate), { ...parameters, numRuns })
    for (const [what, times] of Object.entries(tally)) expect(times, what).toBeGreaterThan(numRuns / 50)
  },
)
