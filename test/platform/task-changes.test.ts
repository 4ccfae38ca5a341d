import { expect, it } from 'vitest'
import type { Revision, Task } from './work.js'
import { lostIds, made, newWork, pagesOf, patchTask } from './work.js'
import type { Reply, SignedIn, World } from './world.js'
import { aTime, unknownId, uuid, worldSuite } from './world.js'

/** platform.md 2.3, items 114 to 124, and what belongs to them: changing tasks, their revisions and status. */
worldSuite('changes of tasks', (world) => {
  const ask: World['ask'] = (...request) => world().ask(...request)
  const get = async (as: SignedIn, id: string): Promise<Task> =>
    made(await ask<Task>('GET', `/api/tasks/${id}`, { as }))
  const patch = (as: SignedIn | undefined, id: string, body: unknown): Promise<Reply<Task>> =>
    patchTask(world(), as, id, body)
  const revisions = async (as: SignedIn, id: string): Promise<Revision[]> =>
    made(await ask<Revision[]>('GET', `/api/tasks/${id}/revisions`, { as }))
  const outputs = async (as: SignedIn, id: string): Promise<string[]> =>
    (await revisions(as, id)).map(({ output }) => output)
  const missing = { error: 'There is no such task' }

  it('#114 makes a revision of an output', async () => {
    const { as, task } = await newWork(world())
    const { status, body } = await patch(as, task.id, { output: 'one' })
    expect([status, body]).toEqual([200, { ...task, output: 'one', updated_at: body.updated_at }])
    expect(await revisions(as, task.id)).toEqual([
      { id: uuid, task_id: task.id, output: 'one', created_at: body.updated_at },
    ])
  })

  it('#115 makes none of the same output', async () => {
    const { as, task } = await newWork(world())
    for (const body of [{ output: 'one' }, { output: 'one' }, { output: 'one', status: 'done' }])
      expect((await patch(as, task.id, body)).status).toBe(200)
    expect(await outputs(as, task.id)).toEqual(['one'])
  })

  it('#116 makes one of each other output, and lists the newest first', async () => {
    const { as, task } = await newWork(world())
    await world().call('stopClock', true)
    try {
      for (const output of ['one', 'two', '', 'one', null, 'one']) await patch(as, task.id, { output })
    } finally {
      await world().call('stopClock', false)
    }
    // An empty text is one, and null is none.
    expect(await outputs(as, task.id)).toEqual(['one', 'one', '', 'two', 'one'])
    const all = await revisions(as, task.id)
    const times = all.map(({ created_at }) => created_at)
    expect([...new Set(times)]).toEqual(times.toSorted().toReversed())
    expect(await pagesOf(world(), as, `/api/tasks/${task.id.toUpperCase()}/revisions`, 2)).toEqual([
      all.slice(0, 2),
      all.slice(2, 4),
      all.slice(4),
    ])
  })

  it('#117 makes none of a draft', async () => {
    const { as, task } = await newWork(world())
    const changes = { draft_output: 'draft', review_comments: 'comments', status: 'waiting_approval' }
    const { body } = await patch(as, task.id, changes)
    expect(body).toEqual({ ...task, ...changes, updated_at: body.updated_at })
    expect(await revisions(as, task.id)).toEqual([])
    // Nor is the draft the output, as long as nobody says so.
    await patch(as, task.id, { status: 'done' })
    expect(await get(as, task.id)).toMatchObject({ output: null, draft_output: 'draft', status: 'done' })
  })

  it('#118 has exactly the 4 fields in a revision', async () => {
    const { as, task } = await newWork(world())
    await patch(as, task.id, { output: 'one', draft_output: 'two', review_comments: 'c' })
    const [revision] = await revisions(as, task.id)
    expect(Object.keys(revision!).toSorted()).toEqual(['created_at', 'id', 'output', 'task_id'])
    expect(revision).toEqual({ id: uuid, task_id: task.id, output: 'one', created_at: aTime })
  })

  it("#119 changes no task of somebody else's", async () => {
    const { as: ada, task } = await newWork(world())
    for (const as of [await world().signedIn(), await world().signedIn('admin')]) {
      const { status, body } = await patch(as, task.id, { status: 'done', output: 'mine' })
      expect([status, body]).toEqual([403, { error: "This task is somebody else's" }])
    }
    for (const id of [unknownId, ...lostIds]) {
      const { status, body } = await patch(ada, id, { status: 'done' })
      expect([id, status, body]).toEqual([id, 404, missing])
    }
    expect((await patch(undefined, task.id, { status: 'done' })).status).toBe(401)
    expect([await get(ada, task.id), await revisions(ada, task.id)]).toEqual([task, []])
  })

  it("#120 shows no revisions of somebody else's", async () => {
    const { as: ada, task } = await newWork(world())
    await patch(ada, task.id, { output: 'one' })
    for (const as of [await world().signedIn(), await world().signedIn('admin')])
      for (const id of [task.id, unknownId, ...lostIds]) {
        const { status, body } = await ask('GET', `/api/tasks/${id}/revisions`, { as })
        expect([id, status, body]).toEqual([id, 404, missing])
      }
    expect((await ask('GET', `/api/tasks/${task.id}/revisions`)).status).toBe(401)
  })

  it('#121 has an empty list where there are no revisions', async () => {
    const { as, task } = await newWork(world())
    for (const body of [{}, { output: null }, { status: 'done' }]) await patch(as, task.id, body)
    const { status, body } = await ask('GET', `/api/tasks/${task.id}/revisions`, { as })
    expect([status, body]).toEqual([200, []])
  })

  it('#122 tells the status in short: to the owner 200, to others 404, to nobody 401', async () => {
    const { as, task } = await newWork(world())
    const { updated_at } = (await patch(as, task.id, { status: 'running', output: 'a long text' })).body
    const path = `/api/tasks/${task.id}/status`
    const { status, body } = await ask('GET', path, { as })
    expect([status, body]).toEqual([200, { id: task.id, status: 'running', updated_at }])
    const whole = await get(as, task.id)
    expect(JSON.stringify(body).length).toBeLessThan(JSON.stringify(whole).length / 2)
    expect(JSON.stringify(body)).not.toContain('output')
    for (const other of [await world().signedIn(), await world().signedIn('admin')]) {
      const reply = await ask('GET', path, { as: other })
      expect([reply.status, reply.body]).toEqual([404, missing])
    }
    for (const id of [unknownId, ...lostIds])
      expect([id, (await ask('GET', `/api/tasks/${id}/status`, { as })).status]).toEqual([id, 404])
    expect((await ask('GET', path)).status).toBe(401)
  })

  it('#123 loses none of 50 changes at once', async () => {
    const { as, task } = await newWork(world())
    const others = { status: 'waiting_approval', draft_output: 'draft', review_comments: 'comments' }
    const changes = [
      ...Object.entries(others).map(([name, value]) => ({ [name]: value })),
      ...Array.from({ length: 47 }, (_, i) => ({ output: `${i}` })),
    ]
    const replies = await Promise.all(changes.map((change) => patch(as, task.id, change)))
    expect(replies.map(({ status, body }) => [status, body])).toEqual(
      changes.map((change) => [200, expect.objectContaining(change) as Task]),
    )
    // One after the other: each has its own time, and every output its revision.
    expect(new Set(replies.map(({ body }) => body.updated_at)).size).toBe(50)
    const last = await get(as, task.id)
    expect(last).toMatchObject(others)
    const made = await outputs(as, task.id)
    expect(made.toSorted()).toEqual(Array.from({ length: 47 }, (_, i) => `${i}`).toSorted())
    expect(made[0]).toBe(last.output)
    expect(await world().call('verify')).toEqual([])
  })

  it('#124 keeps an output of 1 MB as it is', async () => {
    const { as, project, task } = await newWork(world())
    const output = '𠜎é"\\\n '.repeat(100_000)
    expect(Buffer.byteLength(output)).toBeGreaterThanOrEqual(1_000_000)
    const { status, body } = await patch(as, task.id, { output, draft_output: output })
    expect([status, body.output === output, body.draft_output === output]).toEqual([200, true, true])
    expect((await get(as, task.id)).output === output).toBe(true)
    expect((await outputs(as, task.id))[0] === output).toBe(true)
    const results = await ask<{ output: string }[]>('GET', `/api/results?projectId=${project.id}`, { as })
    expect(results.body[0]!.output === output).toBe(true)
  })

  it('clears texts by null, and leaves what is absent', async () => {
    const { as, task } = await newWork(world())
    const texts = { output: 'o', draft_output: 'd', review_comments: 'r' }
    await patch(as, task.id, texts)
    const left: Record<string, string | null> = { ...texts }
    for (const name of Object.keys(texts)) {
      left[name] = null
      expect((await patch(as, task.id, { [name]: null })).body).toMatchObject(left)
      expect(await get(as, task.id)).toMatchObject(left)
    }
    expect(await outputs(as, task.id)).toEqual(['o'])
  })

  it('takes draftOutput and reviewComments where the names in snake_case are absent', async () => {
    const { as, task } = await newWork(world())
    const camel = await patch(as, task.id, { draftOutput: 'd', reviewComments: 'r' })
    expect(camel.body).toMatchObject({ draft_output: 'd', review_comments: 'r' })
    const both = await patch(as, task.id, {
      draftOutput: 'x',
      draft_output: null,
      reviewComments: 'x',
      review_comments: 's',
    })
    expect(both.body).toMatchObject({ draft_output: null, review_comments: 's' })
    expect((await patch(as, task.id, { draftOutput: 1 })).status).toBe(400)
  })

  it('changes nothing by what it does not know, or may not change', async () => {
    const { as, task } = await newWork(world())
    const stored = () => world().call('dump')
    const before = await stored()
    const other = { title: 'x', description: 'x', project_id: unknownId, projectId: unknownId, assigned_agent_id: 9 }
    const time = '2000-01-01T00:00:00.000Z'
    const more = { id: unknownId, requires_user_approval: true, created_at: time, updated_at: time, result: 'x', x: 1 }
    for (const body of [{}, { ...other, ...more }]) {
      const { status, body: after } = await patch(as, task.id.toUpperCase(), body)
      expect([status, after]).toEqual([200, task])
    }
    expect(await stored()).toEqual(before)
    // What was read, with a change, can be sent as a whole.
    const { body } = await patch(as, task.id, { ...task, status: 'done' })
    expect(body).toEqual({ ...task, status: 'done', updated_at: body.updated_at })
  })

  it('tells what is wrong with a body to the owner only', async () => {
    const { as: ada, task } = await newWork(world())
    const stranger = await world().signedIn()
    for (const body of ['{', '[]', '', { status: 'other' }, { output: 1 }, { draft_output: ['x'] }]) {
      const id = task.id
      const replies = [await patch(undefined, id, body), await patch(stranger, id, body)]
      replies.push(await patch(stranger, unknownId, body), await patch(ada, id, body))
      expect([body, replies.map(({ status }) => status)]).toEqual([body, [401, 403, 404, 400]])
    }
    expect(await get(ada, task.id)).toEqual(task)
  })

  it('takes bodies of up to 8 MiB', async () => {
    const { as, task } = await newWork(world())
    const stranger = await world().signedIn()
    const most = 'x'.repeat(8 * 1024 * 1024)
    const text = most.slice(0, 1024 * 1024)
    expect((await patch(as, task.id, { output: text, draft_output: text, review_comments: text })).status).toBe(200)
    expect((await patch(as, task.id, { output: most })).status).toBe(413)
    expect((await patch(stranger, task.id, { output: most })).status).toBe(403)
    expect((await get(as, task.id)).output === text).toBe(true)
    const create = { projectId: task.project_id, title: 'A', description: text }
    expect((await ask('POST', '/api/tasks', { as, body: create })).status).toBe(413)
  })

  it('takes texts of up to 1,048,576 characters', async () => {
    const { as, task } = await newWork(world())
    const text = 'x'.repeat(1024 * 1024 + 1)
    for (const field of ['output', 'draft_output', 'review_comments'])
      expect((await patch(as, task.id, { [field]: text })).status).toBe(400)
    expect((await get(as, task.id)).output).toBe(null)
  })
})
