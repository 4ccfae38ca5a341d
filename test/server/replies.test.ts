import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Client } from '@turnpike/client'
import { createClient } from '@turnpike/client'
import { afterAll, afterEach, describe, expect, it } from 'vitest'
import { begun, chunksOf, done, stream } from '../faults/wire.js'
import { endEngines, engines } from '../support/engines.js'
import { needs, testAll } from '../support/needs.js'
import { rawUpstream } from '../support/raw-upstream.js'
import type { Server } from '../support/server.js'
import { startServer } from '../support/server.js'

const upstream = await rawUpstream()
const chunk = chunksOf('chatcmpl-1', 'gpt-4o-mini')
const words = (...texts: string[]) => texts.map((content) => chunk({ content }))
const rest = stream(...words(' and the rest'), chunk({}, 'stop'), done).slice(1)

/** Replies in conversations of the reference server, whose callers have left. */
describe('replies of the reference server', () => {
  const servers: Server[] = []
  const start = async (STORAGE: string, env: Record<string, string> = {}): Promise<Server> => {
    const server = await startServer({
      STORAGE,
      OPENAI_API_KEY: 'sk-upstream',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      ...env,
    })
    servers.push(server)
    return server
  }
  afterEach(async () => {
    for (const { process } of servers.splice(0)) process.kill('SIGKILL')
  })
  afterAll(async () => {
    await upstream.close()
    await endEngines()
  })
  const clientOf = async ({ url }: Server): Promise<Client> => {
    const client = createClient({ baseUrl: url })
    await client.signIn({ email: 'admin@localhost', password: 'the password of the tests' })
    return client
  }
  /** Sends a message in a new project, and leaves at the first words of the reply. */
  const begin = async (server: Server) => {
    const client = await clientOf(server)
    const { id } = await client.post('/api/projects', { body: { name: 'P' } })
    let messageId = ''
    const onResponse = ({ headers }: Response): void => void (messageId = headers.get('x-reply-id')!)
    const options = { params: { id }, body: { text: 'Hello' }, onResponse }
    for await (const _ of client.stream('/api/projects/{id}/conversation/messages', options)) break
    const params = { id, messageId }
    const read = (by: Client) => by.get('/api/projects/{id}/conversation/messages/{messageId}', { params })
    return { client, params, read }
  }
  const folder = () => `fs:${mkdtempSync(join(tmpdir(), 'replies-'))}`

  it('broke off where it was killed, which the next start sees at once', async () => {
    const storage = folder()
    const server = await start(storage)
    upstream.script = begun(words('Half an answer'))
    const { client, read } = await begin(server)
    await expect.poll(() => read(client)).toMatchObject({ text: 'Half an answer', state: 'running' })
    server.process.kill('SIGKILL')
    const next = await clientOf(await start(storage))
    expect(await read(next)).toMatchObject({ text: 'Half an answer', state: 'failed' })
  })

  it('become whole before a server that was told to end does', async () => {
    const storage = folder()
    const server = await start(storage)
    let goOn!: () => void
    upstream.script = begun(words('Half'), new Promise<void>((resolve) => (goOn = resolve)), ...rest)
    const { client, read } = await begin(server)
    await expect.poll(() => read(client)).toMatchObject({ text: 'Half', state: 'running' })
    const ended = server.stop()
    setTimeout(goOn, 500)
    expect(await ended).toBe(0)
    const next = await clientOf(await start(storage))
    expect(await read(next)).toMatchObject({ text: 'Half and the rest', state: 'done' })
  })

  const shared = engines.filter(({ name }) => name === 'redis' || name === 'postgres')
  describe.each(shared)('on $name', ({ needed, create }) => {
    it('are stopped by another server within two seconds', needs(...needed), async () => {
      const storage = await create()
      const here = await start(storage)
      const there = await start(storage)
      upstream.script = begun(words('So far'))
      const { params, read } = await begin(here)
      const other = await clientOf(there)
      await expect.poll(() => read(other)).toMatchObject({ text: 'So far', state: 'running' })
      await other.post('/api/projects/{id}/conversation/messages/{messageId}/stop', { params })
      await expect.poll(() => read(other)).toMatchObject({ text: 'So far', state: 'stopped' })
      await expect.poll(() => upstream.open).toBe(0)
    })

    it(
      'broke off where one of two servers was killed, which the other one sees',
      needs(testAll, ...needed),
      async () => {
        const storage = await create()
        const here = await start(storage)
        const there = await start(storage)
        upstream.script = begun(words('Half'))
        const { read } = await begin(here)
        const other = await clientOf(there)
        await expect.poll(() => read(other)).toMatchObject({ text: 'Half', state: 'running' })
        here.process.kill('SIGKILL')
        // After the half a minute in which it might come back.
        await expect
          .poll(() => read(other), { timeout: 55_000, interval: 500 })
          .toMatchObject({ text: 'Half', state: 'failed' })
      },
    )
  })
})
