import type { Commit, KV } from '@turnpike/core'
import { createUser, entriesOf, memoryKV } from '@turnpike/core'
import { totalsOf } from '@turnpike/core/internal'
import { beforeEach, describe, expect, it } from 'vitest'
import { finishPurges } from '../projects/purges.js'
import { createProject } from '../projects/stored-projects.js'
import type { Task } from '../schemas.js'
import { verifyPlatform } from '../verify/verify.js'
import type { ChangeOfTask } from './stored-tasks.js'
import { createTask, deleteTask, getTask, listRevisions, taskUpdates } from './stored-tasks.js'

const START = Date.UTC(2026, 0, 2)
const limits = { projects: null, agents: null, tasks: null, bytes: Infinity }
const projectFields = { name: 'P', team_type: 'custom', color: '#64748b', description: null } as const
const taskFields = { title: 'T', description: null, assigned_agent_id: null, requires_user_approval: false }

let kv: KV
let user: string
let id: string
let commits: Commit[]
/** Ends the commit that has begun, or does something in place of it. */
let go: ((instead?: () => Promise<boolean>) => void) | undefined
/** Changes the task, in a store whose commits begin and end one at a time. */
let update: (change: ChangeOfTask) => Promise<Task>

const updates = (store: KV, bytes = Infinity) =>
  taskUpdates(() => store, { used: async () => totalsOf(), bytes, now: () => START })
function opened(bytes?: number): void {
  const slow: KV = {
    ...kv,
    async commit(commit) {
      const instead = await new Promise<(() => Promise<boolean>) | undefined>((resolve) => (go = resolve))
      commits.push(commit)
      return instead ? instead() : kv.commit(commit)
    },
  }
  const change = updates(slow, bytes)
  update = (to) => change(user, id, to)
}
const begun = () => expect.poll(() => go).toBeDefined()
async function step(instead?: () => Promise<boolean>): Promise<void> {
  await begun()
  const end = go!
  go = undefined
  end(instead)
}

beforeEach(async () => {
  kv = await memoryKV()
  commits = []
  go = undefined
  user = (await createUser(kv, { name: 'Ada' }, { now: START })).id
  const project = await createProject(kv, user, projectFields, { agents: 2, limits, now: START })
  id = (await createTask(kv, user, project.id, taskFields, { limits, now: START })).id
  opened()
})

const revisions = async () => (await listRevisions(kv, user, id)).items.map(({ output }) => output)
const results = async () => {
  let count = 0
  for await (const { key } of entriesOf(kv)) if (key.includes('result')) count++
  return count
}
const problems = async () => {
  const all: string[] = []
  for await (const problem of verifyPlatform(kv)) all.push(problem)
  return all
}

it('threat 98: changes of somebody else get into no queue of the owner, whatever ids users have', async () => {
  const [owner, other] = ['ldap ada', 'ada']
  const project = await createProject(kv, owner, projectFields, { agents: 2, limits, now: START })
  const { id: salaries } = await createTask(kv, owner, project.id, taskFields, { limits, now: START })
  const change = updates(kv)
  const outcomes = await Promise.allSettled([
    change(owner, salaries, () => ({ draft_output: 'the draft' })),
    change(other, `${salaries} ldap`, () => ({ output: 'of another' })),
    change(other, salaries, () => ({ output: 'of another' })),
  ])
  expect(outcomes).toMatchObject([
    { value: { draft_output: 'the draft', output: null } },
    { reason: { status: 404 } },
    { reason: { status: 403 } },
  ])
  expect(await getTask(kv, owner, salaries)).toMatchObject({ draft_output: 'the draft', output: null })
})

