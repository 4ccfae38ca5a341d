import type { UnitClass } from '@turnpike/core'
import { createUser, memoryKV, priceTable, UserUsage, verifyStore } from '@turnpike/core'
import { createGateway, tokenAdmin } from '@turnpike/gateway'
import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import { answer, chunk, streamed } from '../support/gateway.js'

/** Numbers that are the same in each run. */
function random(seed: number) {
  let state = seed
  return (most: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31
    return state % most
  }
}

/** What the vendors bill: by `provider/model class`, how many. Each writes it down when it answers, in its own terms. */
type Invoice = Map<string, number>

const charge = (invoice: Invoice, model: string, units: Partial<Record<UnitClass, number>>): void => {
  for (const [name, count] of Object.entries(units))
    if (count > 0) invoice.set(`${model} ${name}`, (invoice.get(`${model} ${name}`) ?? 0) + count)
}

/** Rates in thousandths of a dollar for a million units, which is as many nano-dollars for a unit. */
const prices: Record<string, Partial<Record<UnitClass, bigint>>> = {
  'openai/gpt-4o': { input: 2_500n, cache_read: 1_250n, output: 10_000n, reasoning: 10_000n },
  'anthropic/claude-sonnet-4-5': { input: 3_000n, cache_read: 300n, cache_write: 3_750n, output: 15_000n },
  'google/gemini-2.5-flash': { input: 300n, cache_read: 30n, output: 2_500n, reasoning: 2_500n },
}
const table = (factor: number) =>
  priceTable(
    Object.fromEntries(
      Object.entries(prices).map(([model, rates]) => [
        model,
        Object.fromEntries(Object.entries(rates).map(([name, rate]) => [name, (Number(rate) * factor) / 1000])),
      ]),
    ),
  )

