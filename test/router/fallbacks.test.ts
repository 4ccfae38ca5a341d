import { anthropic, createRouter, google, googleEndpoints, openai } from '@turnpike/providers'
import type { FakeAnswer } from '@turnpike/providers/testing'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { answer, chunk, errorOf, streamed, testGateway } from '../support/gateway.js'

/** As OpenAI and Azure refuse. */
const tooLong = answer(
  {
    error: {
      message: "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
    },
  },
  400,
)
const filtered = answer(
  {
    error: {
      message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
      code: 'content_filter',
      innererror: { code: 'ResponsibleAIPolicyViolation' },
    },
  },
  400,
)

async function setUp(first: () => FakeAnswer | undefined) {
  const upstreams = { openai: fakeOpenAI({ override: first }), google: fakeGoogle(), anthropic: fakeAnthropic() }
  const router = createRouter({
    providers: [
      openai({ apiKey: 'x', transport: upstreams.openai.transport }),
      google({ apiKey: 'x', transport: upstreams.google.transport, endpoints: googleEndpoints() }),
      anthropic({ apiKey: 'x', transport: upstreams.anthropic.transport }),
    ],
    groups: {
      smart: {
        models: ['gpt-4o', 'gpt-4o-mini'],
        contextFallback: 'gemini-2.5-pro',
        contentFallback: 'claude-haiku-4-5',
      },
    },
  })
  const gateway = await testGateway({ router })
  const asked = () => Object.entries(upstreams).flatMap(([id, { requests }]) => requests.map(() => id))
  return { ...gateway, asked }
}

describe.each([false, true])('the fallback of a group, streamed: %s', (stream) => {
  const ask = async ({ chat }: Awaited<ReturnType<typeof setUp>>) => {
    const response = await chat({ model: 'smart', stream }, { headers: { 'x-gateway-explain': 'true' } })
    const text = await response.clone().text()
    const header = (name: string) => response.headers.get(`x-gateway-${name}`)
    return { response, text, told: ['fallback', 'provider', 'attempts'].map(header) }
  }

  it.each([
    ['a prompt that is too long', tooLong, 'length', 'google'],
    ['a content that a filter refused', filtered, 'content', 'anthropic'],
  ] as const)('answers after %s, is told, and is one record', async (_, refusal, reason, provider) => {
    const gateway = await setUp(() => refusal)
    const { response, text, told } = await ask(gateway)
    expect([response.status, told], text).toEqual([200, [reason, provider, '2']])
    if (stream) expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
    expect(gateway.asked()).toEqual(['openai', provider])
    expect(await gateway.records()).toMatchObject([{ provider, attempts: 2, outcome: 'complete' }])
  })

  it('is neither called nor told where a member answers', async () => {
    const gateway = await setUp(() => undefined)
    const { response, told } = await ask(gateway)
    expect([response.status, told]).toEqual([200, [null, 'openai', '1']])
    expect(gateway.asked()).toEqual(['openai'])
  })
})

it('does not call a fallback after the start of a stream', async () => {
  const refusal = (JSON.parse(filtered.body as string) as { error: object }).error
  const gateway = await setUp(() => streamed(chunk('Hel'), `data: ${JSON.stringify({ error: refusal })}\n\n`))
  const text = await (await gateway.chat({ model: 'smart', stream: true })).text()
  expect(text).toContain('"Hel"')
  expect(text).not.toContain('[DONE]')
  expect(gateway.asked()).toEqual(['openai'])
})

it('returns the refusal of a request for one model as it is', async () => {
  const gateway = await setUp(() => filtered)
  const response = await gateway.chat({ model: 'gpt-4o' })
  expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body' }])
  expect(gateway.asked()).toEqual(['openai'])
})
