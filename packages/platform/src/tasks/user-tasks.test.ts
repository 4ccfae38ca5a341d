import type { KV } from '@turnpike/core'
import { memoryKV } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { expect, it } from 'vitest'
import { inProject } from '../projects/stored-projects.js'
import { indexOf } from './task-index.js'
import type { TaskFilter } from './user-tasks.js'
import { listUserTasks } from './user-tasks.js'

const COUNT = 3_000

/** A store with tasks, of which each hundredth is of the second agent. */
async function withTasks(): Promise<{ kv: KV; lists: () => number }> {
  const kv = await memoryKV()
  const tasks = Array.from({ length: COUNT }, (_, i) => ({
    id: uuidv7(i + 1),
    project_id: 'p',
    status: 'scheduled',
    assigned_agent_id: i % 100 === 0 ? 2 : 1,
  })) as never[]
  const set = tasks.flatMap((task: Parameters<typeof indexOf>[1]) => [
    indexOf('ada', task),
    { key: inProject('p', 'task', task.id), value: task as object },
  ])
  await kv.commit({ set: set as never })
  let lists = 0
  const counted: KV = { ...kv, list: (...given) => (lists++, kv.list(...given)) as never }
  return { kv: counted, lists: () => lists }
}

const read = async (kv: KV, filter: TaskFilter, page: { limit: number; after?: string | undefined }) => {
  const { items, next } = await listUserTasks(kv, [{ userId: 'ada' }], filter, page)
  return { ids: items.map(({ id }) => id), next }
}

it('reads a page of one in few steps, however rare the tasks are', async () => {
  const { kv, lists } = await withTasks()
  const { ids } = await read(kv, { status: 'scheduled', assigned_agent_id: 9 }, { limit: 1 })
  expect(ids).toEqual([])
  expect(lists()).toBeLessThan(16)
})

it('leaves out no task between pages of any size', async () => {
  const { kv } = await withTasks()
  for (const limit of [1, 7, 100]) {
    const all: string[] = []
    for (let after: string | undefined; ;) {
      const { ids, next } = await read(kv, { assigned_agent_id: 2 }, { limit, after })
      expect(ids.length).toBeLessThanOrEqual(limit)
      all.push(...ids)
      if (next === undefined) break
      after = next
    }
    expect([limit, all.length, new Set(all).size]).toEqual([limit, COUNT / 100, COUNT / 100])
    expect(all).toEqual(all.toSorted().toReversed())
  }
})

it('threat 59: reads one list of what others share at a time', async () => {
  const kv = await memoryKV()
  const projects = ['01900000-0000-7000-8000-000000000001', '01900000-0000-7000-8000-000000000002']
  const output = 'x'.repeat(128_000)
  await kv.commit({
    set: projects.map((project_id, i) => {
      const id = `0190000${i}-0000-7000-8000-00000000000a`
      return { key: inProject(project_id, 'task', id), value: { id, project_id, status: 'done', output } }
    }),
  })
  let running = 0
  let most = 0
  const counting: KV = {
    ...kv,
    async list(...given) {
      most = Math.max(most, ++running)
      const page = await kv.list(...given)
      running--
      return page as never
    },
  }
  const of = projects.map((sharedProjectId) => ({ sharedProjectId }))
  const { items } = await listUserTasks(counting, of, {}, { limit: 1 })
  expect([items.map(({ output }) => output), most]).toEqual([[output], 1])
})

it('threat 165: leaves out no task of several projects, of which some have more bytes than a page', async () => {
  const kv = await memoryKV()
  const texts = ['x'.repeat(300_000), '']
  const tasks = Array.from({ length: 40 }, (_, i) => ({
    id: uuidv7(i + 1),
    // The newest are of the project of large ones, but for the last.
    project_id: i < 5 || i === 39 ? 'small' : 'large',
    status: i === 20 ? 'waiting_approval' : 'done',
    output: texts[i < 5 || i === 39 ? 1 : 0],
  }))
  await kv.commit({ set: tasks.map((task) => ({ key: inProject(task.project_id, 'task', task.id), value: task })) })
  const of = ['large', 'small'].map((sharedProjectId) => ({ sharedProjectId }))
  const waiting = await listUserTasks(kv, of, { status: 'waiting_approval' }, {})
  expect(waiting.items.map(({ id }) => id)).toEqual([tasks[20]!.id])

  const all: string[] = []
  for (let after: string | undefined; ;) {
    const { items, next } = await listUserTasks(kv, of, {}, { after })
    all.push(...items.map(({ id }) => id))
    if (next === undefined) break
    after = next
  }
  expect(all).toEqual(tasks.map(({ id }) => id).toReversed())

  const refusal = new Error('No more')
  const check = (): never => {
    throw refusal
  }
  await expect(listUserTasks(kv, of, { status: 'waiting_approval' }, {}, check)).rejects.toBe(refusal)
})
