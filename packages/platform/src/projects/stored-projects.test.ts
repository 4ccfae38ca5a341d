import type { Commit, KV, UsageTotals } from '@turnpike/core'
import { createUser, entriesOf, memoryKV } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { totalsOf } from '@turnpike/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'
import { addMessages, clearConversation, lastMessages } from '../conversations/stored-conversations.js'
import { reserveSpace } from '../files/file-space.js'
import { createTask, listRevisions, taskUpdates } from '../tasks/stored-tasks.js'
import { verifyPlatform } from '../verify/verify.js'
import { finishPurges } from './purges.js'
import { listProjects } from './shared-projects.js'
import { createProject, deleteProject, updateProject } from './stored-projects.js'

const START = Date.UTC(2026, 0, 2)
const NO_LIMIT = { projects: null, agents: null, tasks: null, bytes: Infinity }
const AT = { limits: NO_LIMIT, bytes: Infinity, now: START }
/** Where large writes depend on the count of bytes. */
const NEAR = { ...AT, limits: { ...NO_LIMIT, bytes: 500_000 }, bytes: 500_000 }
const fields = { name: 'P', team_type: 'custom', color: '#64748b', description: null } as const
const task = { title: 'T', description: null, assigned_agent_id: null, requires_user_approval: false }
const used = async (): Promise<UsageTotals> => totalsOf()

let kv: KV
let commits: Commit[]
/** Runs before the next commit of {@link racing}. */
let before: (() => Promise<unknown>) | undefined
/** The store, for the one whose commits come late. */
let racing: KV
let user: string
beforeEach(async () => {
  kv = await memoryKV()
  commits = []
  before = undefined
  racing = {
    ...kv,
    async commit(commit) {
      const first = before
      before = undefined
      await first?.()
      commits.push(commit)
      return kv.commit(commit)
    },
  }
  user = (await createUser(kv, { name: 'Ada' }, { now: START })).id
})
const newProject = (store: KV = kv) =>
  createProject(store, user, fields, { agents: 2, limits: NO_LIMIT, now: START }).then(({ id }) => id)
const change = (store: KV, id: string, changes: object, now = () => START) =>
  taskUpdates(() => store, { used, bytes: Infinity, now })(user, id, () => changes)
const problems = async () => {
  const all: string[] = []
  for await (const problem of verifyPlatform(kv)) all.push(problem)
  return all
}
const left = async (id: string) => {
  const all: string[] = []
  for await (const { key } of entriesOf(kv)) if (key.includes(id)) all.push(key.join(' '))
  return all
}

describe('a project that is deleted between reading and writing', () => {
  it.each<[string, (id: string, taskId: string) => Promise<unknown>]>([
    ['a task', (id) => createTask(racing, user, id, task, AT)],
    ['a message', (id) => addMessages(racing, user, id, [{ role: 'user', text: 'x' }], AT)],
    ['a change', (_, taskId) => change(racing, taskId, { output: 'x' })],
    ['a cleared conversation', (id) => clearConversation(racing, user, id, { now: START })],
    ['a change of its own', (id) => updateProject(racing, user, id, { name: 'N' }, { limits: NO_LIMIT, now: START })],
  ])('gets no %s', async (_, write) => {
    const id = await newProject()
    const { id: taskId } = await createTask(kv, user, id, task, AT)
    await addMessages(kv, user, id, [{ role: 'user', text: 'x' }], AT)
    before = () => deleteProject(kv, user, id)
    await expect(write(id, taskId)).rejects.toMatchObject({ status: 404 })
    expect(await left(id)).toEqual([])
    expect(await problems()).toEqual([])
  })
})

describe('the plan', () => {
  const limited = (store: KV, limits: { projects: number | null; agents: number | null }) =>
    createProject(store, user, fields, { agents: 2, limits: { ...NO_LIMIT, ...limits }, now: START })

  it.each([
    { projects: 1, agents: null },
    { projects: null, agents: 3 },
  ])('is not exceeded by two at once: %j', async (limits) => {
    before = () => limited(kv, limits)
    await expect(limited(racing, limits)).rejects.toMatchObject({ status: 403 })
    expect((await listProjects(kv, user)).items).toHaveLength(1)
    expect(await problems()).toEqual([])
  })

  it('takes agents back with the project or its team', async () => {
    const limits = { ...NO_LIMIT, agents: 4 }
    const { id } = await limited(kv, limits)
    await expect(
      updateProject(kv, user, id, { team_type: 'research' }, { agents: 5, limits, now: START }),
    ).rejects.toMatchObject({ status: 403 })
    await updateProject(kv, user, id, { team_type: 'research' }, { agents: 4, limits, now: START })
    await expect(limited(kv, limits)).rejects.toMatchObject({ status: 403 })
    await deleteProject(kv, user, id)
    await limited(kv, limits)
    expect(await problems()).toEqual([])
  })
})

