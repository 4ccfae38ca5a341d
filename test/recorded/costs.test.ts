import type { Price, UnitClass, Units } from '@turnpike/core'
import { fixedPrices, priceTable } from '@turnpike/core'
import { builtInPrices, createRouter } from '@turnpike/providers'
import { describe, expect, it } from 'vitest'
import { testGateway } from '../support/gateway.js'
import { needs, recordedTraffic } from '../support/needs.js'
import { parseStream } from '../support/sse.js'
import type { Bill } from './bills/bill.js'
import { primes } from './bills/bill.js'
import { bills, listed, refilled } from './bills/index.js'
import { answering } from './client.js'
import { familyOf, isStream, modelOf, recordings, shapeOf, textsOf, usageOf, wireOf } from './recordings.js'

/** The request that a recording may have answered. */
function requestOf(name: string, fields: { model: string; provider: string }): [path: string, body: object] {
  if (name.includes('embedding')) return ['/v1/embeddings', { ...fields, input: ['one', 'two'] }]
  if (name.includes('image')) return ['/v1/images/generations', { ...fields, prompt: 'A baby sea otter' }]
  if (name.includes('transcription')) {
    const form = new FormData()
    for (const [field, value] of Object.entries(fields)) form.set(field, value)
    // As many bytes as the recordings last at least.
    form.set('file', new File(['audio'.repeat(1_000)], 'talk.mp3'))
    return ['/v1/audio/transcriptions', form]
  }
  const messages = [{ role: 'user', content: 'Hi' }]
  const streamed = isStream(name) && { stream: true, stream_options: { include_usage: true } }
  return ['/v1/chat/completions', { ...fields, messages, ...streamed }]
}

/** The models of recordings that do not name theirs. */
const unnamed: Record<string, string> = {
  'openai/openai-image.json': 'dall-e-3',
  'openai/openai-transcription.json': 'whisper-1',
}

interface Asked {
  /** Default that of the recording. */
  model?: string
  /** Default the prices that Turnpike comes with. */
  price?: Price
  /** In place of every usage of the recording. */
  usage?: object | undefined
}

/** Replays a recording through a gateway. @returns its usage record, and the cost in nano-dollars that the response reports */
async function replay(name: string, { model = modelOf(name) ?? unnamed[name]!, price, usage }: Asked) {
  const refill = (key: string, value: unknown): unknown => (/^usage(Metadata)?$/.test(key) && value ? usage : value)
  const texts = textsOf(name).map((text) => (usage ? JSON.stringify(JSON.parse(text, refill)) : text))
  const type = isStream(name) ? 'text/event-stream' : 'application/json'
  const provider = familyOf(name).provider(answering([wireOf(name, texts)], type))
  const prices = price ? fixedPrices(priceTable({ [`${provider.id}/${model}`]: price })) : builtInPrices()
  const { send, records } = await testGateway({ router: createRouter({ providers: [provider], prices }) })

  const [path, body] = requestOf(name, { model, provider: provider.id })
  const response = await send('POST', path, body, { headers: { 'x-gateway-explain': 'true' } })
  const text = await response.text()
  expect(response.status, text).toBe(200)
  const last = isStream(name) ? parseStream(text).findLast((event) => event.type === 'chunk') : undefined
  const cost = last ? last.chunk.usage!['cost'] : response.headers.get('x-gateway-cost')
  const all = await records()
  expect(all).toHaveLength(1)
  return { record: all[0]!, cost: Math.round(Number(cost) * 1e9) }
}

const measures: UnitClass[] = ['characters', 'seconds', 'images']
const tokensOf = (units: Units): number =>
  Object.entries(units).reduce((sum, [name, count]) => sum + (measures.includes(name as UnitClass) ? 0 : count), 0)

/** The tokens of a usage in its vendor's own words; Claude's are four counts without a sum. */
function totalOf(usage: Record<string, unknown>): unknown {
  if (usage['type'] === 'duration') return 0
  const { cache_creation_input_tokens = 0, cache_read_input_tokens = 0 } = usage
  const counts = [usage['input_tokens'], cache_creation_input_tokens, cache_read_input_tokens, usage['output_tokens']]
  return usage['total_tokens'] ?? usage['totalTokenCount'] ?? (counts as number[]).reduce((sum, count) => sum + count)
}

/** Expects the usage record of a recording to match its bill, with every token of its usage counted once. */
async function check(name: string, bill: Bill, refilled?: Record<string, unknown>): Promise<void> {
  const { prompt, completion, units, nano, accuracy = 'reported' } = bill
  const { record, cost } = await replay(name, { price: primes, usage: refilled })
  expect(record.units).toEqual(units)
  expect(record).toMatchObject({
    prompt_tokens: prompt,
    completion_tokens: completion,
    rates: primes,
    cost_nano_usd: nano,
    accuracy,
    outcome: 'complete',
  })
  expect(cost).toBe(nano)
  const usage = refilled ?? usageOf(name)
  const total = usage ? totalOf(usage) : prompt + completion
  // What is billed by the second has tokens for credits alone.
  expect([tokensOf(record.units), record.tokens]).toEqual([total, total === 0 ? prompt + completion : total])
}

describe('the cost of recorded traffic', needs(recordedTraffic), () => {
  it('is known for every form of usage', () => {
    const known = new Set(Object.keys(bills).map(shapeOf))
    const unknown = recordings.filter((name) => usageOf(name) && !known.has(shapeOf(name)))
    expect(unknown.map((name) => `${name}: ${shapeOf(name)}`)).toEqual([])
  })

  it.each(Object.entries(bills))('%s is exact', check)

  it.each(refilled.flatMap(({ of, usage, bill }) => of.map((name) => [name, bill, usage] as const)))(
    '%s with every class is exact',
    check,
  )

  it.each(listed)('%s as an answer of %s is at list price', async (name, model, nano) => {
    const { record, cost } = await replay(name, { model })
    expect(record).toMatchObject({ model, cost_nano_usd: nano })
    expect(cost).toBe(nano ?? 0)
  })

  // xAI reports its charge in ticks; ten ticks are a nano-dollar.
  it.each([
    ['openai-compatible/xai-tool-call.json', 63 * 300 + 244 * 75 + (26 + 255) * 500],
    ['openai-compatible/xai-tool-call.chunks.txt', 1 * 300 + 306 * 75 + (26 + 227) * 500],
  ])('%s is what the provider charged', async (name, nano) => {
    const { record } = await replay(name, { price: { input: 0.3, cache_read: 0.075, output: 0.5 } })
    expect(record.cost_nano_usd).toBe(nano)
    expect(usageOf(name)!['cost_in_usd_ticks']).toBe(nano * 10)
  })
})
