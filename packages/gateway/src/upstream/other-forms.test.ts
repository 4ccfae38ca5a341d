import type { ChatCompletionRequest, Note } from '@turnpike/core'
import { anthropic, createRouter, google, openai } from '@turnpike/providers'
import { fakeAnthropic, fakeGoogle, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it } from 'vitest'
import { errorOf, testGateway } from '../../../../test/support/gateway.js'
import { normalise } from '../operations/chat.js'

const messages = [{ role: 'user', content: 'Hi' }]

/** What a request becomes without its messages, and the notes. */
function made(fields: object): [object, Note[]] {
  const notes: Note[] = []
  const request = normalise({ model: 'm', messages, ...fields } as ChatCompletionRequest, notes)
  const { model: _, messages: __, ...rest } = JSON.parse(JSON.stringify(request)) as Record<string, unknown>
  return [rest, notes]
}

describe('an effort', () => {
  it.each<[given: object, becomes: object, noted?: string]>([
    [{ reasoning: { effort: 'high' } }, { reasoning_effort: 'high' }],
    [{ reasoning: { effort: 'none', exclude: true } }, { reasoning_effort: 'none', reasoning: { exclude: true } }],
    [{ reasoning: { max_tokens: 2_000 } }, { reasoning_effort: 'low' }, 'reasoning'],
    [{ reasoning: { max_tokens: 20_000, enabled: true } }, { reasoning_effort: 'high' }, 'reasoning'],
    [{ thinking: { type: 'enabled', budget_tokens: 1_024 } }, { reasoning_effort: 'low' }, 'thinking'],
    [{ thinking: { type: 'enabled', budget_tokens: 8_192 } }, { reasoning_effort: 'medium' }, 'thinking'],
    [{ thinking: { budget_tokens: 32_000 } }, { reasoning_effort: 'high' }, 'thinking'],
    [{ thinking: { type: 'enabled', budget_tokens: 0 } }, { reasoning_effort: 'none' }, 'thinking'],
  ])('in the form %j is %j', (given, becomes, noted) =>
    expect(made(given)).toEqual([becomes, noted === undefined ? [] : [{ field: noted, action: 'emulated' }]]),
  )

  it.each([
    { thinking: { type: 'disabled' } },
    { thinking: { type: 'enabled' } },
    { reasoning: { exclude: true } },
    { reasoning: 'high' },
    { reasoning: { effort: 5 } },
    { reasoning_effort: 'low', reasoning: { effort: 'high' }, thinking: { budget_tokens: 5 } },
  ])('is not read of %j', (given) => expect(made(given)).toEqual([given, []]))
})

describe('a schema', () => {
  const schema = { type: 'object', properties: { x: { type: 'string' } } }

  it('of json_object is that of json_schema', () => {
    for (const beside of [
      { schema },
      { response_schema: schema },
      { json_schema: schema },
      { json_schema: { schema } },
    ])
      expect(made({ response_format: { type: 'json_object', ...beside } })).toEqual([
        { response_format: { type: 'json_schema', json_schema: { name: 'response', schema } } },
        [],
      ])
    const plain = { response_format: { type: 'json_object' } }
    expect(made(plain)).toEqual([plain, []])
  })

  it.each([
    { type: 'json_schema' },
    { type: 'json_schema', json_schema: 'x' },
    { type: 'json_schema', schema },
    { type: 'json_schema', json_schema: {} },
    { type: 'json_schema', json_schema: schema },
  ])('is missing in %j', async (format) => {
    const { chat, upstream } = await testGateway()
    const response = await chat({ response_format: format })
    expect([response.status, await errorOf(response)]).toMatchObject([400, { code: 'invalid_body' }])
    expect(upstream.requests).toEqual([])
  })
})

describe('an effort and a schema in other forms', () => {
  const closed = {
    type: 'object',
    properties: { x: { type: 'string' } },
    required: ['x'],
    additionalProperties: false,
  }
  it.each<[model: string, sent: object]>([
    [
      'gpt-5.4-mini',
      {
        reasoning_effort: 'high',
        response_format: { type: 'json_schema', json_schema: { name: 'response', schema: closed } },
      },
    ],
    [
      'claude-opus-4-8',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high', format: { type: 'json_schema' } } },
    ],
    [
      'gemini-2.5-flash',
      {
        generationConfig: { thinkingConfig: { thinkingBudget: expect.any(Number) as number }, responseJsonSchema: {} },
      },
    ],
  ])('reach %s', async (model, sent) => {
    const fakes = [fakeOpenAI(), fakeAnthropic(), fakeGoogle()] as const
    const apiKey = 'sk-upstream-secret'
    const providers = [
      openai({ apiKey, transport: fakes[0].transport }),
      anthropic({ apiKey, transport: fakes[1].transport }),
      google({ apiKey, transport: fakes[2].transport }),
    ]
    const { chat } = await testGateway({ router: createRouter({ providers }) })
    const response = await chat({
      model,
      thinking: { type: 'enabled', budget_tokens: 20_000 },
      response_format: { type: 'json_object', schema: closed },
    })
    expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([
      200,
      expect.stringMatching(/emulated=.*thinking/),
    ])
    expect(fakes.flatMap(({ requests }) => requests)[0]!.body).toMatchObject(sent)
  })
})
