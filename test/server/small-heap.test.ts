import { expect, it } from 'vitest'
import { runtime } from '../support/runtime.js'
import { startServer } from '../support/server.js'

it.runIf(runtime === 'node')('a server with a small heap holds less of bodies, or as much as it is told', async () => {
  const answerOf = async (env: Record<string, string>): Promise<number> => {
    const server = await startServer(env)
    const content = 'a'.repeat(15_000_000)
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${server.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'gpt-4o-mini', max_tokens: 1, messages: [{ role: 'user', content }] }),
    })
    await response.text()
    await server.stop()
    return response.status
  }
  const small = { NODE_OPTIONS: '--max-old-space-size=100 --max-semi-space-size=1' }
  expect(await answerOf(small)).toBe(503)
  expect(await answerOf({})).not.toBe(503)
  expect(await answerOf({ ...small, BODY_MEMORY_MB: '512' })).not.toBe(503)
})
