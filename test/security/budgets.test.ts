import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FakeRequest } from '@turnpike/providers/testing'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { audio, paths, replied, requestOf } from '../endpoints/endpoints.js'
import { runtime } from '../support/runtime.js'
import { claude, events, head, openai, usage } from './large-answers.js'
import { limitedKeys } from './limited-keys.js'

let folder: string
let stack: FamiliesStack
let callers: ReturnType<typeof limitedKeys>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'turnpike-prices-'))
  const PRICES = join(folder, 'prices.json')
  await writeFile(PRICES, JSON.stringify({ 'openai/gpt-5-search-api': { input: 1.25, output: 10 } }))
  stack = await startFamilies({ MODEL_GROUPS: 'any=gpt-5,gpt-without-a-price', PRICES })
  callers = limitedKeys(stack)
})
afterAll(async () => {
  await stack.stop()
  await rm(folder, { recursive: true })
})
beforeEach(() => {
  stack.fault = undefined
})

const asked = () => Object.values(stack.upstreams).reduce((sum, { requests }) => sum + requests.length, 0)

/** A key that a request of the tests fits into, but not a second one after 20,000 tokens. */
const cent = () => callers.create({ budget: { usd: 0.01 } })

/** Four requests, one after the other. @returns the status of each, and the code of the last one */
async function four(fields: object): Promise<(number | string | undefined)[]> {
  const key = await cent()
  const answers = []
  for (let i = 0; i < 4; i++) answers.push(await callers.chat({ max_tokens: 16, ...fields }, key))
  return [...answers.map(({ status }) => status), /budget_exceeded/.exec(answers.at(-1)!.text)?.[0]]
}
const once = [200, 403, 403, 403, 'budget_exceeded']

