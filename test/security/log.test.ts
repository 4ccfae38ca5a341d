import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { runtime } from '../support/runtime.js'
import { escaped } from './escaped.js'

/** What would begin another line, or control the terminal of who reads it. */
const forged = '{"level":30,"msg":"forged"}'
const texts = {
  'a line feed': `x\n${forged}\n`,
  'a carriage return': `x\r${forged}\r\n`,
  'ANSI codes': 'x\u001b[2J\u001b[31mforged\u0007\u0008',
  'C1 controls': 'x\u009b2J\u0085forged\u007f',
  "Unicode's ends of lines": `x\u2028${forged}\u2029`,
  'a NUL': 'x\0forged',
  quotes: 'x","forged":"',
  'a lone surrogate': 'x\ud800forged',
  'text that is hidden or reordered': 'x\u202e\u2066forged\u200b\u{e0041}\u{e007f}',
}

describe(`threat 28: log forging, on ${runtime}`, () => {
  let stack: FamiliesStack
  let admin: string
  beforeAll(async () => {
    stack = await startFamilies({ LOG: 'debug' })
    const { access_token } = (await (
      await send('POST', '/api/auth', {
        email: 'admin@localhost',
        password: 'the password of the tests',
      })
    ).json()) as { access_token: string }
    admin = access_token
  })
  afterAll(() => stack.stop())

  const send = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    fetch(new URL(path, stack.url), {
      method,
      headers: { ...(body !== undefined && { 'content-type': 'application/json' }), ...headers },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })

  it.each(Object.keys(texts) as (keyof typeof texts)[])(
    'keeps each line of the log one of JSON, with %s',
    async (what) => {
      const value = texts[what]
      const path = escaped(value)
      const before = stack.server.output().length
      const key = { authorization: `Bearer ${stack.key}` }
      const asAdmin = { authorization: `Bearer ${admin}` }
      const messages = [{ role: 'user', content: value }]
      let sent = 0
      const ask = async (...request: Parameters<typeof send>): Promise<void> => {
        await (await send(...request)).text()
        sent++
      }
      stack.fault = undefined
      for (const model of [value, `openai/${value}`, `gpt-${value}`, `claude-${value}`, `gemini-${value}`])
        await ask('POST', '/v1/chat/completions', { model, messages, user: value, [value]: value }, key)
      // The upstream's words in an error are logged nowhere either.
      stack.fault = () => ({
        status: 500,
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ error: { message: value, code: value, type: value } }),
      })
      for (const model of ['gpt-4o', 'claude-sonnet-4-5', 'gemini-2.5-flash'])
        await ask('POST', '/v1/chat/completions', { model, messages }, key)
      await ask('POST', '/v1/users', { id: value, name: value, email: value }, key)
      await ask('POST', '/v1/users', { name: value }, key)
      for (const [name, users] of [
        ['name', '/v1/users'],
        ['firstName', '/api/users'],
      ] as const)
        await ask(
          'POST',
          users,
          { email: `x${sent}@example.org`, password: 'correct horse', [name]: value },
          users === '/v1/users' ? key : asAdmin,
        )
      await ask('POST', '/api/sessions', { label: value, metadata: { [value]: value } }, asAdmin)
      await ask('POST', '/api/auth', { email: `${value}@example.org`, password: value })
      for (const at of [`/${path}`, `/v1/models/${path}`, `/api/users/${path}`, `/v1/users?after=${path}`])
        await ask('GET', at, undefined, at.startsWith('/api') ? asAdmin : key)
      // Headers can have no control characters, but anything else.
      const latin = escaped(value).slice(0, 200)
      await ask(
        'POST',
        '/v1/chat/completions',
        { model: 'gpt-4o', messages },
        { ...key, 'x-session-id': latin, traceparent: latin, 'x-request-id': latin },
      )

      const { hostname, port } = new URL(stack.url)
      const socket = connect(Number(port), hostname)
      socket.on('error', () => undefined)
      socket.write(`GET /${value} HTTP/1.1\r\nhost: ${value}\r\n\r\n`)
      socket.end()
      await text(socket).catch(() => '')

      const lines = (): string[] => stack.server.output().slice(before).split('\n').slice(0, -1)
      await expect
        .poll(() => lines().filter((line) => line.includes('"msg":"request"')).length)
        .toBeGreaterThanOrEqual(sent)
      for (const line of lines()) {
        // oxlint-disable-next-line no-control-regex
        expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]|\p{Cf}/u)
        const { level, msg, time, forged: more } = JSON.parse(line) as Record<string, unknown>
        expect([typeof level, msg, more]).toEqual(['number', expect.stringMatching(/^(request|error)$/), undefined])
        expect(time).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
      }
    },
  )
})
