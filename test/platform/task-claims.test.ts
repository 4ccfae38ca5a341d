import { expect, it } from 'vitest'
import type { Task } from './work.js'
import { newProject, newTask, newWork, pagesOf } from './work.js'
import type { SignedIn } from './world.js'
import { worldSuite } from './world.js'

/** What workers need to share tasks: lists over all projects, entity tags, and changes of what was read only. */
worldSuite('claims of tasks', (world) => {
  const patch = (as: SignedIn, { id }: Task, body: object, ifMatch: string) =>
    world().ask<Task>('PATCH', `/api/tasks/${id}`, { as, body, headers: { 'if-match': ifMatch } })
  const tagOf = ({ updated_at }: Task): string => `"${updated_at}"`

  it('are given to one of many', async () => {
    const { as, task } = await newWork(world())
    const { headers, body } = await world().ask<Task>('GET', `/api/tasks/${task.id}`, { as })
    const etag = headers.get('etag')!
    expect(etag).toBe(tagOf(body))
    const claims = await Promise.all(Array.from({ length: 20 }, () => patch(as, task, { status: 'running' }, etag)))
    const [won, ...lost] = claims.toSorted((a, b) => a.status - b.status)
    expect([won!.status, won!.headers.get('etag')]).toEqual([200, tagOf(won!.body)])
    for (const { status, body } of lost)
      expect([status, body]).toEqual([
        412,
        { error: `This was changed since it was read: its ETag is ${tagOf(won!.body)} now` },
      ])
  })

  it('hold as RFC 9110 says', async () => {
    const { as, task } = await newWork(world())
    for (const [ifMatch, status] of [
      [`W/${tagOf(task)}`, 412],
      ['"other"', 412],
      [`"other", ${tagOf(task)}`, 200],
      [tagOf(task), 412],
      ['*', 200],
    ] as const)
      expect([ifMatch, (await patch(as, task, { draft_output: 'A' }, ifMatch)).status]).toEqual([ifMatch, status])
    // Somebody else learns nothing, whatever the tag.
    expect((await patch(await world().signedIn(), task, { draft_output: 'B' }, tagOf(task))).status).toBe(403)
  })

  it('are made of tasks of all projects, by status and agent', async () => {
    const ada = await world().signedIn()
    const projects = [await newProject(world(), ada), await newProject(world(), ada)]
    const tasks: Task[] = []
    for (let i = 0; i < 12; i++)
      tasks.unshift(await newTask(world(), ada, projects[i % 2]!.id, { assignedAgentId: i % 3 === 0 ? null : i % 3 }))
    await newWork(world())
    const list = async (query: string, as = ada): Promise<string[]> => {
      const { status, body } = await world().ask<Task[]>('GET', `/api/tasks?${query}`, { as })
      expect(status).toBe(200)
      return body.map(({ id }) => id)
    }
    const idsOf = (which: (task: Task) => boolean) => tasks.filter(which).map(({ id }) => id)
    const running = new Set([tasks[1]!.id, tasks[4]!.id])
    for (const id of running) await world().ask('PATCH', `/api/tasks/${id}`, { as: ada, body: { status: 'running' } })
    for (const [query, which] of [
      ['', () => true],
      ['status=running', ({ id }) => running.has(id)],
      ['status=done', () => false],
      ['status=scheduled&assignedAgentId=1', (one) => !running.has(one.id) && one.assigned_agent_id === 1],
      ['assignedAgentId=2', (one) => one.assigned_agent_id === 2],
      [
        `projectId=${projects[0]!.id}&status=scheduled`,
        (one) => one.project_id === projects[0]!.id && !running.has(one.id),
      ],
    ] as [string, (task: Task) => boolean][]) {
      expect([query, await list(query)]).toEqual([query, idsOf(which)])
      const pages = await pagesOf<Task>(world(), ada, `/api/tasks?${query}`, 2)
      expect([query, pages.flat().map(({ id }) => id)]).toEqual([query, idsOf(which)])
    }
    const { status } = await world().ask('GET', `/api/tasks?projectId=${projects[0]!.id}&status=done`, {
      as: await world().signedIn(),
    })
    expect(status).toBe(404)
    expect((await world().ask('GET', '/api/tasks?status=over', { as: ada })).status).toBe(400)
    await world().ask('DELETE', `/api/projects/${projects[1]!.id}`, { as: ada })
    expect(await list('')).toEqual(idsOf((one) => one.project_id === projects[0]!.id))
    expect(await world().call('verify')).toEqual([])
  })

  it('begin with a poll, which is a 304 until a task of any project changes', async () => {
    const { as, task } = await newWork(world())
    const read = (etag?: string) =>
      world().ask('GET', '/api/tasks?status=scheduled', { as, headers: etag ? { 'if-none-match': etag } : {} })
    let etag = (await read()).headers.get('etag')!
    for (const change of [
      () => newTask(world(), as, task.project_id),
      () => patch(as, task, { draft_output: 'A' }, '*'),
      async () => newTask(world(), as, (await newProject(world(), as)).id),
      () => world().ask('DELETE', `/api/projects/${task.project_id}`, { as }),
    ]) {
      expect((await read(etag)).status).toBe(304)
      await change()
      const { status, headers } = await read(etag)
      expect(status).toBe(200)
      etag = headers.get('etag')!
    }
  })
})
