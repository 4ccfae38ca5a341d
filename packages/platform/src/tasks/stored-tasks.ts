import type { Commit, Entry, Key, KV, UsageTotals } from '@turnpike/core'
import { repeated, uuidv7 } from '@turnpike/core/helpers'
import { counting, growth, ownedKey } from '@turnpike/core/internal'
import { NEW_TASK_STATUS } from '../conventions.js'
import { batches } from '../conversations/batches.js'
import { notFound } from '../errors.js'
import type { Page, Paging } from '../pages.js'
import { newestFirst } from '../pages.js'
import type { Needed, StoredProject } from '../projects/project-access.js'
import { idOf, permitted, projectFor, projectNames, withOwned, withProject } from '../projects/project-access.js'
import { finishPurge, purgeOf } from '../projects/purges.js'
import type { TaskLimits } from '../projects/stored-projects.js'
import { commitInProject, countTask, inProject, limitFor, timeAfter } from '../projects/stored-projects.js'
import { Task, TaskRevision, viewOf } from '../schemas.js'
import { indexOf } from './task-index.js'

/** What can be given for a new task. */
export type NewTask = Pick<Task, 'title' | 'description' | 'assigned_agent_id' | 'requires_user_approval'>

/** What can be changed of a task. */
export type TaskChange = Partial<Pick<Task, 'status' | 'output' | 'draft_output' | 'review_comments'>>

/** A revision as stored, with what the task had used when it was made. */
export type StoredRevision = TaskRevision & { used: UsageTotals }

/** A task as stored with its project. */
export type StoredTask = Task & {
  /** The id of its latest revision and of its entry in the results of the project: a UUIDv7 of when its output was set. Absent without output. */
  result?: string
}

/** Whose the project of a task is, as stored under `task/<id>`. */
type Owner = {
  user_id: string
  project_id: string
}

const ownerKey = (id: string): Key => ['task', id]
export const taskKey = (projectId: string, id: string): Key => inProject(projectId, 'task', id)
const revisionsKey = (projectId: string, id: string): Key => inProject(projectId, 'revision', id)
const resultKey = (projectId: string, id: string): Key => inProject(projectId, 'result', id)

export const taskView = viewOf(Task)
export const revisionView = viewOf(TaskRevision)

/** A task and its project, in which the user has the role that is needed. @throws as {@link permitted}; 404 where there is none */
export async function taskFor(
  kv: KV,
  userId: string,
  id: string,
  needed?: Needed,
): Promise<{ project: Entry<StoredProject>; task: Entry<StoredTask> }> {
  const known = idOf(id)
  const owner = known === null ? null : await kv.get<Owner>(ownerKey(known))
  if (!owner) throw notFound('task')
  const { project_id } = owner.value
  const [found, task] = await withProject<StoredTask>(kv, project_id, taskKey(project_id, known!))
  // Without its project, a task is about to be deleted.
  const project = await permitted(kv, userId, found, 'task', needed)
  if (!task) throw notFound('task')
  return { project, task }
}

/**
 * The titles of tasks and their projects, in the order of `ids`; null of deleted ones, and the title of those behind 2 MiB of others, and of those
 * in projects in which the user has no role.
 */
export async function taskNames(
  kv: KV,
  userId: string,
  ids: string[],
): Promise<{ name: string | null; project_id: string | null }[]> {
  const owners = await kv.getMany<Owner>(ids.map(ownerKey))
  const live = owners.flatMap((owner, i) => (owner ? [taskKey(owner.value.project_id, ids[i]!)] : []))
  const tasks = await kv.getMany<StoredTask>(live, { page: true })
  const titles = new Map(tasks.map((task) => [task?.value.id, task?.value.title]))
  const projectIds = owners.map((owner) => owner?.value.project_id ?? null)
  const projects = await projectNames(kv, userId, projectIds)
  return ids.map((id, i) => ({
    name: projects[i] === null ? null : (titles.get(id) ?? null),
    project_id: projectIds[i]!,
  }))
}

/**
 * Creates a task in a project that the user may change, with the status `scheduled`. It counts as its owner's.
 * @throws ApiError 404 where there is no such project, or the user has no role in it; 403 for readers, and where it would be more than the limits
 */
