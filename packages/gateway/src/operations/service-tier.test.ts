import { describe, expect, it } from 'vitest'
import { chunk, completion, streamed, testGateway } from '../../../../test/support/gateway.js'

describe('a service tier', () => {
  it.each([
    ['default', { cost_nano_usd: 52_500 }],
    ['priority', { cost_nano_usd: null, service_tier: 'priority', rates: {} }],
    ['flex', { cost_nano_usd: null, service_tier: 'flex', rates: {} }],
  ])('is charged at its own price, or unpriced: %s', async (tier, expected) => {
    const { chat, records, sent } = await testGateway({ upstream: () => completion({ service_tier: tier }) })
    await chat({ service_tier: tier })
    expect(sent()).toMatchObject({ service_tier: tier })
    expect(await records()).toMatchObject([expected])
  })

  it('is reported in a stream as well', async () => {
    const { chat, records } = await testGateway({
      upstream: () => streamed(chunk('Hello', null, { service_tier: 'priority' }), chunk('', 'stop'), '[DONE]'),
    })
    await (await chat({ stream: true, service_tier: 'priority' })).text()
    expect(await records()).toMatchObject([{ cost_nano_usd: null, service_tier: 'priority' }])
  })
})
