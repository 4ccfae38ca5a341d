import { ApiError } from '@turnpike/core'
import { localExchange } from '@turnpike/http'
import { anthropic, createRouter, openai } from '@turnpike/providers'
import { fakeAnthropic, fakeOpenAI } from '@turnpike/providers/testing'
import { describe, expect, it, vi } from 'vitest'
import { errorOf, OWNER, withKey } from '../../../../test/support/gateway.js'
import { ending, guardedBy, hide } from '../../../../test/support/guards.js'
import { joinText, parseStream } from '../../../../test/support/sse.js'
import { createGateway } from '../gateway.js'
import { mapTexts } from './guarded-text.js'
import type { Asked, Guard } from './guards.js'
import { checkGuards, refuse } from './guards.js'

describe('a guard of requests', () => {
  it('sees the request, who asks and the tags, and no key', async () => {
    const seen: Asked[] = []
    const tags = { 'x-session-id': OWNER, 'x-project-id': 'none' }
    const { chat, key, keyId } = await guardedBy([{ name: 'see', request: (asked) => void seen.push({ ...asked }) }])
    const response = await chat({ user: 'u' }, { headers: tags })
    expect(response.status).toBe(200)
    const [{ signal, ...asked }] = seen as [Asked]
    expect(asked).toEqual({
      task: 'chat',
      request: { model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }], user: 'u' },
      request_id: response.headers.get('x-request-id'),
      user_id: OWNER,
      end_user: 'u',
      key_id: keyId,
      session_id: OWNER,
      conversation_id: '',
      task_id: '',
      project_id: '',
    })
    expect(signal.aborted).toBe(false)
    expect(JSON.stringify(asked)).not.toContain(key)
  })

  it.each([
    ['content_filter', 400, 'invalid_request_error'],
    ['forbidden', 403, 'permission_error'],
  ] as const)('refuses by %s, before any upstream, for nothing', async (code, status, type) => {
    const { chat, upstream, records, logs, errors } = await guardedBy([
      {
        name: 'no',
        request: () => {
          throw refuse('Against the rules', code)
        },
      },
    ])
    for (const fields of [{}, { stream: true }]) {
      const response = await chat(fields)
      expect([response.status, await errorOf(response)]).toEqual([status, { type, code, message: 'Against the rules' }])
    }
    expect([upstream.requests, await records(), errors]).toEqual([[], [], []])
    expect(logs[0]).toMatchObject({ guard: 'no', error_code: code })
  })

  it('keeps the status of another ApiError; anything else is a 500 that tells nothing, before any upstream', async () => {
    const late = new ApiError(503, 'server_error', 'Later', { code: 'overloaded', retryAfter: 7 })
    const bug = new Error('postgres://user:pass@host')
    for (const [error, status] of [
      [late, 503],
      [bug, 500],
    ] as const) {
      const { chat, upstream, errors } = await guardedBy([
        {
          name: 'no',
          request: async () => {
            throw error
          },
        },
      ])
      const response = await chat()
      expect([response.status, response.headers.get('retry-after')]).toEqual([status, status === 503 ? '7' : null])
      expect(await response.text()).not.toContain('postgres')
      expect(upstream.requests).toEqual([])
      if (error === bug) expect(errors[0]).toMatchObject({ cause: { message: 'The guard no failed', cause: bug } })
    }
  })

  it('changes the request: it is what is held, priced and sent, whether it is returned or changed in place', async () => {
    const long = 'word '.repeat(4_000)
    const lengthen: Guard[] = [
      {
        name: 'return',
        request: ({ task, request }) =>
          task === 'chat' ? { request: { ...request, messages: [{ role: 'user', content: long }] } } : undefined,
      },
      {
        name: 'place',
        request: (asked) =>
          void (asked.task === 'chat' && (asked.request.messages = [{ role: 'user', content: long }])),
      },
    ]
    for (const guard of lengthen) {
      // 20,000 characters are 5,000 tokens, and cost $0.0125.
      const { ask, upstream } = await withKey({ budget: { usd: 0.01 } }, { guards: [guard] })
      const refused = await ask({ max_tokens: 2 })
      expect([refused.status, upstream.requests]).toEqual([403, []])
      const { chat, sent } = await guardedBy([guard])
      expect((await chat()).status).toBe(200)
      expect(sent()!['messages']).toEqual([{ role: 'user', content: long }])
    }
  })

  it('is held to the form of requests', async () => {
    const spoil = (asked: Asked) => void Object.assign(asked.request, { messages: [{ role: 'user', content: 7 }] })
    const { chat, upstream } = await guardedBy([{ name: 'spoil', request: spoil }])
    const response = await chat()
    expect(response.status).toBe(400)
    expect(((await errorOf(response)) as { message: string }).message).toMatch(
      /^messages\.0\.content .*\(as the guard spoil left it\)$/,
    )
    expect(upstream.requests).toEqual([])
  })

  it('does not lift the limits of a key', async () => {
    const dear = ({ request }: Asked) =>
      void Object.assign(request, { model: 'gpt-4o', base_url: 'https://evil.example' })
    const { ask, upstream } = await withKey({ models: ['gpt-4o-mini'] }, { guards: [{ name: 'dear', request: dear }] })
    expect((await ask({ model: 'gpt-4o-mini' })).status).toBe(403)
    const open = await withKey({ budget: { usd: 1 } }, { guards: [{ name: 'dear', request: dear }] })
    const response = await open.ask({ max_tokens: 5 })
    expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([200, 'dropped=base_url'])
    expect(upstream.requests).toEqual([])
  })

  it('stands before those behind it, and is asked before the last word', async () => {
    const order: string[] = []
    const made = (name: string): Guard => ({
      name,
      request: async () => void order.push(`${name} request`),
      text: (text) => (order.push(`${name} ${text}`), `${text}${name}`),
      answer: ({ task, answer }) =>
        void order.push(`${name} answer ${task === 'chat' ? answer.choices[0]!.message.content : ''}`),
    })
    const { chat } = await guardedBy([made('a'), made('b')])
    const { choices } = (await (await chat()).json()) as { choices: { message: { content: string } }[] }
    expect(choices[0]!.message.content).toBe('Helloba')
    expect(order).toEqual(['a request', 'b request', 'b Hello', 'b answer Hellob', 'a Hellob', 'a answer Helloba'])
  })

  it('is given its time, and is stopped when the client leaves', async () => {
    const signals: AbortSignal[] = []
    const slow: Guard = {
      name: 'slow',
      request: ({ signal }) => (signals.push(signal), new Promise<undefined>(() => undefined)),
    }
    const { chat, upstream, errors } = await guardedBy([slow], { guardMs: 20 })
    expect((await chat()).status).toBe(500)
    expect(errors[0]).toMatchObject({ cause: { cause: { message: 'It took longer than 20 ms' } } })
    expect(signals[0]!.aborted).toBe(true)

    const { gateway, key, upstream: other } = await guardedBy([slow])
    const client = new AbortController()
    const reply = gateway.handle(
      localExchange({
        method: 'POST',
        path: '/v1/chat/completions',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] }),
        signal: client.signal,
      }),
    )
    await vi.waitFor(() => expect(signals).toHaveLength(2))
    client.abort()
    await reply
    expect(signals[1]!.aborted).toBe(true)
    expect([upstream.requests, other.requests]).toEqual([[], []])
  })
})

