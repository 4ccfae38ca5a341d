import { expect, it, vi } from 'vitest'
import { scriptedTask } from '../../../test/support/agent.js'
import { failure } from '../../../test/support/client.js'
import { chunk, streamed } from '../../../test/support/gateway.js'
import type { AgentEvent, Task, WorkTasksOptions } from './index.js'
import { workTasks } from './index.js'

/** Some tasks, and workers of them with a lease of 0.7 seconds. */
async function tasksToDo(count: number) {
  const at = await scriptedTask(() => ({ text: 'Done', calls: [] }))
  for (let i = 1; i < count; i++) {
    at.pass(1)
    await at.turnpike.post('/api/tasks', { body: { projectId: at.project.id, title: `${i}` } })
  }
  const controller = new AbortController()
  const events: [string, AgentEvent][] = []
  const begin = (options: Partial<WorkTasksOptions> = {}) =>
    workTasks({
      client: at.turnpike,
      agents: () => ({ model: 'gpt-4o' }),
      lease: 0.7,
      poll: 0.02,
      signal: controller.signal,
      onEvent: ({ title }, event) => void events.push([title, event]),
      ...options,
    })
  const list = async (status: Task['status']) => (await at.turnpike.list('/api/tasks', { query: { status } })).items
  return { ...at, controller, events, begin, list }
}

it('workers share tasks: each is done once, oldest first', async () => {
  const { begin, list, controller, events, upstream } = await tasksToDo(20)
  const work = [begin({ concurrency: 2 }), begin({ concurrency: 2 })]
  await expect.poll(async () => (await list('done')).length).toBe(20)
  controller.abort()
  await Promise.all(work)
  expect(upstream.requests).toHaveLength(20)
  const ended = events.filter(([, { type }]) => type === 'end').map(([title]) => title)
  expect(new Set(ended).size).toBe(20)
  expect(ended.slice(0, 4)).toContain('Weather')
})

it('no more tasks are worked on at a time than they may, and those that nobody does stay', async () => {
  const { begin, list, controller, state } = await tasksToDo(6)
  state.fault = () => streamed(chunk('A'), new Promise(() => undefined))
  const work = begin({ concurrency: 3, agents: ({ title }) => (title === '1' ? undefined : { model: 'gpt-4o' }) })
  await expect.poll(async () => (await list('running')).length).toBe(3)
  await new Promise((resolve) => setTimeout(resolve, 200))
  expect((await list('running')).map(({ title }) => title)).toEqual(['3', '2', 'Weather'])
  controller.abort()
  await work
  expect(await list('scheduled')).toHaveLength(6)
})

it('threat 196: a task for which a function of the host fails keeps nobody from the others, nor does a listener', async () => {
  const { begin, list, controller } = await tasksToDo(3)
  const onError = vi.fn(async () => Promise.reject(new Error('The log is full')))
  const agents: WorkTasksOptions['agents'] = ({ title }) => {
    if (title === 'Weather') throw new Error('No such agent')
    return { model: 'gpt-4o' }
  }
  const onEvent = () => {
    throw new Error('Nobody listens')
  }
  const work = begin({ agents, onEvent, onError })
  await expect.poll(async () => (await list('done')).length).toBe(2)
  controller.abort()
  await work
  expect((await list('scheduled')).map(({ title }) => title)).toEqual(['Weather'])
  expect(onError).toHaveBeenCalledWith(new Error('No such agent'))
})

it('a task of a dead worker is taken up again once its lease is over, and not before', async () => {
  const { begin, change, list, controller, turnpike, task } = await tasksToDo(1)
  await change({ status: 'running', draft_output: 'Half' })
  const begun = performance.now()
  const work = begin()
  await expect.poll(async () => (await list('running')).length).toBe(0)
  expect(performance.now() - begun).toBeGreaterThan(700)
  expect(await turnpike.get('/api/tasks/{id}', { params: { id: task.id } })).toMatchObject({ status: 'done' })
  controller.abort()
  await work
})

it('a task whose worker waits for approval is not taken up', async () => {
  const { begin, list, controller, events, state } = await tasksToDo(1)
  state.script = (results) => ({
    text: 'Done',
    calls: results.length === 0 ? [{ id: 'a', name: 'ask', input: {} }] : [],
  })
  const tools = [{ name: 'ask', description: '', parameters: { type: 'object' as const }, run: () => 'Yes' }]
  // Twice a lease, which is long enough for a machine that is busy.
  const approve = () => new Promise<boolean>((resolve) => setTimeout(resolve, 4_000, true))
  const agents = () => ({ model: 'gpt-4o', tools, approve })
  const work = [begin({ agents, lease: 2 }), begin({ agents, lease: 2 })]
  await expect.poll(async () => (await list('done')).length).toBe(1)
  controller.abort()
  await Promise.all(work)
  expect(events.filter(([, { type }]) => type === 'call')).toHaveLength(1)
})

