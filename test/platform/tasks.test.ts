import { expect, it } from 'vitest'
import type { Task } from './work.js'
import { lostIds, made, newProject, newTask, newWork, pagesOf, patchTask } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { aTime, unknownId, uuid, worldSuite } from './world.js'

/** platform.md 2.3, items 101 to 113, and what belongs to them: making, listing and reading tasks, and their status. */
worldSuite('tasks', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const get = async (as: SignedIn, id: string): Promise<Task> =>
    made(await ask<Task>('GET', `/api/tasks/${id}`, { as }))
  const list = async (as: SignedIn, projectId: string): Promise<Task[]> =>
    made(await ask<Task[]>('GET', `/api/tasks?projectId=${projectId}`, { as }))
  const create = (as: SignedIn | undefined, body: object): Promise<Reply<Task>> =>
    ask<Task>('POST', '/api/tasks', { as, body })
  /** Expects 400 for each body, and that it makes nothing. */
  const refuses = async (bodyOf: (projectId: string) => object[]): Promise<void> => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada)
    for (const body of bodyOf(id)) {
      const reply = await create(ada, body)
      expect([body, reply.status, reply.body]).toEqual([body, 400, { error: expect.any(String) as string }])
    }
    expect(await list(ada, id)).toEqual([])
  }

  it('#101 makes a task by a project and a title, with every field', async () => {
    const ada = await world().signedIn()
    const { id: projectId } = await newProject(world(), ada)
    const { status, body } = await create(ada, { projectId, title: 'A' })
    const task = {
      id: uuid,
      project_id: projectId,
      title: 'A',
      description: null,
      status: 'scheduled',
      assigned_agent_id: null,
      requires_user_approval: false,
      output: null,
      draft_output: null,
      review_comments: null,
      created_at: aTime,
      updated_at: body.created_at,
    }
    expect([status, body, Object.keys(body).length]).toEqual([200, task, 12])
    expect(await get(ada, body.id)).toEqual(body)
    const given = { projectId, title: 'B', description: 'd', assignedAgentId: 2, requiresUserApproval: true }
    const whole = (await create(ada, given)).body
    expect(whole).toEqual({
      ...task,
      title: 'B',
      description: 'd',
      assigned_agent_id: 2,
      requires_user_approval: true,
      updated_at: whole.created_at,
    })
    expect(await list(ada, projectId)).toEqual([whole, body])
  })

  it('#102 requires no approval by default', async () => {
    const { as, project, task } = await newWork(world())
    expect(task.requires_user_approval).toBe(false)
    for (const [requiresUserApproval, wanted] of [
      [null, false],
      [false, false],
      [true, true],
    ])
      expect((await newTask(world(), as, project.id, { requiresUserApproval })).requires_user_approval).toBe(wanted)
  })

  it('#103 has null for what is not given', async () => {
    const { as, project, task } = await newWork(world())
    const [output, draft_output, review_comments, description, assigned_agent_id] = Array<null>(5).fill(null)
    const nothing = { output, draft_output, review_comments, description, assigned_agent_id }
    expect(task).toMatchObject(nothing)
    // Nor can a new task be given an output, a draft or comments.
    const sent = { output: 'x', draft_output: 'x', draftOutput: 'x', review_comments: 'x', description: null }
    expect(await newTask(world(), as, project.id, { ...sent, assignedAgentId: null })).toMatchObject(nothing)
  })

  it('#104 has one of the five statuses: scheduled', async () => {
    const { as, project, task } = await newWork(world())
    const other = await newTask(world(), as, project.id, { status: 'done', requiresUserApproval: true })
    expect([task.status, other.status]).toEqual(['scheduled', 'scheduled'])
  })

  it('#105 refuses a body without a title', () =>
    refuses((projectId) =>
      [undefined, null, '', ' ', '\n\t', 1, ['A'], 'x'.repeat(1_001)].map((title) => ({ projectId, title })),
    ))
  it('#106 refuses a body without a project', () =>
    refuses(() => [{}, ...[undefined, null, 1, {}, ['x']].map((projectId) => ({ projectId, title: 'A' }))]))

  const missing = { error: 'There is no such project' }

  it('#107 answers 404 for an unknown project', async () => {
    const ada = await world().signedIn()
    for (const projectId of [unknownId, '', ...lostIds]) {
      const { status, body } = await create(ada, { projectId, title: 'A' })
      expect([projectId, status, body]).toEqual([projectId, 404, missing])
    }
    expect((await create(undefined, { projectId: unknownId, title: 'A' })).status).toBe(401)
  })

  it("#108 answers 404 for somebody else's project, as for an unknown one", async () => {
    const { as: ada, project } = await newWork(world())
    const before = await list(ada, project.id)
    for (const as of [await world().signedIn(), await world().signedIn('admin')]) {
      const { status, body } = await create(as, { projectId: project.id, title: 'A' })
      expect([status, body]).toEqual([404, missing])
    }
    expect(await list(ada, project.id)).toEqual(before)
  })

  it('#109 refuses an agent that is no integer', () =>
    refuses((projectId) =>
      [1.5, '1', true, [1], {}, 2 ** 53].map((assignedAgentId) => ({ projectId, title: 'A', assignedAgentId })),
    ))
  it('#110 refuses an approval that is neither true nor false', () =>
    refuses((projectId) =>
      ['yes', 'true', 1, 0, {}].map((requiresUserApproval) => ({ projectId, title: 'A', requiresUserApproval })),
    ))

  it('#111 reads an own task, and knows no other', async () => {
    const { as: ada, task } = await newWork(world())
    for (const id of [task.id, task.id.toUpperCase()]) {
      const { status, body } = await ask('GET', `/api/tasks/${id}`, { as: ada })
      expect([status, body]).toEqual([200, task])
    }
    const others = [await world().signedIn(), await world().signedIn('admin')]
    for (const [as, id] of [
      ...others.map((as) => [as, task.id] as const),
      ...[unknownId, ...lostIds].map((id) => [ada, id] as const),
    ]) {
      const { status, body } = await ask('GET', `/api/tasks/${id}`, { as })
      expect([id, status, body]).toEqual([id, 404, { error: 'There is no such task' }])
    }
    expect((await ask('GET', `/api/tasks/${task.id}`)).status).toBe(401)
  })

  const statuses = ['scheduled', 'running', 'done', 'failed', 'waiting_approval']

  it('#112 takes each of the five statuses, after each other one', async () => {
    const ada = await world().signedIn()
    const { id: projectId } = await newProject(world(), ada)
    const task = await newTask(world(), ada, projectId, { requiresUserApproval: true })
    for (const from of statuses)
      for (const to of statuses)
        for (const sent of [from, to]) {
          const { status, body } = await patchTask(world(), ada, task.id, { status: sent })
          expect([status, body]).toEqual([200, { ...task, status: sent, updated_at: body.updated_at }])
          expect(await get(ada, task.id)).toEqual(body)
        }
  })

  it('#113 refuses another status, and changes nothing', async () => {
    const { as, task } = await newWork(world())
    for (const status of ['cancelled', 'Done', '', 'waiting-approval', 'toString', null, 1, ['done']]) {
      const { status: got, body } = await patchTask(world(), as, task.id, { status, output: 'x', draft_output: 'x' })
      expect([status, got, body]).toEqual([status, 400, { error: expect.any(String) as string }])
    }
    expect(await get(as, task.id)).toEqual(task)
  })

  it('takes the names in snake_case where those in camelCase are absent', async () => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada)
    const snake = { project_id: id, assigned_agent_id: 3, requires_user_approval: true }
    expect((await create(ada, { ...snake, title: 'A' })).body).toMatchObject(snake)
    const both = { projectId: id, assignedAgentId: null, requiresUserApproval: false }
    const { body } = await create(ada, { ...snake, ...both, project_id: unknownId, title: 'A' })
    expect(body).toMatchObject({ project_id: id, assigned_agent_id: null, requires_user_approval: false })
    expect((await create(ada, { project_id: id, title: 'A', assigned_agent_id: '1' })).status).toBe(400)
    // A project by an id in upper case, and what is read-only.
    const sent = { projectId: id.toUpperCase(), id: unknownId, status: 'done', created_at: '2000-01-01T00:00:00.000Z' }
    const task = await newTask(world(), ada, id, sent)
    expect([task.project_id, task.id === unknownId, task.created_at === sent.created_at]).toEqual([id, false, false])
  })

  it('lists the tasks of a project, newest first, whole or in pages', async () => {
    const { as: ada, project, task } = await newWork(world())
    // More than are read at a time.
    await world().call('addTasks', ada.id, project.id, 900)
    const last = await newTask(world(), ada, project.id)
    const all = await list(ada, project.id)
    expect([all.length, all[0], all[901]]).toEqual([902, last, task])
    const times = all.map(({ created_at }) => created_at)
    expect(times).toEqual(times.toSorted().toReversed())
    expect(new Set(all.map(({ id }) => id)).size).toBe(902)
    const path = `/api/tasks?projectId=${project.id}`
    expect((await pagesOf<Task>(world(), ada, path, 400)).map(({ length }) => length)).toEqual([400, 400, 102])
    expect((await pagesOf<Task>(world(), ada, path, 451)).flat()).toEqual(all)

    const stranger = await world().signedIn('admin')
    for (const query of [project.id, unknownId, 'x', `${project.id}&limit=1`, `${project.id}&after=${task.id}`]) {
      const { status, body } = await ask('GET', `/api/tasks?projectId=${query}`, { as: stranger })
      expect([query, status, body]).toEqual([query, 404, missing])
    }
    for (const query of ['?project_id=x', `?projectId=${project.id}&limit=0`])
      expect([query, (await ask('GET', `/api/tasks${query}`, { as: ada })).status]).toEqual([query, 400])
  })
})