export async function createTask(
  kv: KV,
  userId: string,
  projectId: string,
  fields: NewTask,
  { limits, now }: { limits: TaskLimits; now: number },
): Promise<Task> {
  return repeated(`data ${userId}`, async () => {
    const project = await projectFor(kv, userId, projectId, { least: 'editor' })
    const { id: project_id, user_id } = project.value
    const time = new Date(now).toISOString()
    const task: StoredTask = {
      id: uuidv7(now),
      project_id,
      ...fields,
      status: NEW_TASK_STATUS,
      output: null,
      draft_output: null,
      review_comments: null,
      created_at: time,
      updated_at: time,
      ...(userId !== user_id && { by_others: true }),
    }
    const set = [
      { key: ownerKey(task.id), value: { user_id, project_id } },
      { key: taskKey(project_id, task.id), value: task },
      indexOf(user_id, task),
    ]
    const tasks = limitFor(userId, project.value, limits.tasks)
    const bytes = limitFor(userId, project.value, limits.bytes)
    const counts = await countTask(kv, project, { tasks: 1, ...growth(set) }, { tasks, bytes })
    return (await commitInProject(kv, project, 'tasks', { set, ...counts })) ? taskView(task) : undefined
  })
}

/**
 * Deletes a task with its result and its revisions, for the owner of its project. What it has used stays in all sums.
 * @throws ApiError 404; 403 for members, and for somebody else's
 */
export async function deleteTask(kv: KV, userId: string, id: string): Promise<void> {
  const purge = await repeated(`data ${userId}`, async () => {
    const { project, task } = await taskFor(kv, userId, id, { least: 'owner', foreign: 403 })
    const { key, value, version } = task
    const { id: task_id, project_id } = value
    const leading = [{ key: ownerKey(task_id), value: { user_id: userId, project_id } }, indexOf(userId, value)]
    const gone = [task, ...leading, ...resultOf(value)]
    const purge = purgeOf(task_id, { user_id: userId, prefix: revisionsKey(project_id, task_id) })
    const counts = await countTask(kv, project, { tasks: -1, ...growth([], gone) })
    const deleted = await commitInProject(kv, project, 'tasks', {
      check: [{ key, version }, ...counts.check],
      set: [purge],
      del: gone.map(({ key }) => key),
      sum: counts.sum,
    })
    return deleted ? purge : undefined
  })
  await finishPurge(kv, purge)
}

/** A task that the user may read. @throws as {@link taskFor} */
export const getTask = async (kv: KV, userId: string, id: string): Promise<Task> =>
  taskView((await taskFor(kv, userId, id)).task.value)

/** The entry of a task in the results of its project. */
const resultOf = ({ id, project_id, result }: StoredTask): { key: Key; value: string }[] =>
  result === undefined ? [] : [{ key: resultKey(project_id, result), value: id }]

/** Entries that others do not have. @param of what of two is compared */
const without = <E>(entries: E[], others: E[], of: (entry: E) => unknown = (entry) => entry): E[] => {
  const known = new Set(others.map((other) => JSON.stringify(of(other))))
  return entries.filter((entry) => !known.has(JSON.stringify(of(entry))))
}

/** Gives a task the result of another output. @returns the revision, where the output is a text */
function revise(task: StoredTask, used: UsageTotals): NonNullable<Commit['set']> {
  const { id: task_id, project_id, output, updated_at: created_at } = task
  delete task.result
  if (output === null) return []
  // The time of each change of a task is later than that of the one before, and so are the ids of its revisions.
  const id = uuidv7(Date.parse(created_at))
  const revision: StoredRevision = { id, task_id, output, created_at, used }
  task.result = id
  return [{ key: [...revisionsKey(project_id, task_id), id], value: revision }]
}

/** The fields of a task that another has not, or other than it: those that both have may be megabytes, and need not be counted. */
const otherFields = (task: StoredTask, other: StoredTask): Partial<StoredTask> =>
  Object.fromEntries(Object.entries(task).filter(([name, value]) => other[name as keyof Task] !== value))

/** Gets the current task and returns what is different in the new one. */
export type ChangeOfTask = (task: Task) => TaskChange | Promise<TaskChange>

/** What changes of tasks depend on. */
export interface TaskUpdateOptions {
  /** What a task has used so far, for a revision. */
  used: (taskId: string) => Promise<UsageTotals>
  /** Bytes of data in all that the owner of the project may have. */
  bytes: number
  now: () => number
}

