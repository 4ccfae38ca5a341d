import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endEngines, engines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { thorough } from '../support/scope.js'
import type { SignedIn, World } from './world.js'
import { startWorld, worldSuite } from './world.js'

interface Item {
  id: string
}

/** Reads a list, where it has another version than `etag`. */
async function poll<T = unknown>(world: World, path: string, as: SignedIn, etag?: string) {
  const headers = etag === undefined ? {} : { 'if-none-match': etag }
  const { status, body, headers: answered } = await world.ask<T>('GET', path, { as, headers })
  return { status, body, etag: answered.get('etag') ?? undefined }
}

worldSuite('polling', (world) => {
  const send = async (as: SignedIn, method: string, path: string, body?: object): Promise<Item> => {
    const { status, body: made } = await world().ask<Item>(method, path, { as, body })
    expect(status).toBeLessThan(300)
    return made
  }

  it('is a 304 until something of the project changes', async () => {
    const ada = await world().signedIn()
    const { id } = await send(ada, 'POST', '/api/projects', { name: 'Website' })
    const lists = [
      `/api/tasks?projectId=${id}`,
      `/api/tasks?projectId=${id}&limit=1`,
      `/api/results?projectId=${id}`,
      `/api/projects/${id}/conversation`,
      `/api/projects/${id}/conversation?limit=2`,
    ]
    const readAll = () => Promise.all(lists.map((path) => poll(world(), path, ada)))
    // The first reader makes the conversation.
    await readAll()
    let before = await readAll()
    const changes: (() => Promise<unknown>)[] = []
    const task = await send(ada, 'POST', '/api/tasks', { projectId: id, title: 'Headline' })
    changes.push(
      () => send(ada, 'POST', '/api/tasks', { projectId: id, title: 'Teaser' }),
      () => send(ada, 'PATCH', `/api/tasks/${task.id}`, { status: 'failed' }),
      // Bytes of data, as they are counted, change by none.
      () => send(ada, 'PATCH', `/api/tasks/${task.id}`, { status: 'scheduled' }),
      () => send(ada, 'PATCH', `/api/tasks/${task.id}`, { output: 'A good headline' }),
      () => send(ada, 'POST', `/api/projects/${id}/conversation/messages`, { text: 'Hello' }),
      () => send(ada, 'DELETE', `/api/projects/${id}/conversation`),
    )
    before = await readAll()
    for (const change of changes) {
      for (const [i, path] of lists.entries()) {
        expect(before[i]!.etag).toMatch(/^W\/"[^"]+"$/)
        expect(await poll(world(), path, ada, before[i]!.etag)).toMatchObject({ status: 304, etag: before[i]!.etag })
      }
      await change()
      const after = await Promise.all(lists.map((path, i) => poll(world(), path, ada, before[i]!.etag)))
      expect(after.map(({ status }) => status)).toEqual(lists.map(() => 200))
      for (const [i, { etag }] of after.entries()) expect(etag).not.toBe(before[i]!.etag)
      before = after
    }
  })

  it('of a conversation sees the end of a reply', async () => {
    const ada = await world().signedIn()
    const { id } = await send(ada, 'POST', '/api/projects', { name: 'Website' })
    const path = `/api/projects/${id}/conversation`
    const event = (content: string, finish_reason: string | null) =>
      `data: ${JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini', choices: [{ index: 0, delta: { content }, finish_reason }] })}\n\n`
    let end!: () => void
    const ended = new Promise<void>((resolve) => (end = resolve))
    world().fault = () => ({
      status: 200,
      headers: { 'content-type': 'text/event-stream' },
      body: (async function* () {
        yield event('Half', null)
        await ended
        yield `${event(' and half', 'stop')}data: [DONE]\n\n`
      })(),
    })
    const headers = { accept: 'text/event-stream' }
    const reply = world().ask('POST', `${path}/messages`, { as: ada, body: { text: 'Hello' }, headers })
    interface Conversation {
      messages: { text: string; incomplete?: true }[]
    }
    const read = () => poll<Conversation>(world(), path, ada)
    await expect.poll(async () => (await read()).body.messages.length).toBe(2)
    const { etag } = await read()
    expect((await poll(world(), path, ada, etag)).status).toBe(304)
    end()
    await reply
    world().fault = undefined
    const after = await poll<Conversation>(world(), path, ada, etag)
    expect(after.body.messages.at(-1)).not.toHaveProperty('incomplete')
    expect(after.body.messages.at(-1)!.text).toBe('Half and half')
  })

  it('of the projects is a 304 until one is made, changed or deleted', async () => {
    const ada = await world().signedIn()
    expect(await poll(world(), '/api/projects', ada)).toEqual({ status: 200, body: [], etag: undefined })
    const { id } = await send(ada, 'POST', '/api/projects', { name: 'Website' })
    let { etag } = await poll(world(), '/api/projects', ada)
    const changes = [
      () => send(ada, 'PATCH', `/api/projects/${id}`, { name: 'Webshop' }),
      () => send(ada, 'PATCH', `/api/projects/${id}`, { teamType: 'research' }),
      () => send(ada, 'POST', '/api/projects', { name: 'Shop' }),
      () => send(ada, 'DELETE', `/api/projects/${id}`),
    ]
    for (const change of changes) {
      expect((await poll(world(), '/api/projects', ada, etag)).status).toBe(304)
      await change()
      const after = await poll(world(), '/api/projects', ada, etag)
      expect(after.status).toBe(200)
      expect(after.etag).not.toBe(etag)
      etag = after.etag
    }
  })

  it('tells nothing to others, nor of what is gone', async () => {
    const [ada, eve] = [await world().signedIn(), await world().signedIn()]
    const { id } = await send(ada, 'POST', '/api/projects', { name: 'Website' })
    const path = `/api/tasks?projectId=${id}`
    const { etag } = await poll(world(), path, ada)
    expect((await poll(world(), path, eve, etag)).status).toBe(404)
    expect((await world().ask('GET', path, { headers: { 'if-none-match': etag! } })).status).toBe(401)
    expect((await poll(world(), '/api/tasks?projectId=none', ada, etag)).status).toBe(404)
    await send(ada, 'DELETE', `/api/projects/${id}`)
    expect(await poll(world(), path, ada, etag)).toMatchObject({ status: 404, etag: undefined })
    expect(await world().call('verify')).toEqual([])
  })
})

