import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Client } from '@turnpike/client'
import { createClient } from '@turnpike/client'
import type { FakeRequest } from '@turnpike/providers/testing'
import { fakeOpenAI } from '@turnpike/providers/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { chunk, streamed } from '../support/gateway.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const scopes = ['tasks:write', 'projects:read', 'gateway:write'] as const
const folder = fileURLToPath(new URL('../../examples/agent-worker', import.meta.url))

/** Who is asked, and what they are told of the task. */
const chatOf = ({ body }: FakeRequest) => {
  const [system, user] = (body as { messages: { content: string }[] }).messages
  return { who: /^You are (\w+)/.exec(system!.content)![1]!, task: user!.content }
}

const state: { draft: string; corrected: string; reviewed: Promise<unknown> } = {
  draft: 'The oven costed 5 €.',
  corrected: 'The oven cost 5 €.',
  reviewed: Promise.resolve(),
}
const upstream = fakeOpenAI({
  apiKey: 'sk-upstream',
  override: (request) =>
    request.path.endsWith('/chat/completions')
      ? chatOf(request).who === 'Reviewer'
        ? streamed(state.reviewed, chunk(state.corrected, 'stop'), '[DONE]')
        : streamed(chunk(state.draft, 'stop'), '[DONE]')
      : undefined,
})
/** The chats so far, without requests for models. */
const chats = () => upstream.requests.filter(({ path }) => path.endsWith('/chat/completions')).map(chatOf)

let listening: Awaited<ReturnType<typeof upstream.listen>>
let server: Server
let client: Client
beforeAll(async () => {
  listening = await upstream.listen()
  server = await startServer({ OPENAI_API_KEY: 'sk-upstream', OPENAI_BASE_URL: `${listening.url}/v1` })
  client = createClient({ baseUrl: server.url })
  await client.signIn({ email: 'admin@localhost', password: 'the password of the tests' })
})
afterAll(async () => {
  await server.stop()
  await listening.close()
})

/** Starts the worker of the example. @returns ends it, and resolves when it has ended */
async function startWorker(): Promise<() => Promise<unknown>> {
  const { token } = await client.post('/api/tokens', { body: { name: 'worker', scopes: [...scopes] } })
  const { PATH, HOME } = process.env
  const worker = spawn(process.execPath, ['--import', 'tsx', 'main.ts'], {
    cwd: folder,
    env: { PATH, HOME, PLATFORM_URL: server.url, TOKEN: token },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const ended = once(worker, 'close')
  return () => {
    worker.kill()
    return ended
  }
}

it('Reviewer corrects what Developer wrote before a person is asked, each time', async () => {
  const { id: projectId } = await client.post('/api/projects', {
    body: { name: 'Bakery', teamType: 'software-development' },
  })
  const { id } = await client.post('/api/tasks', {
    body: { projectId, title: 'Costs', assignedAgentId: 2, requiresUserApproval: true },
  })
  const read = () => client.get('/api/tasks/{id}', { params: { id } })
  const change = (body: object) => client.patch('/api/tasks/{id}', { params: { id }, body })
  let review!: () => void
  state.reviewed = new Promise<void>((resolve) => (review = resolve))
  const end = await startWorker()
  try {
    await expect.poll(chats).toEqual([
      { who: 'Developer', task: '# Costs' },
      { who: 'Reviewer', task: '# Costs\n\n## Draft\n\nThe oven costed 5 €.' },
    ])
    expect((await read()).status).toBe('running')
    review()
    await expect.poll(async () => (await read()).status).toBe('waiting_approval')
    expect(await read()).toMatchObject({ draft_output: 'The oven cost 5 €.', output: null })

    state.draft = 'The oven costed 5 € in May.'
    state.corrected = 'The oven cost 5 € in May.'
    await change({ status: 'scheduled', review_comments: 'Say when.' })
    await expect.poll(async () => (await read()).status).toBe('waiting_approval')
    const comment = '## What was said about the last draft\n\nSay when.'
    expect(chats().slice(2)).toEqual([
      { who: 'Developer', task: `# Costs\n\n## Last draft\n\nThe oven cost 5 €.\n\n${comment}` },
      { who: 'Reviewer', task: `# Costs\n\n## Draft\n\nThe oven costed 5 € in May.\n\n${comment}` },
    ])
    const { draft_output: output } = await read()
    expect(await change({ status: 'done', output })).toMatchObject({ output: 'The oven cost 5 € in May.' })
  } finally {
    await end()
  }
})
