import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
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
  })
})
