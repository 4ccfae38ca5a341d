import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { runtimePath } from '../support/runtime.js'
import { startServer } from '../support/server.js'

const program = fileURLToPath(new URL('program.mjs', import.meta.url))
const run = promisify(execFile)

it('the built client uses the reference server from a program of its own', async () => {
  const password = 'the password of the tests'
  const server = await startServer({ ADMIN_PASSWORD: password })
  try {
    const { PATH, HOME } = process.env
    const env = { PATH, HOME, PLATFORM_URL: server.url, ADMIN_PASSWORD: password }
    const { stdout } = await run(runtimePath(), [program], { env })
    expect(JSON.parse(stdout)).toEqual({
      emails: ['admin@localhost', 'admin@localhost'],
      pages: [2, 1],
      titles: ['a', 'b', 'c'],
      next: ['string', 'undefined'],
      reply: 'This is a simulated answer. You said: Grüße 🚀',
      answer: 'This is a simulated answer. You said: Hello',
      reason: 'Enough',
      progress: [{ loaded: 1_000_000, total: 1_000_000 }],
      length: 1_000_000,
      status: 401,
    })
  } finally {
    await server.stop()
  }
})