it('a task that the platform refuses does not end the work of the others', async () => {
  const { begin, list, controller, faults, task } = await tasksToDo(2)
  const isClaim = ({ method, url }: Request): boolean => method === 'PATCH' && url.endsWith(task.id)
  faults.push((request) => (isClaim(request) ? Response.json({ error: 'No' }, { status: 403 }) : undefined))
  const errors: unknown[] = []
  const work = begin({ onError: (error) => void errors.push(error) })
  await expect.poll(async () => (await list('done')).map(({ title }) => title)).toEqual(['1'])
  controller.abort()
  await work
  expect((await list('scheduled')).map(({ id }) => id)).toEqual([task.id])
  expect(errors[0]).toMatchObject({ status: 403 })
})

it('a poll asks for what has changed only', async () => {
  const { begin, controller, change, faults } = await tasksToDo(1)
  await change({ status: 'done' })
  const tags: (string | null)[] = []
  faults.push(({ url, headers }) => {
    if (url.includes('?status=')) tags.push(headers.get('if-none-match'))
    return undefined
  })
  const work = begin()
  await expect.poll(() => tags.length).toBeGreaterThan(6)
  controller.abort()
  await work
  expect(tags.slice(0, 2)).toEqual([null, null])
  expect(tags.slice(2)).not.toContain(null)
})

it('errors are told and tried again, and a refused token ends the work', async () => {
  const { begin, list, faults, controller } = await tasksToDo(1)
  const onError = vi.fn()
  let status = 500
  faults.push(({ url }) =>
    status && url.includes('?status=') ? Response.json({ error: 'Down' }, { status }) : undefined,
  )
  const work = begin({ onError })
  await expect.poll(() => onError.mock.calls.length).toBeGreaterThan(1)
  status = 0
  await expect.poll(async () => (await list('done')).length).toBe(1)
  status = 403
  expect(await failure(work)).toMatchObject({ status: 403 })
  controller.abort()
})

it('tasks of others that are shared are done only where that is wanted, and the user may change them', async () => {
  const { begin, list, controller, turnpike, newClient, platform, pass } = await tasksToDo(1)
  const eve = { email: 'eve@example.org', password: 'a long password of eve' }
  await platform.operations.users.create(eve)
  const other = newClient()
  await other.signIn(eve)
  const titles = ['editor', 'reader'] as const
  for (const role of titles) {
    pass(1)
    const { id } = await other.post('/api/projects', { body: { name: 'Of Eve' } })
    await other.post('/api/tasks', { body: { projectId: id, title: role } })
    await other.put('/api/projects/{id}/members', { params: { id }, body: { email: 'ada@example.org', role } })
  }
  for (const { id: memberId, project_id } of await turnpike.get('/api/account/shares'))
    await turnpike.post('/api/projects/{id}/members/{memberId}/accept', { params: { id: project_id, memberId } })
  const scheduled = async () => (await list('scheduled')).map(({ title }) => title)
  expect(await scheduled()).toEqual(['reader', 'editor', 'Weather'])

  // Eve's worker does not do what an editor of her project has made.
  const [{ project_id: projectId }] = (await turnpike.list('/api/tasks', { query: { role: 'editor' } })).items as [Task]
  pass(1)
  await turnpike.post('/api/tasks', { body: { projectId, title: 'by an editor' } })
  const ended = new AbortController()
  const agents = ({ title }: Task) => (title === 'reader' ? undefined : { model: 'gpt-4o' })
  const eves = begin({ client: other, agents, signal: ended.signal })
  await expect.poll(async () => (await list('done')).map(({ title }) => title)).toEqual(['editor'])
  ended.abort()
  await eves
  expect(await scheduled()).toEqual(['by an editor', 'reader', 'Weather'])

  const first = new AbortController()
  const own = begin({ signal: first.signal })
  await expect.poll(async () => (await list('done')).length).toBe(2)
  first.abort()
  await own
  expect(await scheduled()).toEqual(['by an editor', 'reader'])
  const all = begin({ shared: true })
  await expect.poll(async () => (await list('done')).length).toBe(3)
  controller.abort()
  await all
  expect(await scheduled()).toEqual(['reader'])
})