describe('guards', () => {
  it('hold for signed-in users without a key', async () => {
    const seen: Asked[] = []
    const { gateway } = await guardedBy([
      { name: 'see', request: (asked) => void seen.push(asked), text: () => 'changed' },
    ])
    const { handle } = gateway.as({ authenticate: () => ({ userId: OWNER, via: 'custom' }) })
    const body = JSON.stringify({ model: 'gpt-4o', messages: [{ role: 'user', content: 'Hi' }] })
    const reply = await handle(localExchange({ method: 'POST', path: '/v1/chat/completions', body }))
    expect(seen[0]).toMatchObject({ user_id: OWNER, key_id: '' })
    expect(reply!.body).toContain('changed')
  })

  it('hold for answers that are made of several calls', async () => {
    const { transport } = fakeAnthropic()
    const router = createRouter({ providers: [anthropic({ apiKey: 'k', transport })] })
    const { chat } = await guardedBy(
      [{ name: 'cover', text: (text) => text.replaceAll(/[A-Za-z]/g, 'x'), answer: () => undefined }],
      { router },
    )
    const text = await (await chat({ model: 'claude-sonnet-4-5', n: 3, stream: true })).text()
    const events = parseStream(text)
    for (const index of [0, 1, 2]) expect(joinText(events, index)).toMatch(/^[x\W]{10,}$/)
    expect(ending(text)).toMatchObject({ end: 'done', finished: true })
  })

  it('that are wrong are errors at construction', async () => {
    const wrong: [unknown, RegExp][] = [
      [{ text: hide }, /guards\[0\]\.name must be/],
      [{ name: 'a b', text: hide }, /guards\[0\]\.name must be/],
      [{ name: 'a' }, /guards\[0\] needs/],
      [{ name: 'a', text: 'b' }, /guards\[0\]\.text must be a function/],
      [{ name: 'a', text: hide, lookback: 3 }, /guards\[0\]\.lookback is not known/],
      [{ name: 'a', text: hide, lookBack: 0 }, /guards\[0\]\.lookBack must be/],
    ]
    for (const [guard, message] of wrong) expect(() => checkGuards([guard as Guard])).toThrow(message)
    const { transport } = fakeOpenAI()
    const router = createRouter({ providers: [openai({ apiKey: 'k', transport })] })
    expect(() => createGateway({ router, kv: undefined as never, guards: [{} as Guard] })).toThrow(TypeError)
  })
})

it('mapTexts redacts prompts', async () => {
  const redact: Guard = {
    name: 'redact',
    request: ({ task, request }) =>
      task === 'chat' ? { request: { ...request, messages: mapTexts(request.messages, hide) } } : undefined,
  }
  const { chat, sent } = await guardedBy([redact])
  await chat({ messages: [{ role: 'user', content: [{ type: 'text', text: 'my secret' }] }] })
  expect(sent()!['messages']).toEqual([{ role: 'user', content: [{ type: 'text', text: 'my ******' }] }])
})
