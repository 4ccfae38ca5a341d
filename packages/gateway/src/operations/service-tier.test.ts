import { anthropic, createRouter } from '@turnpike/providers'
import { fakeAnthropic } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, chunk, COST, completion, streamed, testGateway } from '../../../../test/support/gateway.js'

describe('a service tier', () => {
  // 9 tokens of the prompt and 3 of the completion; gpt-4o: $2.50 and $10, gpt-5: $1.25 and $10 a million.
  it.each<[string, string, unknown, unknown, number, string?]>([
    ['gpt-4o', 'the standard one', undefined, 'default', COST],
    ['gpt-4o', 'its own price', 'priority', 'priority', 9 * 4_250 + 3 * 17_000, 'priority'],
    ['gpt-4o', 'its own price, by its newer name', 'fast', 'priority', 9 * 4_250 + 3 * 17_000, 'priority'],
    ['gpt-5', 'its own price', 'flex', 'flex', 9 * 625 + 3 * 5_000, 'flex'],
    ['gpt-5', 'the price of what served it', 'priority', 'default', 9 * 1_250 + 3 * 10_000],
    ['gpt-5', 'the price of what served it', undefined, 'priority', 9 * 2_500 + 3 * 20_000, 'priority'],
    ['gpt-5', 'what was asked for, where nothing is told', 'priority', undefined, 9 * 2_500 + 3 * 20_000, 'priority'],
    ['gpt-5', 'what was asked for, where nothing is told', 'priority', 'auto', 9 * 2_500 + 3 * 20_000, 'priority'],
    ['gpt-5', 'a discount only where it is told', 'flex', undefined, 9 * 1_250 + 3 * 10_000],
    ['gpt-4o', 'the standard price, without one of its own', 'flex', 'flex', COST, 'flex'],
    ['gpt-4o', 'the standard price, without one of its own', 'scale', 'scale', COST, 'scale'],
    ['gpt-4o', 'the standard price, whatever it is called', undefined, 'x'.repeat(99), COST, 'x'.repeat(40)],
  ])('costs with %s %s: %s asked for, %s told', async (model, _, service_tier, told, cost_nano_usd, recorded) => {
    for (const stream of [false, true]) {
      const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
      const { chat, records, sent } = await testGateway({
        upstream: () =>
          stream
            ? streamed(chunk('Hello', 'stop', { service_tier: told }), { choices: [], usage }, '[DONE]')
            : completion({ service_tier: told }),
      })
      await (await chat({ model, stream, service_tier })).text()
      expect(sent()?.['service_tier']).toEqual(service_tier)
      const [record] = await records()
      expect(record).toMatchObject({ cost_nano_usd })
      expect(record!.service_tier).toBe(recorded)
    }
  })

  it('may be told in the last chunk only', async () => {
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 }
    const { chat, records } = await testGateway({
      upstream: () => streamed(chunk('Hello', 'stop'), { choices: [], usage, service_tier: 'priority' }, '[DONE]'),
    })
    await (await chat({ stream: true })).text()
    expect(await records()).toMatchObject([{ cost_nano_usd: 9 * 4_250 + 3 * 17_000, service_tier: 'priority' }])
  })

  it('counts where a client leaves before the answer', async () => {
    const client = new AbortController()
    const { chat, records } = await testGateway({
      upstream: () => {
        setTimeout(() => client.abort())
        return streamed(new Promise(() => undefined))
      },
    })
    await chat({ service_tier: 'priority' }, { signal: client.signal })
    expect(await records()).toMatchObject([
      { outcome: 'client_abort', service_tier: 'priority', cost_nano_usd: 4_250, units: { input: 1 } },
    ])
  })
})

describe("Claude's terms", () => {
  const claude = async (usage: object) => {
    const override = () =>
      answer({
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        content: [{ type: 'text', text: 'Hello' }],
        stop_reason: 'end_turn',
        usage: { input_tokens: 9, output_tokens: 3, ...usage },
      })
    const { transport } = fakeAnthropic({ override })
    const router = createRouter({ providers: [anthropic({ apiKey: 'k', transport })] })
    const { chat, records } = await testGateway({ router })
    const response = await chat({ model: 'claude-opus-4-8' })
    const { usage: told } = (await response.json()) as { usage: object }
    return { record: (await records())[0]!, told }
  }

  // $5 and $25 a million.
  it.each<[object, number, string | undefined]>([
    [{}, 120_000, undefined],
    [{ service_tier: 'standard', inference_geo: 'global', speed: 'standard' }, 120_000, undefined],
    [{ service_tier: 'standard', inference_geo: 'not_available' }, 120_000, undefined],
    [{ inference_geo: 'us' }, 132_000, 'us'],
    [{ service_tier: 'priority' }, 120_000, 'priority'],
    [{ service_tier: 'priority', inference_geo: 'us' }, 132_000, 'priority+us'],
    [{ speed: 'fast' }, 240_000, 'fast'],
    [{ inference_geo: 'us', speed: 'fast' }, 264_000, 'us+fast'],
  ])('are charged where they have a price, and told to the client: %j', async (terms, cost_nano_usd, tier) => {
    const { record, told } = await claude(terms)
    expect([record.cost_nano_usd, record.service_tier]).toEqual([cost_nano_usd, tier])
    expect(tier === undefined ? {} : terms).toEqual(
      Object.fromEntries(Object.entries(told).filter(([name]) => name in terms)),
    )
  })
})