/** Only on Redis outside of `npm run test:all`. */
const shared = engines.filter(({ name }) => name === 'redis' || (thorough && name === 'postgres'))

describe.each(shared)('polling of two processes on $name', ({ needed, create }) => {
  describe('', needs(...needed), () => {
    let worlds: [World, World]
    beforeAll(async () => {
      const storage = await create()
      worlds = [
        await startWorld(storage, { RATE_LIMITER: 'memory' }),
        await startWorld(storage, { RATE_LIMITER: 'memory' }),
      ]
    })
    afterAll(async () => {
      await Promise.all(worlds.map((world) => world.kill()))
      await endEngines()
    })

    it('misses no change', async () => {
      const [writer, reader] = worlds
      const ada = await writer.signedIn()
      const { body: project } = await writer.ask<Item>('POST', '/api/projects', { as: ada, body: { name: 'Website' } })
      const path = `/api/tasks?projectId=${project.id}`
      const done = { written: 0 }
      const write = async (): Promise<void> => {
        while (done.written < 100) {
          const body = { projectId: project.id, title: `${done.written + 1}` }
          expect((await writer.ask('POST', '/api/tasks', { as: ada, body })).status).toBe(200)
          done.written++
        }
      }
      let etag: string | undefined
      let seen: string[] = []
      const read = async (): Promise<void> => {
        // What was written before a poll began is in what the reader knows after it.
        const least = done.written
        const { status, body, etag: latest } = await poll<{ title: string }[]>(reader, path, ada, etag)
        if (status === 200) [seen, etag] = [body.map(({ title }) => title), latest]
        else expect(status).toBe(304)
        expect(seen.length).toBeGreaterThanOrEqual(least)
      }
      const writing = write()
      while (done.written < 100) await read()
      await writing
      await read()
      expect(seen).toHaveLength(100)
      expect((await poll(reader, path, ada, etag)).status).toBe(304)
    })
  })
})
