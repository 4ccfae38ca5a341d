import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { FamiliesStack } from '../clients/families-stack.js'
import { startFamilies } from '../clients/families-stack.js'
import { replied } from '../endpoints/endpoints.js'
import { runtime } from '../support/runtime.js'
import { escaped } from './escaped.js'

let stack: FamiliesStack
beforeAll(async () => {
  stack = await startFamilies()
})
afterAll(() => stack.stop())
beforeEach(() => {
  stack.fault = undefined
})

/** What would make a header of its own, or break the answer, if it were written into one. */
const evil = {
  'a line break': 'x\r\nx-evil: 1',
  'a line feed': 'x\nx-evil: 1',
  'a carriage return': 'x\rx-evil: 1',
  'two line breaks': 'x\r\n\r\n<html>',
  'a NUL': 'x\0y',
  'another control character': 'x\u001by\u007f',
  'letters that become a line break in Latin-1': 'x\u{560d}\u{560a}x-evil: 1',
  'a lone surrogate': 'x\ud800',
  '10 kB': 'x'.repeat(10_000),
}

const send = (path: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
  fetch(new URL(path, stack.url), {
    method: 'POST',
    headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  })
const chat = (fields: object, headers?: Record<string, string>): Promise<Response> =>
  send('/v1/chat/completions', { messages: [{ role: 'user', content: 'Hi' }], ...fields }, headers)

async function expectPlain(response: Response): Promise<void> {
  await response.text()
  expect(response.status).toBeLessThan(500)
  expect(response.headers.has('x-evil')).toBe(false)
  for (const [name, value] of response.headers) {
    expect([name, value.length < 4_000]).toEqual([name, true])
    expect([name, value]).toEqual([name, expect.stringMatching(/^[\x20-\x7e]*$/)])
  }
}

describe(`threat 11: header injection, on ${runtime}`, () => {
  it.each(Object.keys(evil) as (keyof typeof evil)[])('by a text in a body with %s', async (what) => {
    const value = evil[what]
    const explain = { 'x-gateway-explain': 'true' }
    // The names of fields that are dropped, and models that were compared, are in headers of the answer.
    for (const model of ['claude-sonnet-4-5', 'gemini-2.5-flash']) {
      const response = await chat({ model, [value]: 1 }, explain)
      expect([response.status, response.headers.get('x-gateway-warnings')]).toEqual([
        200,
        expect.stringMatching(/^dropped=[\w.-]{1,60}$/),
      ])
      await expectPlain(response)
    }
    for (const fields of [
      { model: value },
      { model: value, provider: 'openai' },
      { model: `gpt-${value}`, provider: 'auto' },
      { model: 'gpt-4o', provider: value },
      { model: 'gpt-4o', user: value, metadata: { [value]: value } },
      { model: 'gpt-4o', stream: true, [value]: 1 },
    ])
      await expectPlain(await chat(fields, explain))
    for (const user of [{ id: value }, { name: value }, { email: value }, { role: value }])
      await expectPlain(await send('/v1/users', user))
    await expectPlain(await send('/v1/images/generations', { prompt: 'x', model: value }))
    await expectPlain(await send('/v1/audio/speech', { input: 'x', model: 'tts-1', voice: value }))
  })

  it.each(Object.keys(evil) as (keyof typeof evil)[])('by a path or a query with %s', async (what) => {
    const segment = escaped(evil[what]).slice(0, 5_000)
    for (const path of [
      `/v1/models/${segment}`,
      `/v1/models?provider=${segment}`,
      `/v1/users/${segment}`,
      `/v1/users?limit=1&after=${segment}`,
      `/v1/users/${segment}/usage?after=${segment}`,
      `/${segment}`,
      `/api/users/${segment}`,
      `/admin/audit?after=${segment}`,
    ]) {
      const headers = { authorization: `Bearer ${stack.key}` }
      await expectPlain(await fetch(new URL(path, stack.url), { headers }))
    }
  })

  it('by a header with 10 kB, which goes no further', async () => {
    const long = 'x'.repeat(10_000)
    for (const name of [
      'x-session-id',
      'x-task-id',
      'x-project-id',
      'x-request-id',
      'traceparent',
      'origin',
      'x-forwarded-for',
    ]) {
      await expectPlain(await chat({ model: 'gpt-4o-mini' }, { [name]: long }))
      expect(JSON.stringify(stack.upstreams.openai.requests.at(-1)!.headers)).not.toContain('xxx')
    }
    const usage = await fetch(new URL('/v1/users/00000000-0000-7000-8000-000000000001/usage', stack.url), {
      headers: { authorization: `Bearer ${stack.key}` },
    })
    expect(await usage.text()).not.toContain('xxx')
  })

  it.each(['\r\nx-evil: 1', '"; name="model"\r\n\r\nevil\r\n--', '"; name="model', '\0', "x'*\\", 'x'.repeat(5_000)])(
    'by the name of a file, in the form for the upstream: %j',
    async (name) => {
      // The extended form of a name, as the plain one can have no line breaks.
      const lines = [
        '--b',
        'Content-Disposition: form-data; name="model"',
        '',
        'whisper-1',
        '--b',
        `Content-Disposition: form-data; name="file"; filename*=UTF-8''${encodeURIComponent(`a${name}.mp3`)}`,
        'Content-Type: audio/mpeg',
        '',
        'audio',
        '--b--',
        '',
      ]
      const response = await fetch(new URL('/v1/audio/transcriptions', stack.url), {
        method: 'POST',
        headers: { authorization: `Bearer ${stack.key}`, 'content-type': 'multipart/form-data; boundary=b' },
        body: lines.join('\r\n'),
      })
      await expectPlain(response)
      // A name with a line break is none.
      expect(response.status).toBe(name.includes('\n') ? 400 : 200)
      if (response.status === 400) return
      const sent = Buffer.from(stack.upstreams.openai.requests.at(-1)!.bytes).toString()
      const parts = sent.split(/^--turnpike-.*\r\n/m).filter((part) => part !== '')
      const heads = parts.map((part) => part.split('\r\n\r\n', 1)[0]!.split('\r\n').length)
      expect(heads).toEqual([1, 1, 2])
      expect(sent).toMatch(/; filename="[^"\r\n]*\.mp3"\r\nContent-Type: audio\/mpeg\r\n\r\naudio\r\n/)
    },
  )

  it("by an upstream's headers and its type of audio", async () => {
    for (const type of ['audio/'.padEnd(6_000, 'x'), 'audio/x y', 'audio/mpeg, x-evil']) {
      stack.fault = () => replied(200, 'sound', type, { 'x-evil': '1', 'set-cookie': 'a=b', 'x-request-id': 'evil' })
      const response = await send('/v1/audio/speech', { input: 'x', model: 'tts-1', voice: 'alloy' })
      await response.arrayBuffer()
      expect([response.status, response.headers.get('content-type')]).toEqual([200, 'audio/mpeg'])
      expect([...response.headers.keys()].filter((name) => /evil|cookie/.test(name))).toEqual([])
      expect(response.headers.get('x-request-id')).not.toBe('evil')
    }
  })

  it.each([
    ['a line feed within a value', 'x-session-id: a\nx-evil: 1\r\n'],
    ['a carriage return within a value', 'x-session-id: a\rx-evil: 1\r\n'],
    ['a NUL within a value', 'x-session-id: a\0b\r\n'],
    ['a value on two lines', 'x-session-id: a\r\n b\r\n'],
    ['a NUL within a name', 'x-\0: a\r\n'],
    ['a space within a name', 'x session: a\r\n'],
    ['a line break within a key', 'authorization: Bearer gw-\r\n\tx\r\n'],
    ['more than 16 kB', `x-session-id: ${'x'.repeat(20_000)}\r\n`],
    ['more than 16 kB in many', 'x-a: 1\r\n'.repeat(4_000)],
  ])('by a request with %s', async (_, lines) => {
    const { hostname, port } = new URL(stack.url)
    const socket = connect(Number(port), hostname)
    await once(socket, 'connect')
    socket.on('error', () => undefined)
    const body = JSON.stringify({ model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'Hi' }] })
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\nhost: ${hostname}:${port}\r\nauthorization: Bearer ${stack.key}\r\n${lines}` +
        `content-type: application/json\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`,
    )
    const answer = await text(socket).catch(() => '')
    const before = stack.upstreams.openai.requests.at(-1)
    expect(answer).not.toMatch(/x-evil/i)
    // Refused, or read as it is meant.
    expect(answer.slice(0, 12)).toMatch(/^(HTTP\/1\.1 (200|400|401|431)|)$/)
    expect(JSON.stringify(before?.headers ?? {})).not.toMatch(/evil|session/)
    expect((await fetch(new URL('/health', stack.url))).status).toBe(200)
  })
})
