import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runtime } from '../support/runtime.js'
import { startServer } from '../support/server.js'
import { limitedKeys } from './limited-keys.js'

const asJson = { 'content-type': 'application/json' }
const listOf = (entries: unknown[]): string => JSON.stringify({ object: 'list', data: entries })
const answers =
  (body: string | Buffer, status = 200, headers: object = {}) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { ...asJson, ...headers }).end(body)

/** A server whose only upstream tells its models as `list` does, and answers everything else. */
async function setUp(list: (response: ServerResponse) => void, env: Record<string, string> = {}) {
  /** The paths that were asked for. */
  const asked: string[] = []
  /** How many lists were asked for whose connection is still open. */
  let open = 0
  const upstream = createServer((request, response) => {
    request.resume()
    asked.push(request.url!)
    if (request.url === '/v1/models') {
      open++
      response.once('close', () => open--)
      return list(response)
    }
    const message = { role: 'assistant', content: 'Hello' }
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    answers(
      JSON.stringify({
        id: 'a',
        object: 'chat.completion',
        created: 1,
        model: 'm',
        choices: [{ index: 0, message, finish_reason: 'stop' }],
        usage,
      }),
    )(response)
  })
  await once(upstream.listen(0, '127.0.0.1'), 'listening')
  const url = `http://127.0.0.1:${(upstream.address() as AddressInfo).port}`
  const server = await startServer({
    OPENAI_BASE_URL: `${url}/v1`,
    OPENAI_API_KEY: 'sk-upstream',
    OPENAI_MODELS: '',
    ...env,
  })
  onTestFinished(async () => {
    await server.stop()
    upstream.close().closeAllConnections()
  })
  const { create, chat } = limitedKeys(server)
  /** The ids that a key may name. */
  const listed = async (key: string = server.key): Promise<string[]> => {
    const response = await fetch(`${server.url}/v1/models`, { headers: { authorization: `Bearer ${key}` } })
    return ((await response.json()) as { data: { id: string }[] }).data.map(({ id }) => id)
  }
  return { asked, open: () => open, create, chat, listed }
}

describe(`threat 65: a list of models that an upstream tells, on ${runtime}`, () => {
  const many = Array.from({ length: 2_500 }, (_, i) => ({ id: `m${i}` }))
  const block = ' '.repeat(64 * 1024)
  /** Writes without end. */
  const endless = (response: ServerResponse): void => {
    response.writeHead(200, asJson)
    const more = (): void => {
      while (!response.destroyed && response.write(block));
    }
    response.on('drain', more)
    more()
  }

  it.each<[what: string, list: (response: ServerResponse) => void]>([
    ['that does not come', () => undefined],
    ['that begins and does not end', (response) => void response.writeHead(200, asJson).write('{"data":[{"id":"m1"}')],
    ['without end', endless],
    ['of more than 8 MiB', answers(listOf(many) + ' '.repeat(8 * 1024 * 1024))],
    [
      'of more than 8 MiB that are few when they are packed',
      answers(gzipSync(listOf(many) + ' '.repeat(8 * 1024 * 1024)), 200, { 'content-encoding': 'gzip' }),
    ],
    ['with 200,000 values', answers(listOf([{ id: 'm1', of: Array.from({ length: 200_000 }, () => 0) }]))],
    ['that is a page', answers('<html><body>Welcome</body></html>', 200, { 'content-type': 'text/html' })],
    ['that there is not', answers('{"error":{"message":"Not found"}}', 404)],
    ['that is elsewhere', answers('', 302, { location: '/v1/other' })],
  ])('is none %s, and keeps nobody', async (_, list) => {
    const { asked, open, chat, listed } = await setUp(list)
    // Both wait for it, for a second at most.
    const [answer, ids] = await Promise.all([chat({ model: 'm1' }), listed()])
    expect([answer.status, ids]).toEqual([200, []])
    expect(new Set(asked)).toEqual(new Set(['/v1/chat/completions', '/v1/models']))
    await expect.poll(open).toBe(0)
  })

  it('has 2,000 models, whose ids are words', async () => {
    const wrong = [
      '',
      ' ',
      'a\nb',
      'a\r\nx-injected: 1',
      'a\u0000',
      'a\u202eb',
      '\ud800',
      'x'.repeat(257),
      7,
      null,
      {},
      ['m'],
    ]
    const odd = ['__proto__', 'constructor', '模型:7b', '../../x', '<b>"x"</b>', "a' b"]
    const { chat, listed } = await setUp(
      answers(listOf([...wrong.map((id) => ({ id })), 'x', null, ...odd.map((id) => ({ id })), ...many])),
    )
    const ids = await listed()
    expect(ids).toHaveLength(2_000)
    expect(ids.slice(0, odd.length + 1)).toEqual([...odd, 'm0'])
    for (const model of odd) {
      const { status, headers } = await chat({ model })
      expect([model, status, headers.has('x-injected')]).toEqual([model, 200, false])
    }
  })

  it('is not asked for again and again by callers, whatever models they name', async () => {
    const { asked, chat, listed } = await setUp(answers(listOf(many)))
    await Promise.all(Array.from({ length: 50 }, (_, i) => [chat({ model: `unknown-${i}` }), listed()]).flat())
    expect(asked.filter((path) => path === '/v1/models')).toHaveLength(1)
  })

  it('shows a key with models those, and lets it use no others', async () => {
    const { create, chat, listed } = await setUp(answers(listOf(many)))
    const key = await create({ models: ['m1', 'openai/m7', 'not-listed'] })
    expect(await listed(key)).toEqual(['m1', 'm7'])
    expect((await chat({ model: 'm7' }, key)).status).toBe(200)
    for (const model of ['m2', 'openai/m2', 'unknown']) expect((await chat({ model }, key)).status).toBe(403)
  })

  it('names no other provider’s models in their place, nor prices, limits or abilities', async () => {
    const own = {
      id: 'anthropic/claude-sonnet-4-5',
      owned_by: 'anthropic',
      capabilities: ['vision'],
      pricing: { prompt: '0' },
    }
    const list = answers(listOf([own, { id: 'gpt-9', provider: 'anthropic', members: ['a/b'] }]))
    const { asked, create, chat } = await setUp(list, {
      ANTHROPIC_API_KEY: 'sk-ant',
      ANTHROPIC_BASE_URL: 'http://127.0.0.1:1',
    })
    // Nobody listens there: the request has gone to no other.
    expect((await chat({ model: own.id })).status).toBe(502)
    expect(asked).not.toContain('/v1/chat/completions')
    // A price that it told would let a key with a budget through.
    expect((await chat({ model: 'gpt-9' }, await create({ budget: { usd: 1 } }))).status).toBe(403)
  })
})