it('invoices: the amounts that users owe and that providers bill are sums over the same records', async () => {
  const next = random(20_260_101)
  const invoice: Invoice = new Map()

  const openaiUpstream = fakeOpenAI({
    override({ body }) {
      const { stream } = body as { stream?: boolean }
      const [cached, fresh, reasoning, text] = [next(500), next(2_000) + 1, next(300), next(700) + 1]
      charge(invoice, 'openai/gpt-4o', { input: fresh, cache_read: cached, output: text, reasoning })
      const usage = {
        prompt_tokens: cached + fresh,
        completion_tokens: reasoning + text,
        total_tokens: cached + fresh + reasoning + text,
        prompt_tokens_details: { cached_tokens: cached },
        completion_tokens_details: { reasoning_tokens: reasoning },
      }
      if (stream) return streamed(chunk('Hello'), chunk('', 'stop'), { ...chunk(''), choices: [], usage }, '[DONE]')
      const choices = [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }]
      return answer({ id: 'c', object: 'chat.completion', created: 1, model: 'gpt-4o', choices, usage })
    },
  })
  const anthropicUpstream = fakeAnthropic({
    override() {
      const [cached, written, fresh, text] = [next(500), next(90), next(2_000) + 1, next(700) + 1]
      charge(invoice, 'anthropic/claude-sonnet-4-5', {
        input: fresh,
        cache_read: cached,
        cache_write: written,
        output: text,
      })
      return answer({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude-sonnet-4-5',
        content: [{ type: 'text', text: 'Hello' }],
        stop_reason: 'end_turn',
        stop_sequence: null,
        usage: {
          input_tokens: fresh,
          cache_read_input_tokens: cached,
          cache_creation_input_tokens: written,
          output_tokens: text,
        },
      })
    },
  })
  const googleUpstream = fakeGoogle({
    override() {
      const [cached, fresh, thoughts, text] = [next(500), next(2_000) + 1, next(300), next(700) + 1]
      charge(invoice, 'google/gemini-2.5-flash', {
        input: fresh,
        cache_read: cached,
        output: text,
        reasoning: thoughts,
      })
      return answer({
        candidates: [{ content: { role: 'model', parts: [{ text: 'Hello' }] }, finishReason: 'STOP', index: 0 }],
        usageMetadata: {
          promptTokenCount: cached + fresh,
          cachedContentTokenCount: cached,
          candidatesTokenCount: text,
          thoughtsTokenCount: thoughts,
          totalTokenCount: cached + fresh + text + thoughts,
        },
      })
    },
  })

  let priced = table(1)
  const kv = await memoryKV()
  const clock = { now: Date.UTC(2026, 0, 1) }
  const gateway = createGateway({
    kv,
    now: () => clock.now,
    authenticateAdmin: tokenAdmin('the-accountant'),
    router: createRouter({
      prices: { table: () => priced },
      providers: [
        openai({ apiKey: 'sk', transport: openaiUpstream.transport }),
        anthropic({ apiKey: 'sk', transport: anthropicUpstream.transport }),
        google({ apiKey: 'sk', transport: googleUpstream.transport }),
      ],
    }),
  })
  const users = ['ada', 'bob', 'cyd']
  const keys: string[] = []
  for (const id of users) {
    await createUser(kv, { id })
    keys.push((await gateway.keys.create(id, { name: id, rateLimit: 1e6 })).key)
  }

  const models = ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-flash']
  for (let i = 0; i < 300; i++) {
    clock.now += 60_000
    // The prices fall in the middle of the month.
    if (i === 150) priced = table(0.5)
    const model = models[next(3)]!
    const response = await gateway.fetch(
      new Request('https://gw.example/v1/chat/completions', {
        method: 'POST',
        headers: { authorization: `Bearer ${keys[next(3)]!}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          model,
          stream: model === 'gpt-4o' && next(2) === 1,
          messages: [{ role: 'user', content: 'Hi' }],
        }),
      }),
    )
    expect(response.status).toBe(200)
    await response.text()
  }

  // What the accountant does: reads the records of all users, and adds them up by vendor and by user.
  const lines: Invoice = new Map()
  let owed = 0n
  let records = 0
  for (const user of users) {
    const response = await gateway.fetch(
      new Request(`https://gw.example/v1/users/${user}/usage`, { headers: { authorization: 'Bearer the-accountant' } }),
    )
    const usage = v.parse(UserUsage, await response.json())
    let due = 0n
    for (const { provider, model, units, rates, cost_usd, priced: known, accuracy, timestamp } of usage.records) {
      records++
      expect([known, accuracy]).toEqual([true, 'reported'])
      charge(lines, `${provider}/${model}`, units)
      const half = Date.parse(timestamp) > Date.UTC(2026, 0, 1) + 150 * 60_000
      let nano = 0n
      for (const [name, count] of Object.entries(units) as [UnitClass, number][]) {
        const rate = prices[`${provider}/${model}`]![name]! / (half ? 2n : 1n)
        expect(rates[name]).toBe(Number(rate) / 1000)
        nano += BigInt(count) * rate
      }
      expect(BigInt(Math.round(cost_usd * 1e9))).toBe(nano)
      due += nano
    }
    expect(BigInt(Math.round(usage.total_cost * 1e9))).toBe(due)
    expect((await gateway.ledger.totals('user', user)).cost_nano_usd).toBe(Number(due))
    owed += due
  }
  expect(records).toBe(300)
  expect(new Map([...lines].toSorted())).toEqual(new Map([...invoice].toSorted()))
  expect((await gateway.ledger.totals('all', '')).cost_nano_usd).toBe(Number(owed))
  const byProvider = await Promise.all(
    ['openai', 'anthropic', 'google'].map((id) => gateway.ledger.totals('provider', id)),
  )
  expect(byProvider.reduce((sum, { cost_nano_usd }) => sum + cost_nano_usd, 0)).toBe(Number(owed))
  const problems: string[] = []
  for await (const problem of verifyStore(kv)) problems.push(problem)
  expect(problems).toEqual([])
})
