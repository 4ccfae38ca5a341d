// Longer than 250 lines: all on one set-up of several processes, for each store.
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endEngines, engines } from '../support/engines.js'
import { needs } from '../support/needs.js'
import { thorough } from '../support/scope.js'
import type { Reply, SignedIn, World } from './world.js'
import { chat, startWorld } from './world.js'

interface Entity {
  id: string
}
interface Usage {
  project_id: string
  task_id: string
  user_id: string
  tokens: number
  cost_nano_usd: number
}

/** The stores, and how many processes share one. Only Redis outside of `npm run test:all`. */
const stores = [
  ...(thorough ? [{ name: 'memory', processes: 1, needed: [], create: async () => 'memory' }] : []),
  ...engines
    .filter(({ name }) => name === 'redis' || (thorough && name === 'postgres'))
    .map((engine) => ({ ...engine, processes: 2 })),
]
const LIMIT = 3
/** Tasks of the project that is deleted while a process is killed. */
const CHILDREN = thorough ? 3_000 : 1_000

describe.each(stores)('projects on $name', ({ needed, processes, create }) => {
  describe(`${processes} on one store`, needs(...needed), () => {
    const worlds: World[] = []
    let storage: string
    const start = () => startWorld(storage, { PLAN_PROJECTS: String(LIMIT), HOLDS: 'true' })
    beforeAll(async () => {
      storage = await create()
      // One after the other: only the first makes the signing keys.
      for (let i = 0; i < processes; i++) worlds.push(await start())
    })
    afterAll(async () => {
      await Promise.all(worlds.map((world) => world.kill()))
      await endEngines()
    })
    /** The processes in turn. */
    const world = (i: number): World => worlds[i % worlds.length]!
    const spread = <T>(count: number, act: (world: World, i: number) => Promise<T>): Promise<T[]> =>
      Promise.all(Array.from({ length: count }, (_, i) => act(world(i), i)))
    const newProject = (at: World, as: SignedIn): Promise<Reply<Entity>> =>
      at.ask('POST', '/api/projects', { as, body: { name: 'P' } })
    const newTask = (at: World, as: SignedIn, projectId: string): Promise<Reply<Entity>> =>
      at.ask('POST', '/api/tasks', { as, body: { projectId, title: 'T' } })
    const patch = (at: World, as: SignedIn, id: string, body: object): Promise<Reply<Entity>> =>
      at.ask('PATCH', `/api/tasks/${id}`, { as, body })
    const send = (at: World, as: SignedIn, id: string, headers = {}): Promise<Reply<Entity>> =>
      at.ask('POST', `/api/projects/${id}/conversation/messages`, { as, body: { text: 'Hello' }, headers })
    const outputs = async (at: World, as: SignedIn, id: string): Promise<string[]> =>
      (await at.ask<{ output: string }[]>('GET', `/api/tasks/${id}/revisions`, { as })).body.map(({ output }) => output)

    it('leave nothing in a project that is deleted while things are made in it', async () => {
      const ada = await world(0).signedIn()
      let madeTasks = 0
      for (let i = 0; i < (thorough ? 30 : 5); i++) {
        const { id } = (await newProject(world(i), ada)).body
        const [tasks, messages, removed] = await Promise.all([
          spread(6, (at) => newTask(at, ada, id)),
          spread(4, (at) => send(at, ada, id)),
          sleep(i % 5).then(() => world(i + 1).ask('DELETE', `/api/projects/${id}`, { as: ada })),
        ])
        expect(removed.status).toBe(204)
        for (const { status } of [...tasks, ...messages]) expect([200, 404]).toContain(status)
        const made = tasks.filter(({ status }) => status === 200)
        madeTasks += made.length
        for (const { body } of made)
          expect((await world(i).ask('GET', `/api/tasks/${body.id}`, { as: ada })).status).toBe(404)
        const left = (await world(0).call<[string[], unknown][]>('dump')).filter(([key]) => key.includes(id))
        expect(left).toEqual([])
      }
      expect(madeTasks).toBeGreaterThan(0)
      expect(await world(0).call('verify')).toEqual([])
    })

    it('keep all of 50 changes of a task at once', async () => {
      const ada = await world(0).signedIn()
      const task = (await newTask(world(0), ada, (await newProject(world(0), ada)).body.id)).body.id
      const fields = [{ status: 'running' }, { draft_output: 'draft' }, { review_comments: 'comments' }]
      const replies = await spread(50, (at, i) => patch(at, ada, task, fields[i] ?? { output: `${i}` }))
      expect(replies.map(({ status }) => status)).toEqual(Array(50).fill(200))
      const { body } = await world(1).ask<object>('GET', `/api/tasks/${task}`, { as: ada })
      const [latest] = await outputs(world(0), ada, task)
      expect(body).toMatchObject(Object.assign({ output: latest }, ...fields) as object)
      expect((await outputs(world(1), ada, task)).toSorted()).toEqual(
        Array.from({ length: 47 }, (_, i) => `${i + 3}`).toSorted(),
      )
    })

    it('never exceed the plan', async () => {
      const ada = await world(0).signedIn()
      const made = await spread(20, (at) => newProject(at, ada))
      expect(made.map(({ status }) => status).toSorted()).toEqual([...Array(LIMIT).fill(200), ...Array(17).fill(403)])
      const { body } = await world(1).ask<Entity[]>('GET', '/api/projects', { as: ada })
      expect(body).toHaveLength(LIMIT)
      await world(0).ask('DELETE', `/api/projects/${body[0]!.id}`, { as: ada })
      expect((await newProject(world(1), ada)).status).toBe(200)
      expect(await world(0).call('verify')).toEqual([])
    })

    /** Sends requests with a key and tags, until it is told to stop or the process is killed. */
    const spending = async (
      at: World,
      key: string,
      tags: Record<string, string>[],
      stop: AbortSignal,
    ): Promise<void> => {
      for (let i = 0; !stop.aborted; i++)
        try {
          const headers = tags[i % tags.length]!
          await at.ask('POST', '/v1/chat/completions', { as: key, body: { ...chat, stream: i % 3 === 0 }, headers })
        } catch {
          return
        }
    }
    const sumOf = (records: Usage[]) => ({
      requests: records.length,
      total_tokens: records.reduce((all, { tokens }) => all + tokens, 0),
      cost_nano_usd: records.reduce((all, { cost_nano_usd }) => all + cost_nano_usd, 0),
    })
    /** What projects and tasks have used is the sum of the records that name them. */
    const expectExact = async (as: SignedIn, project: string, task: string): Promise<void> => {
      const records = (await world(0).call<[string[], Usage[]][]>('dump'))
        .filter(([key]) => key[0] === 'usage' && key.length === 3)
        .flatMap(([, value]) => value)
        .filter(({ user_id }) => user_id === as.id)
      for (const [path, own] of [
        [`/api/projects/${project}/spend`, records.filter(({ project_id }) => project_id === project)],
        [`/api/tasks/${task}/spend`, records.filter(({ task_id }) => task_id === task)],
      ] as const) {
        const { cost_nano_usd, ...sums } = sumOf(own)
        const { body } = await world(0).ask<{ cost_usd: number }>('GET', path, { as })
        expect(body).toMatchObject(sums)
        expect(Math.round(body.cost_usd * 1e9)).toBe(cost_nano_usd)
        expect(own.length).toBeGreaterThan(5)
      }
    }

    it('add up what a project has used', async () => {
      const [ada, bob] = [await world(0).signedIn('developer'), await world(0).signedIn('developer')]
      const key = (await world(0).newKey(ada, { name: 'k', rateLimit: 100_000 })).body.key!
      const project = (await newProject(world(0), ada)).body.id
      const task = (await newTask(world(0), ada, project)).body.id
      const foreign = (await newProject(world(0), bob)).body.id
      const tags = [
        { 'x-task-id': task },
        { 'x-project-id': project },
        { 'x-project-id': foreign },
        { 'x-project-id': project, 'x-task-id': task },
        {},
      ]
      const stop = new AbortController()
      const work = worlds.flatMap((at) => [1, 2, 3].map(() => spending(at, key, tags, stop.signal)))
      for (let i = 0; i < 6; i++) {
        await send(world(i), ada, project, { accept: 'text/event-stream' })
        await patch(world(i), ada, task, { output: `${i}` })
      }
      stop.abort()
      await Promise.all(work)
      await expectExact(ada, project, task)
      const spend = (path: string, as: SignedIn) => world(0).ask<Spend>('GET', path, { as })
      // Foreign tags are recorded, and count for nobody.
      expect((await spend(`/api/projects/${foreign}/spend`, bob)).body.requests).toBe(0)
      expect((await spend(`/api/projects/${project}/spend`, bob)).status).toBe(404)
      const { revisions, since, ...all } = (await spend(`/api/tasks/${task}/spend`, ada)).body
      const parts = [...revisions!, since!]
      expect(parts).toHaveLength(7)
      expect(parts.reduce((sum, { requests }) => sum + requests, 0)).toBe(all.requests)
      expect(Math.round(parts.reduce((sum, { cost_usd }) => sum + cost_usd * 1e9, 0))).toBe(
        Math.round(all.cost_usd * 1e9),
      )
      expect(await world(0).call('verify')).toEqual([])
    })

    it.skipIf(processes === 1)('lose nothing that was acknowledged when one is killed', async () => {
      const ada = await world(0).signedIn('developer')
      const key = (await world(0).newKey(ada, { name: 'k', rateLimit: 100_000 })).body.key!
      const [large, project] = [(await newProject(world(0), ada)).body.id, (await newProject(world(0), ada)).body.id]
      await world(0).call('addTasks', ada.id, large, CHILDREN)
      const tasks = await Promise.all([1, 2, 3].map(async () => (await newTask(world(0), ada, project)).body.id))
      const killed = new AbortController()
      const changed = new Map<string, string[]>(tasks.map((id) => [id, []]))
      const changing = async (at: World, id: string) => {
        for (let i = 0; !killed.signal.aborted; i++)
          try {
            const output = `${at.pid} ${i}`
            if ((await patch(at, ada, id, { output })).status === 200) changed.get(id)!.push(output)
          } catch {
            return
          }
      }
      // Replies that never end, whose first chunk came, and so their messages were stored.
      const messages: string[] = []
      world(1).fault = () => ({
        status: 200,
        headers: { 'content-type': 'text/event-stream' },
        body: (async function* () {
          const choices = [{ index: 0, delta: { role: 'assistant', content: 'So far' }, finish_reason: null }]
          const head = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1, model: 'gpt-4o-mini' }
          yield `data: ${JSON.stringify({ ...head, choices })}\n\n`
          await new Promise(() => undefined)
        })(),
      })
      const replying = [1, 2, 3].map(async () => {
        const response = await fetch(`${world(1).url}/api/projects/${project}/conversation/messages`, {
          method: 'POST',
          headers: {
            accept: 'text/event-stream',
            'content-type': 'application/json',
            authorization: `Bearer ${ada.access}`,
          },
          body: JSON.stringify({ text: 'Hello' }),
        })
        messages.push(response.headers.get('x-message-id')!, response.headers.get('x-reply-id')!)
        await response.text().catch(() => undefined)
      })
      await expect.poll(() => messages.length, { timeout: 10_000 }).toBe(6)
      world(1).fault = undefined
      const work = worlds.flatMap((at) => [
        ...tasks.map((id) => changing(at, id)),
        spending(at, key, [{ 'x-project-id': project }, { 'x-task-id': tasks[0]! }], killed.signal),
      ])
      await expect.poll(() => [...changed.values()].flat().length, { timeout: 20_000 }).toBeGreaterThan(60)
      const removing = world(1)
        .ask('DELETE', `/api/projects/${large}`, { as: ada })
        .catch(() => undefined)
      // The first commit made it unreachable; its children follow.
      const status = async () => (await world(0).ask('GET', `/api/projects/${large}`, { as: ada })).status
      await expect.poll(status, { timeout: 10_000, interval: 1 }).toBe(404)
      await world(1).kill()
      killed.abort()
      await Promise.all([...work, ...replying, removing])

      const left = async () =>
        (await world(0).call<[string[], unknown][]>('dump')).filter(([key]) => key.includes(large)).length
      expect(await left()).toBeGreaterThan(100)
      worlds[1] = await start()
      expect((await newTask(world(1), ada, large)).status).toBe(404)
      expect(await world(1).call('finishRemovals')).toBe(1)
      expect(await left()).toBe(0)
      await world(1).call('sweep')
      expect(await world(1).call('endAbandoned', true)).toBe(3)
      expect(await world(0).call('verify')).toEqual([])
      for (const [id, known] of changed) expect(await outputs(world(1), ada, id)).toEqual(expect.arrayContaining(known))
      const conversation = await world(1).ask<{ messages: { id: string; state?: string }[] }>(
        'GET',
        `/api/projects/${project}/conversation`,
        { as: ada },
      )
      expect(conversation.body.messages.map(({ id }) => id).toSorted()).toEqual(messages.toSorted())
      expect(conversation.body.messages.filter(({ state }) => state === 'failed')).toHaveLength(3)
      await expectExact(ada, project, tasks[0]!)
    })
  })
})

interface Spend {
  requests: number
  cost_usd: number
  revisions?: Spend[]
  since?: Spend
}
