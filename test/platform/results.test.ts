import { expect, it } from 'vitest'
import type { Task } from './work.js'
import { lostIds, made, newProject, newTask, newWork, pagesOf, patchTask } from './work.js'
import type { SignedIn, World } from './world.js'
import { unknownId, worldSuite } from './world.js'

interface Result {
  id: string
  project_id: string
  task_id: string
  title: string
  output: string
  created_at: string
}

/** The routes of tasks that are ours: their results, and polling. */
worldSuite('results and polling', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const results = async (as: SignedIn, projectId: string): Promise<Result[]> =>
    made(await ask<Result[]>('GET', `/api/results?projectId=${projectId}`, { as }))
  const setOutput = async (as: SignedIn, { id }: { id: string }, output: string | null): Promise<Task> =>
    made(await patchTask(world(), as, id, { output }))
  const resultOf = ({ id, project_id, title, output, updated_at }: Task): Result => ({
    id,
    project_id,
    task_id: id,
    title,
    output: output!,
    created_at: updated_at,
  })

  it('has a result for each task with an output, the last first that got it', async () => {
    const ada = await world().signedIn()
    const { id } = await newProject(world(), ada)
    expect(await results(ada, id)).toEqual([])
    const tasks: Task[] = []
    for (const title of ['one', 'two', 'three', 'four']) tasks.push(await newTask(world(), ada, id, { title }))
    const [one, two, three] = tasks as [Task, Task, Task]
    const [second, first] = [await setOutput(ada, two, 'b'), await setOutput(ada, one, '')]
    expect(await results(ada, id)).toEqual([resultOf(first), resultOf(second)])
    // What else changes of a task changes nothing here, and another output moves it to the front.
    await patchTask(world(), ada, two.id, { status: 'done', output: 'b', draft_output: 'c' })
    const third = await setOutput(ada, three, 'c')
    expect(await results(ada, id)).toEqual([resultOf(third), resultOf(first), resultOf(second)])
    const again = await setOutput(ada, two, 'd')
    const all = [resultOf(again), resultOf(third), resultOf(first)]
    expect(await results(ada, id)).toEqual(all)
    expect(await pagesOf(world(), ada, `/api/results?projectId=${id}`, 2)).toEqual([all.slice(0, 2), all.slice(2)])
    expect(await world().call('verify')).toEqual([])
  })

  it('has none of a task whose output was taken away', async () => {
    const { as: ada, project, task } = await newWork(world())
    const path = `/api/results/${task.id}`
    const missing = { error: 'There is no such result' }
    const before = await ask('GET', path, { as: ada })
    expect([before.status, before.body]).toEqual([404, missing])
    const result = resultOf(await setOutput(ada, task, 'a'))
    const found = await ask('GET', path.toUpperCase().replace('/API/RESULTS', '/api/results'), { as: ada })
    expect([found.status, found.body]).toEqual([200, result])
    await setOutput(ada, task, null)
    const after = await ask('GET', path, { as: ada })
    expect([after.status, after.body, await results(ada, project.id)]).toEqual([404, missing, []])
    const again = resultOf(await setOutput(ada, task, 'a'))
    expect(await results(ada, project.id)).toEqual([again])
    expect(again.created_at > result.created_at).toBe(true)
    expect(await world().call('verify')).toEqual([])
  })

  it("shows none of somebody else's", async () => {
    const { as: ada, project, task } = await newWork(world())
    await setOutput(ada, task, 'a')
    for (const as of [await world().signedIn(), await world().signedIn('admin')]) {
      for (const id of [task.id, unknownId, ...lostIds])
        expect([id, (await ask('GET', `/api/results/${id}`, { as })).status]).toEqual([id, 404])
      for (const id of [project.id, unknownId, 'x', `${project.id}&limit=5`])
        expect([id, (await ask('GET', `/api/results?projectId=${id}`, { as })).status]).toEqual([id, 404])
    }
    for (const query of ['', `?project_id=${project.id}`, `?projectId=${project.id}&limit=x`])
      expect([query, (await ask('GET', `/api/results${query}`, { as: ada })).status]).toEqual([query, 400])
  })

  it('answers 304 to a poll as long as nothing changes', async () => {
    const { as, task } = await newWork(world())
    const path = `/api/tasks/${task.id}/status`
    const poll = async (tag?: string) => {
      const { status, body, headers } = await ask('GET', path, {
        as,
        ...(tag !== undefined && { headers: { 'if-none-match': tag } }),
      })
      return { status, body: body as unknown, etag: headers.get('etag')!, caching: headers.get('cache-control') }
    }
    const first = await poll()
    const seen = [first.etag]
    expect(first).toEqual({
      status: 200,
      body: { id: task.id, status: task.status, updated_at: task.updated_at },
      etag: expect.stringMatching(/^"[^"]+"$/) as string,
      caching: 'private, no-cache',
    })
    // Each change is one, also where the clock stands still.
    await world().call('stopClock', true)
    try {
      for (const change of [{ status: 'running' }, { status: 'running' }, { draft_output: 'd' }, { output: 'o' }]) {
        const tag = seen.at(-1)!
        for (const same of [tag, `W/${tag}`, `"other", ${tag}`])
          expect(await poll(same)).toEqual({ status: 304, body: '', etag: tag, caching: 'private, no-cache' })
        const { updated_at, status } = (await patchTask(world(), as, task.id, change)).body
        const next = await poll(tag)
        expect(next).toMatchObject({ status: 200, body: { id: task.id, status, updated_at } })
        seen.push(next.etag)
      }
    } finally {
      await world().call('stopClock', false)
    }
    expect(new Set(seen).size).toBe(5)
    await patchTask(world(), as, task.id, {})
    expect((await poll(seen.at(-1))).status).toBe(304)
    // A tag lets nobody in.
    const headers = { 'if-none-match': seen.at(-1)! }
    expect((await ask('GET', path, { headers })).status).toBe(401)
    expect((await ask('GET', path, { headers, as: await world().signedIn('admin') })).status).toBe(404)
    const head = await ask('HEAD', path, { as })
    expect([head.status, head.body, head.headers.get('etag')]).toEqual([200, '', seen.at(-1)])
  })
})
