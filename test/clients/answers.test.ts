import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { uuidv7Pattern } from '../support/patterns.js'
import { runtime } from '../support/runtime.js'
import type { Stack } from '../support/stack.js'
import { startStack } from '../support/stack.js'
import type { Ask, Tokens } from './client.js'
import { kinds } from './kinds.js'

interface Scenario {
  title: string
  ask: Ask
  text: string
  finish: string
  model?: string
}

const said = (text: string): string => `This is a simulated answer. You said: ${text}`

const scenarios: Scenario[] = [
  { title: 'a question', ask: { text: 'Hello there' }, text: said('Hello there'), finish: 'stop' },
  {
    title: 'a question with usage',
    ask: { text: 'Hello again', usage: true },
    text: said('Hello again'),
    finish: 'stop',
  },
  {
    title: 'text beyond ASCII',
    ask: { text: 'Ça va 🙂 «日本語»?\n\ndata: [DONE]' },
    text: said('Ça va 🙂 «日本語»?\n\ndata: [DONE]'),
    finish: 'stop',
  },
  {
    title: 'a system prompt',
    ask: { text: 'Hello there', system: 'Be brief.' },
    text: said('Hello there'),
    finish: 'stop',
  },
  {
    title: 'a model with its prefix',
    ask: { text: 'Hello there', model: 'openai/gpt-4o-mini' },
    text: said('Hello there'),
    finish: 'stop',
  },
  {
    title: 'an answer that is cut',
    ask: { text: 'Hello there', maxTokens: 5 },
    text: said('Hello there').slice(0, 20),
    finish: 'length',
  },
  {
    title: 'a reasoning model with a limit',
    ask: { text: 'Hello there', model: 'gpt-5-mini', system: 'Be brief.', maxTokens: 5 },
    text: said('Hello there').slice(0, 20),
    finish: 'length',
    model: 'gpt-5-mini',
  },
]

let stack: Stack
beforeAll(async () => {
  stack = await startStack()
})
afterAll(() => stack.stop())

interface UpstreamBody {
  model: string
  stream?: boolean
  messages: { role: string; content: unknown; tool_calls?: { id: string }[]; tool_call_id?: string }[]
}

const bodies = (from: number): UpstreamBody[] => stack.upstream.requests.slice(from).map(({ body }) => body as never)

/** The fake's own count: four characters a token. */
function tokensOf(body: UpstreamBody, text: string): Tokens {
  const prompt = Math.ceil(JSON.stringify(body.messages).length / 4)
  const completion = Math.ceil(text.length / 4)
  return { prompt, completion, total: prompt + completion }
}

const words = (text: string): string[] => text.match(/\s*\S+\s*$|\s*\S+/g)!

describe.each(kinds)(`$name against ${runtime}`, ({ connect, alwaysUsage }) => {
  describe.each([{ mode: 'whole' }, { mode: 'streamed' }])('$mode', ({ mode }) => {
    const stream = mode === 'streamed'

    it.each(scenarios)('$title', async ({ ask, text, finish, model = 'gpt-4o-mini' }) => {
      const before = stack.upstream.requests.length
      const { url, key } = stack
      const answer = await connect({ url, key }).ask(ask, { stream })
      const [body, ...more] = bodies(before)
      expect(more).toEqual([])
      expect(body).toMatchObject({ model, ...(stream && { stream }) })
      expect(answer).toEqual({
        text,
        finish,
        model,
        usage: !stream || ask.usage || alwaysUsage ? tokensOf(body!, text) : undefined,
        requestId: expect.stringMatching(uuidv7Pattern) as string,
        pieces: stream ? words(text) : [],
      })
    })

    it('completes a tool call', async () => {
      const before = stack.upstream.requests.length
      const { url, key } = stack
      const secret = randomUUID()
      const run = vi.fn(() => secret)
      const text = `The tools answered: ${secret}`
      const answer = await connect({ url, key }).ask(
        { text: 'Use look_up_weather for me', tools: [{ name: 'look_up_weather', inputs: ['city'], run }] },
        { stream },
      )
      expect(run.mock.calls).toEqual([[{ city: 'city' }]])
      expect(answer).toMatchObject({ text, finish: 'stop', pieces: stream ? words(text) : [] })
      const asked = bodies(before)
      expect(asked.map(({ stream }) => stream ?? false)).toEqual([stream, stream])
      expect(asked[1]!.messages).toMatchObject([
        { role: 'user', content: 'Use look_up_weather for me' },
        { role: 'assistant', tool_calls: [{ id: 'call_simulated1x0', type: 'function' }] },
        { role: 'tool', tool_call_id: 'call_simulated1x0', content: secret },
      ])
    })

    it('gets the request id that the server logs', async () => {
      const { url, key, server } = stack
      const { requestId } = await connect({ url, key }).ask({ text: 'Hello' }, { stream })
      const logged = (): unknown => {
        const lines = server.output().split('\n')
        return JSON.parse(lines.find((line) => line.includes(requestId!)) ?? '{}')
      }
      await expect.poll(logged).toMatchObject({ request_id: requestId, status: 200, outcome: 'complete' })
    })
  })
})