describe('changes of one task at once', () => {
  it('are applied one after the other, by two commits', async () => {
    const append = (text: string) => update(({ output }) => ({ output: (output ?? '') + text }))
    const all = ['a', 'b', 'c', 'd'].map(append)
    await step()
    await step()
    const views = await Promise.all(all)
    expect(views.map(({ output }) => output)).toEqual(['a', 'ab', 'abc', 'abcd'])
    expect(views.map(({ updated_at }) => Date.parse(updated_at) - START)).toEqual([1, 2, 3, 4])
    expect(commits).toHaveLength(2)
    expect(await getTask(kv, user, id)).toEqual(views[3])
    expect(await revisions()).toEqual(['abcd', 'abc', 'ab', 'a'])
    expect(await results()).toBe(1)
    expect(await problems()).toEqual([])
  })

  it('leave no result where the last one has no output', async () => {
    const all = ['a', 'b', null].map((output) => update(() => ({ output })))
    await step()
    await step()
    await Promise.all(all)
    expect(await revisions()).toEqual(['b', 'a'])
    expect(await results()).toBe(0)
    expect(await problems()).toEqual([])
  })

  it('fail each for itself', async () => {
    const outcomes = Promise.allSettled([
      update(() => ({ output: 'a' })),
      update(() => ({ output: 'b' })),
      update(() => Promise.reject(new Error('Not allowed'))),
      update(({ output }) => ({ draft_output: output })),
      update(() => ({})),
    ])
    await step()
    await step()
    expect(
      (await outcomes).map((one) => (one.status === 'fulfilled' ? one.value.draft_output : one.reason.message)),
    ).toEqual([null, null, 'Not allowed', 'b', 'b'])
  })

  it('are all applied again where another process was faster', async () => {
    const append = (text: string) => update(({ output }) => ({ output: (output ?? '') + text }))
    const all = Promise.allSettled([
      append('a'),
      append('b'),
      update(({ output, draft_output }) => {
        if (draft_output === null) throw new Error('Not yet')
        return { output: `${output}${draft_output}` }
      }),
    ])
    await step()
    await step(async () => {
      await updates(kv)(user, id, () => ({ output: 'x', draft_output: 'c' }))
      return false
    })
    await step()
    expect((await all).map((one) => (one.status === 'fulfilled' ? one.value.output : one.reason))).toEqual([
      'a',
      'xb',
      'xbc',
    ])
    expect(await revisions()).toEqual(['xbc', 'xb', 'x', 'a'])
    expect(await problems()).toEqual([])
  })

  it('go on after a commit that failed', async () => {
    const failed = Promise.allSettled(['a', 'b'].map((output) => update(() => ({ output }))))
    await step(() => Promise.reject(new Error('Disk full')))
    await begun()
    const next = update(({ output }) => ({ draft_output: `${output}` }))
    await step(() => Promise.reject(new Error('Disk full')))
    await step()
    expect((await failed).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(await next).toMatchObject({ output: null, draft_output: 'null' })
  })

  it('grow the data by no more than the plan has, together', async () => {
    const { bytes } = (await kv.get<{ bytes: number }>(['owned', user]))!.value
    opened(bytes + 40_000)
    const all = Promise.allSettled(
      Array.from({ length: 5 }, (_, i) => update(() => ({ output: `${i}`.repeat(10_000) }))),
    )
    await step()
    await step()
    expect((await all).map(({ status }) => status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
    ])
    expect(await revisions()).toHaveLength(2)
    expect(await problems()).toEqual([])
  })

  it('are made by several commits where they are large', async () => {
    const all = Array.from({ length: 5 }, (_, i) => update(() => ({ output: `${i}`.repeat(400_000) })))
    for (let i = 0; i < 3; i++) await step()
    await Promise.all(all)
    expect(commits.map(({ set }) => set!.filter(({ key }) => key.includes('revision')).length)).toEqual([1, 2, 2])
    expect(await problems()).toEqual([])
  })

  it('are told that there is no such task', async () => {
    await expect(updates(kv)(user, 'x', () => ({}))).rejects.toMatchObject({ status: 404 })
  })
})

describe('a task that is deleted', () => {
  const owned = async () => (await kv.get<{ tasks: number; bytes: number }>(['owned', user]))!.value

  it('takes its result, its revisions and its bytes with it, and leaves others', async () => {
    const { project_id } = await getTask(kv, user, id)
    const before = await owned()
    const other = await createTask(kv, user, project_id, taskFields, { limits, now: START })
    for (const output of ['one', 'two', null, 'three']) await updates(kv)(user, other.id, () => ({ output }))
    await deleteTask(kv, user, other.id)
    expect(await owned()).toEqual(before)
    await expect(getTask(kv, user, other.id)).rejects.toMatchObject({ status: 404 })
    await expect(deleteTask(kv, user, other.id)).rejects.toMatchObject({ status: 404 })
    for await (const { key } of entriesOf(kv)) expect(key).not.toContain(other.id)
    expect(await getTask(kv, user, id)).toMatchObject({ id })
    expect(await problems()).toEqual([])
  })

  it('while it is being changed is gone, with all that came of that', async () => {
    const change = update(() => ({ output: 'one' }))
    await begun()
    await deleteTask(kv, user, id)
    await step()
    await expect(change).rejects.toMatchObject({ status: 404 })
    expect(await owned()).toMatchObject({ tasks: 0 })
    expect(await problems()).toEqual([])
  })

  it('by a process that ends meanwhile has revisions that the next one removes', async () => {
    await updates(kv)(user, id, () => ({ output: 'one' }))
    const ending: KV = { ...kv, list: () => Promise.reject(new Error('The process ends')) }
    await expect(deleteTask(ending, user, id)).rejects.toThrow('The process ends')
    expect(await problems()).toEqual([])
    expect(await finishPurges(kv)).toBe(1)
    for await (const { key } of entriesOf(kv)) expect(key).not.toContain(id)
    expect(await problems()).toEqual([])
  })
})
