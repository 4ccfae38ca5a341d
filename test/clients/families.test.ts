import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { runtime } from '../support/runtime.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'
import { models } from './families-stack.js'
import { kinds } from './kinds.js'

const key = 'gw-families-0123456789abcdef'
let server: Server
beforeAll(async () => {
  // Without any provider's key, all families are simulated, behind their real adapters.
  server = await startServer({ BOOTSTRAP_GATEWAY_KEY: key })
})
afterAll(() => server.stop())

describe.each(kinds)(`$name against ${runtime}`, ({ connect }) => {
  const client = () => connect({ url: `${server.url}/v1`, key })

  describe.each(models)('asks $model', ({ model }) => {
    it.each([false, true])('a question, streamed: %s', async (stream) => {
      const answer = await client().ask({ model, text: 'Hello 🙂', system: 'Be brief.', usage: true }, { stream })
      expect(answer).toMatchObject({ text: 'This is a simulated answer. You said: Hello 🙂', finish: 'stop' })
      const { prompt, completion, total } = answer.usage!
      expect(prompt).toBeGreaterThan(0)
      expect(completion).toBeGreaterThan(0)
      expect(total).toBe(prompt + completion)
    })

    it.each([false, true])('to use a tool, streamed: %s', async (stream) => {
      const secret = randomUUID()
      const run = vi.fn(() => secret)
      const tools = [{ name: 'look_up_weather', inputs: ['city'], run }]
      const answer = await client().ask({ model, text: 'Use look_up_weather for me', tools }, { stream })
      expect(run).toHaveBeenCalledTimes(1)
      // Each family has its own form for a result; the simulated model repeats what it got.
      expect(answer.text).toMatch(/^The tools answered: /)
      expect(answer.text).toContain(secret)
      expect(answer.finish).toBe('stop')
    })

    it.each([false, true])('for an object, streamed: %s', async (stream) => {
      const schema = z.object({ city: z.string(), guests: z.array(z.object({ name: z.string(), age: z.int() })) })
      const object = await client().extract({ model, text: 'Who is where?' }, schema, { stream })
      expect(object).toEqual({ city: 'city', guests: [{ name: 'name', age: 1 }] })
    })
  })
})

describe.each(models)(`$model, simulated by ${runtime},`, ({ model }) => {
  const tool = {
    type: 'function',
    function: { name: 'look_up_weather', parameters: { type: 'object', properties: {} } },
  }
  const json_schema = { name: 'n', schema: { type: 'object', properties: { n: { type: 'integer' } } } }

  it.each([
    [{}, { simulated: true }],
    [{ tools: [tool] }, { simulated: true }],
    [{ tools: [tool], tool_choice: 'none', response_format: { type: 'json_schema', json_schema } }, { n: 1 }],
  ])('answers with JSON where it is asked to: %j', async (fields, object) => {
    const messages = [{ role: 'user', content: 'Answer in JSON.' }]
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, messages, response_format: { type: 'json_object' }, ...fields }),
    })
    const { choices } = (await response.json()) as { choices: { message: { content: string } }[] }
    expect(JSON.parse(choices[0]!.message.content)).toEqual(object)
  })
})