describe('many writes at once', () => {
  it.each<[string, (store: KV, id: string, taskId: string) => Promise<unknown>]>([
    ['changes of a task', (store, _, taskId) => change(store, taskId, { draft_output: 'x'.repeat(1_000) })],
    ['changes of a project', (store, id) => updateProject(store, user, id, { name: 'N' }, NEAR)],
    ['messages', (store, id) => addMessages(store, user, id, [{ role: 'user', text: 'x'.repeat(1_000) }], NEAR)],
    ['tasks', (store, id) => createTask(store, user, id, { ...task, description: 'x'.repeat(1_000) }, NEAR)],
    [
      'uploads',
      async (store) => {
        const id = uuidv7()
        const upload = { id, user_id: user, storage_key: id, bytes: 0, since: new Date(START).toISOString() }
        await reserveSpace(store, upload, { least: 1, most: 1, quota: 1_000, dataBytes: NEAR.limits.bytes })
      },
    ],
    ['projects', (store) => createProject(store, user, { ...fields, description: 'x' }, { agents: 2, ...NEAR })],
  ])('take about two commits each: %s', async (_, write) => {
    const id = await newProject()
    const { id: taskId } = await createTask(kv, user, id, task, AT)
    await addMessages(kv, user, id, [{ role: 'user', text: 'x' }], AT)
    // Each commit takes a turn of the event loop, as over a network.
    const slow: KV = {
      ...kv,
      async commit(commit) {
        await new Promise(setImmediate)
        commits.push(commit)
        return kv.commit(commit)
      },
    }
    await Promise.all(Array.from({ length: 50 }, () => write(slow, id, taskId)))
    expect(commits.length).toBeLessThan(3 * 50)
    expect(await problems()).toEqual([])
  })
})

describe('a deletion', () => {
  it('takes commits of bounded size, and goes on where it was cut off', async () => {
    const id = await newProject()
    for (let i = 0; i < 250; i++) await createTask(kv, user, id, task, AT)
    const other = await newProject()
    await createTask(kv, user, other, task, AT)
    let done = 0
    const failing: KV = {
      ...kv,
      commit: async (commit) => {
        if (++done > 2) throw new Error('The process ends')
        return kv.commit(commit)
      },
    }
    await expect(deleteProject(failing, user, id)).rejects.toThrow('The process ends')
    await expect(createTask(kv, user, id, task, AT)).rejects.toMatchObject({ status: 404 })
    expect(await problems()).toEqual([])
    expect((await left(id)).length).toBeGreaterThan(100)
    expect(await finishPurges(racing)).toBe(1)
    expect(await left(id)).toEqual([])
    // Each of the tasks has three entries.
    for (const { del } of commits) expect(del!.length).toBeLessThanOrEqual(300)
    expect(await finishPurges(kv)).toBe(0)
    expect((await left(other)).length).toBeGreaterThan(2)
    expect(await problems()).toEqual([])
  })
})

describe('a task', () => {
  it('is changed by one commit, revision and result included', async () => {
    const { id } = await createTask(kv, user, await newProject(), task, AT)
    await change(racing, id, { output: 'one', status: 'done' })
    expect(commits).toHaveLength(1)
    expect(commits[0]!.set!.map(({ key }) => key[2])).toEqual(['task', 'revision', 'done', 'result'])
    await change(racing, id, {})
    expect(commits).toHaveLength(1)
  })

  it('keeps two changes at once', async () => {
    const { id } = await createTask(kv, user, await newProject(), task, AT)
    before = () => change(kv, id, { draft_output: 'draft' })
    expect(await change(racing, id, { output: 'one' })).toMatchObject({ output: 'one', draft_output: 'draft' })
  })

  it('has another time after each change, also by a clock that stands', async () => {
    const made = await createTask(kv, user, await newProject(), task, AT)
    const times = [made.updated_at]
    for (const output of ['one', 'two', 'one']) times.push((await change(kv, made.id, { output })).updated_at)
    expect(new Set(times).size).toBe(4)
    expect(times).toEqual(times.toSorted())
    const { items } = await listRevisions(kv, user, made.id)
    expect(items.map(({ output }) => output)).toEqual(['one', 'two', 'one'])
  })
})

describe('messages', () => {
  it('have the last ones on the first page, in their order', async () => {
    const id = await newProject()
    for (const text of ['1', '2', '3']) await addMessages(kv, user, id, [{ role: 'user', text }], AT)
    const { conversation } = await addMessages(kv, user, id, [{ role: 'user', text: '4' }], AT)
    const { items, next } = await lastMessages(kv, conversation, { limit: 3 })
    expect(items.map(({ text }) => text)).toEqual(['2', '3', '4'])
    expect((await lastMessages(kv, conversation, { limit: 3, after: next })).items.map(({ text }) => text)).toEqual([
      '1',
    ])
  })
})

describe('verifyPlatform', () => {
  it.each<[string, (id: string, taskId: string) => Commit, string]>([
    ['a task that is not found', (_, t) => ({ del: [['task', t]] }), 'is not found by its id'],
    ['a task without its project', (id) => ({ del: [['project', id]] }), 'which is not there'],
    ['a task that is gone', (id, t) => ({ del: [['in-project', id, 'task', t]] }), 'is not in its project'],
    ['a missing list entry', (id) => ({ del: [['user-projects', user, id]] }), 'is not found by its user'],
    ['a wrong count', () => ({ sum: [{ key: ['project-slots', user], add: { projects: 1 } }] }), 'miscounted'],
    [
      'a wrong count of tasks',
      (id) => ({ sum: [{ key: ['in-project', id, 'task-count'], add: { tasks: 1 } }] }),
      'are miscounted',
    ],
    [
      'a wrong count of the tasks of a user',
      () => ({ sum: [{ key: ['owned', user], add: { tasks: 1 } }] }),
      'The tasks of user',
    ],
    [
      'a message of another conversation',
      (id) => ({ del: [['in-project', id, 'conversation']] }),
      'in no conversation',
    ],
    ['another owner', (id, t) => ({ set: [{ key: ['task', t], value: { user_id: 'bob', project_id: id } }] }), 'bob'],
  ])('finds %s', async (_, damage, problem) => {
    const id = await newProject()
    const { id: taskId } = await createTask(kv, user, id, task, AT)
    await change(kv, taskId, { output: 'one' })
    await addMessages(kv, user, id, [{ role: 'user', text: 'x' }], AT)
    expect(await problems()).toEqual([])
    await kv.commit(damage(id, taskId))
    expect((await problems()).join('\n')).toContain(problem)
  })
})