/** Bytes by which one commit may grow the data, unless one change does: the rest of the changes that wait are for the next. */
const GROWTH = 2 ** 20

/**
 * Makes changes of a task, each on what the one before has left, by one commit. Those for which there would be more than {@link GROWTH} are left out.
 * @returns the outcome of each
 * @throws ApiError 404, or 403 for somebody else's and for readers
 */
async function changeTask(
  kv: KV,
  userId: string,
  id: string,
  changes: ChangeOfTask[],
  { used, bytes, now }: TaskUpdateOptions,
): Promise<PromiseSettledResult<Task>[]> {
  return repeated(`data ${userId}`, async () => {
    const reading = taskFor(kv, userId, id, { least: 'editor', foreign: 403 })
    const { project, task, owned: entry } = await withOwned(kv, userId, reading)
    const { user_id: owner } = project.value
    const { key, version, value: before } = task
    /** The entries by which a task is found in lists: by its status, and in the results of its project. */
    const foundBy = (one: StoredTask) => [indexOf(owner, one), ...resultOf(one)]
    const outcomes: PromiseSettledResult<Task>[] = []
    const revisions: NonNullable<Commit['set']> = []
    const limits = { bytes: limitFor(userId, project.value, bytes) }
    let current = before
    let more = 0
    let counts: Required<Pick<Commit, 'check' | 'sum'>> = { check: [], sum: [] }
    for (const change of changes)
      try {
        const fields = await change(taskView(current))
        if (Object.keys(fields).length > 0) {
          const value: StoredTask = { ...current, ...fields, updated_at: timeAfter(current.updated_at, now()) }
          // Who schedules a task answers for what is in it. An agent that is stopped only gives it back.
          if (userId !== owner) value.by_others = true
          else if (fields.status === 'scheduled' && current.status !== 'running') delete value.by_others
          const revision = value.output === current.output ? [] : revise(value, await used(value.id))
          const grown = growth(
            [{ key, value: otherFields(value, current) }, ...revision, ...foundBy(value)],
            [{ key, value: otherFields(current, value) }, ...foundBy(current)],
          )
          if (outcomes.length > 0 && more + grown.bytes > GROWTH) break
          counts = await counting(kv, ownedKey(owner), { bytes: more + grown.bytes }, { limits, entry })
          more += grown.bytes
          revisions.push(...revision)
          current = value
        }
        outcomes.push({ status: 'fulfilled', value: taskView(current) })
      } catch (reason) {
        outcomes.push({ status: 'rejected', reason })
      }
    if (current === before) return outcomes
    const commit: Commit = {
      check: [{ key, version }, ...counts.check],
      set: [{ key, value: current }, ...revisions, ...without(foundBy(current), foundBy(before))],
      del: without(foundBy(before), foundBy(current), ({ key }) => key).map(({ key }) => key),
      sum: counts.sum,
    }
    return (await commitInProject(kv, project, 'tasks', commit)) ? outcomes : undefined
  })
}

/**
 * Changes of tasks by a user. Each is applied, after those before; those that come while the same task is being changed are made by one commit.
 * @param kvOf the store, for one change of a user
 * @returns a function, which throws ApiError 404, 403 for somebody else's, for readers or where it would be more than `bytes`, and what `change` throws
 */
export function taskUpdates(
  kvOf: (userId: string) => KV,
  options: TaskUpdateOptions,
): (userId: string, id: string, change: ChangeOfTask) => Promise<Task> {
  const inBatch = batches<ChangeOfTask, Task>()
  return async (userId, id, change) => {
    const known = idOf(id)
    if (known === null) throw notFound('task')
    // Users may have any id; that of a task has one length, so that no two queues have one name.
    return inBatch(`${known} ${userId}`, change, (changes) => changeTask(kvOf(userId), userId, known, changes, options))
  }
}

/** The revisions of a task, newest first. */
export const revisionsOf = (kv: KV, { id, project_id }: StoredTask, page: Paging): Promise<Page<StoredRevision>> =>
  newestFirst<StoredRevision>(kv, revisionsKey(project_id, id), page)

/** The revisions of a task that the user may read. @throws as {@link taskFor} */
export const listRevisions = async (
  kv: KV,
  userId: string,
  id: string,
  page: Paging = {},
): Promise<Page<StoredRevision>> => revisionsOf(kv, (await taskFor(kv, userId, id)).task.value, page)