describe(`threat 33: money that is spent unseen, on ${runtime}`, () => {
  const told = ['default', 'priority', 'flex', 'scale', 'ultrafast', 'made up', 'priority ', null, 7]

  it.each(told.flatMap((tier) => [false, true].map((stream): [unknown, boolean] => [tier, stream])))(
    'an answer of the tier %j is charged, stream %s',
    async (service_tier, stream) => {
      for (const late of stream ? [false, true] : [false]) {
        stack.fault = openai({ service_tier }, late)
        expect(await four({ model: 'gpt-5', stream })).toEqual(once)
      }
    },
  )

  it('a second tier behind a + is no discount, from an upstream that knows neither', async () => {
    // At the standard price, 20,000 tokens of gpt-5 cost more than at that of flex.
    const cost = async (service_tier?: string) => {
      stack.fault = openai({})
      const explained = await callers.post(
        paths.chat,
        { ...(requestOf('chat') as object), model: 'gpt-5', service_tier },
        undefined,
        { 'x-gateway-explain': 'true' },
      )
      return explained.headers.get('x-gateway-cost')
    }
    const standard = await cost()
    expect(Number(standard)).toBeGreaterThan(0)
    for (const tier of ['x+flex', 'flex+flex', '+batch', 'flex'])
      expect([tier, await cost(tier)]).toEqual([tier, standard])
  })

  it.each(['priority', 'fast', 'flex', 'default', 'auto'])('so is one that was asked for: %s', async (service_tier) => {
    for (const stream of [false, true])
      for (const answer of [{}, { service_tier: 'default' }, { service_tier }]) {
        stack.fault = openai(answer)
        expect(await four({ model: 'gpt-5', stream, service_tier })).toEqual(once)
      }
  })

  it.each([
    { service_tier: 'priority' },
    { service_tier: 'batch' },
    { inference_geo: 'us' },
    { speed: 'fast' },
    { service_tier: 'priority', inference_geo: 'us', speed: 'fast' },
  ])('so is what Claude tells of an answer: %j', async (fields) => {
    for (const stream of [false, true])
      for (const n of [1, 2]) {
        stack.fault = claude(fields)
        expect(await four({ model: 'claude-sonnet-4-6', stream, n, service_tier: 'auto' })).toEqual(once)
      }
  })

  it.each([
    ['gpt-5-nano', 'priority'],
    ['gpt-5-nano', 'fast'],
    ['gpt-5', 'scale'],
    ['gpt-5', 'ultrafast'],
    ['gpt-5', 'PRIORITY'],
    ['gpt-5', 'priority '],
    ['gpt-5', 'flex+priority'],
    ['gpt-5', 'constructor'],
  ])('%s is refused for a tier whose price is not known: %s', async (model, service_tier) => {
    const before = asked()
    const key = await callers.create({ budget: { usd: 1_000 } })
    const { status, text } = await callers.chat({ model, service_tier }, key)
    expect([status, asked() - before]).toEqual([403, 0])
    expect(text).toContain('The price of this service tier is not known')
    stack.fault = openai({})
    expect((await callers.chat({ model, service_tier })).status).toBe(200)
    expect(stack.upstreams.openai.requests.at(-1)!.body).toMatchObject({ service_tier })
  })

  it('a tier that the family does not have is as if it was not asked for', async () => {
    const key = await callers.create({ budget: { usd: 1_000 } })
    for (const [model, action] of [
      ['claude-sonnet-4-6', 'clamped'],
      ['gemini-2.5-flash', 'dropped'],
    ]) {
      const { status, headers } = await callers.chat({ model, service_tier: 'priority' }, key)
      expect([status, headers.get('x-gateway-warnings')]).toEqual([200, `${action}=service_tier`])
    }
  })

  it.each([[['priority']], [{ name: 'priority' }], [1], [true]])('a tier is a text: %j', async (service_tier) => {
    const before = asked()
    expect([(await callers.chat({ model: 'gpt-5', service_tier })).status, asked() - before]).toEqual([400, 0])
  })

  it('what is reserved before the call is the price of the tier, and that of the standard one for a cheaper tier', async () => {
    stack.fault = openai({}, false, { ...usage, completion_tokens: 0 })
    // At $10 a million, 900 tokens are 0.9 cents; with priority they are 1.8 cents, and 1,100 tokens with flex are 0.55 cents.
    const status = async (max_tokens: number, service_tier?: string) =>
      (await callers.chat({ model: 'gpt-5', max_tokens, service_tier }, await cent())).status
    expect([await status(900), await status(900, 'flex'), await status(900, 'priority')]).toEqual([200, 200, 403])
    expect([await status(1_100), await status(1_100, 'flex')]).toEqual([403, 403])
    const both = { model: 'gpt-5', max_completion_tokens: 1, max_tokens: 2_000 }
    expect((await callers.chat(both, await cent())).status).toBe(403)
    const prediction = { type: 'content', content: 'word '.repeat(1_000) }
    expect((await callers.chat({ model: 'gpt-5', max_tokens: 16, prediction }, await cent())).status).toBe(403)
  })

  it('what is reserved covers pictures, documents and recordings as well', async () => {
    const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0=' } }
    const file = (bytes: number) => ({
      type: 'file',
      file: { filename: 'a.pdf', file_data: `data:application/pdf;base64,${'A'.repeat((bytes / 3) * 4)}` },
    })
    const sound = (bytes: number) => ({
      type: 'input_audio',
      input_audio: { format: 'wav', data: 'A'.repeat((bytes / 3) * 4) },
    })
    const status = async (model: string, ...content: object[]) =>
      (await callers.chat({ model, max_tokens: 16, messages: [{ role: 'user', content }] }, await cent())).status
    stack.fault = ({ path }) => (path.includes('chat') ? openai({})({ body: {} } as FakeRequest) : undefined)
    expect([await status('gpt-5', image), await status('gpt-5', ...Array.from({ length: 6 }, () => image))]).toEqual([
      200, 403,
    ])
    expect([await status('gpt-5', file(300)), await status('gpt-5', file(900_000))]).toEqual([200, 403])
    expect([await status('gemini-2.5-flash', sound(300)), await status('gemini-2.5-flash', sound(6_000_000))]).toEqual([
      200, 403,
    ])
    const draw = async (quality: string) =>
      (
        await callers.post(
          paths.images,
          requestOf('images', { quality }),
          await callers.create({ budget: { usd: 0.1 } }),
        )
      ).status
    expect([await draw('standard'), await draw('hd')]).toEqual([200, 403])
  })

  const recording = { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } }
  it.each<[string, object, unlimited?: number]>([
    ['searching the web', { web_search_options: {} }],
    ['searching the web', { model: 'gpt-5-search-api' }],
    ['audio', { messages: [{ role: 'user', content: [recording] }] }, 400],
    ['audio', { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'wav' } }],
    ['audio', { audio: { voice: 'alloy', format: 'wav' } }],
    [
      'audio',
      {
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', audio: { id: 'a' } },
        ],
      },
    ],
    ['images', { modalities: ['IMAGE'] }],
  ])('%s is refused where it has no price of its own: %j', async (what, fields, unlimited = 200) => {
    const before = asked()
    const key = await callers.create({ budget: { usd: 1_000 } })
    const { status, text } = await callers.chat({ model: 'gpt-5', ...fields }, key)
    expect([status, asked() - before]).toEqual([403, 0])
    expect(text).toContain(`The price of ${what}`)
    stack.fault = openai({})
    expect((await callers.chat({ model: 'gpt-5', ...fields })).status).toBe(unlimited)
    // A limit on models is none on money.
    const other = await callers.create({ models: ['gpt-5', 'gpt-5-search-api'] })
    expect((await callers.chat({ model: 'gpt-5', ...fields }, other)).status).toBe(unlimited)
  })

  it('and is charged where it has one', async () => {
    const key = await callers.create({ budget: { usd: 1_000 } })
    for (const model of ['gemini-2.5-flash', 'gemini-2.5-pro'])
      expect((await callers.chat({ model, messages: [{ role: 'user', content: [recording] }] }, key)).status).toBe(200)
  })

  it.each([undefined, null, {}, { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }, { prompt_tokens: -1e9 }])(
    'an answer whose usage is %j is charged by its length',
    async (used) => {
      for (const stream of [false, true]) {
        const content = 'word '.repeat(20_000)
        stack.fault = ({ body }) => {
          const choice = { index: 0, finish_reason: 'stop' }
          const message = { role: 'assistant', content }
          return (body as { stream?: boolean }).stream
            ? events({ ...head, choices: [{ ...choice, delta: message }] }, { ...head, choices: [], usage: used })
            : replied(200, { ...head, choices: [{ ...choice, message }], usage: used })
        }
        expect(await four({ model: 'gpt-5', stream })).toEqual(once)
      }
    },
  )

  it('a group goes on to members with a price only', async () => {
    const status = async (key?: string) => {
      const before = asked()
      stack.fault = ({ body }) =>
        (body as { model: string }).model === 'gpt-5'
          ? replied(503, { error: {} })
          : openai({})({ body } as FakeRequest)
      const answered = await callers.chat({ model: 'any' }, key)
      return [answered.status, asked() - before]
    }
    expect(await status(await callers.create({ budget: { usd: 1_000 } }))).toEqual([502, 1])
    expect(await status()).toEqual([200, 2])
  })

  it('a recording is charged by its length where that has the price, also where the upstream reports tokens', async () => {
    const tokens = { type: 'tokens', input_tokens: 5, output_tokens: 5, total_tokens: 10 }
    stack.fault = () => replied(200, { text: 'Hello', duration: 3_600, usage: tokens })
    const hour = { file: audio('talk.mp3', 'a'.repeat(225_000)) }
    const key = await callers.create({ budget: { usd: 0.01 } })
    const transcribe = async () =>
      (await callers.post(paths.transcription, requestOf('transcription', hour), key)).status
    expect([await transcribe(), await transcribe()]).toEqual([200, 403])
  })
})
