import type { Commit, Entry, Key, KV, UsageTotals } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { counting, growth, ownedKey, repeated, uuidv7 } from '@turnpike/core/internal'
import { NEW_TASK_STATUS } from '../conventions.js'
import { notFound } from '../errors.js'
import { Task, TaskRevision, viewOf } from '../schemas.js'
import type { Page, Paging } from './pages.js'
import { newestFirst } from './pages.js'
import type { StoredProject, TaskLimits } from './projects.js'
import { commitInProject, countTask, idOf, inProject, ofOwner, ownProject, timeAfter, withProject } from './projects.js'

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

/** Whose a task is, as stored under `task/<id>`. */
type Owner = {
  user_id: string
  project_id: string
}

const ownerKey = (id: string): Key => ['task', id]
export const taskKey = (projectId: string, id: string): Key => inProject(projectId, 'task', id)
const resultKey = (projectId: string, id: string): Key => inProject(projectId, 'result', id)

const taskView = viewOf(Task)
export const revisionView = viewOf(TaskRevision)

/** A task of a user and its project. @throws ApiError 404, or 403 for somebody else's if `foreign` is 403 */
export async function ownTask(
  kv: KV,
  userId: string,
  id: string,
  foreign: 403 | 404 = 404,
): Promise<{ project: Entry<StoredProject>; task: Entry<StoredTask> }> {
  const known = idOf(id)
  const owner = known === null ? null : await kv.get<Owner>(ownerKey(known))
  if (!owner) throw notFound('task')
  const { project_id } = owner.value
  const [found, task] = await withProject<StoredTask>(kv, project_id, taskKey(project_id, known!))
  // Without its project, a task is about to be deleted.
  const project = ofOwner(userId, found, 'task', foreign)
  if (!task) throw notFound('task')
  return { project, task }
}

/**
 * Creates a task in a project of the user, with the status `scheduled`.
 * @throws ApiError 404 where there is no such project, or it is somebody else's; 403 where it would be more than the limits
 */
export async function createTask(
  kv: KV,
  userId: string,
  projectId: string,
  fields: NewTask,
  { limits, now }: { limits: TaskLimits; now: number },
): Promise<Task> {
  return repeated(`data ${userId}`, async () => {
    const project = await ownProject(kv, userId, projectId)
    const { id: project_id } = project.value
    const time = new Date(now).toISOString()
    const task: Task = {
      id: uuidv7(now),
      project_id,
      ...fields,
      status: NEW_TASK_STATUS,
      output: null,
      draft_output: null,
      review_comments: null,
      created_at: time,
      updated_at: time,
    }
    const set = [
      { key: ownerKey(task.id), value: { user_id: userId, project_id } },
      { key: taskKey(project_id, task.id), value: task },
    ]
    const counts = await countTask(kv, project, set, limits)
    return (await commitInProject(kv, project, { set, ...counts })) ? taskView(task) : undefined
  })
}

/** A task of a user. @throws as {@link ownTask} */
export const getTask = async (kv: KV, userId: string, id: string, foreign?: 403 | 404): Promise<Task> =>
  taskView((await ownTask(kv, userId, id, foreign)).task.value)

/** A part of what a project has. It is read at once with the project. @param read gets the id of the project. @throws ApiError 404 */
export async function listInProject<T>(
  kv: KV,
  userId: string,
  projectId: string,
  read: (id: string) => Promise<Page<T>>,
): Promise<Page<T>> {
  const id = idOf(projectId)
  if (id === null) throw notFound('project')
  const [, part] = await Promise.all([ownProject(kv, userId, id), read(id)])
  return part
}

/** The tasks of a project, newest first. @throws ApiError 404 */
export async function listTasks(kv: KV, userId: string, projectId: string, page: Paging = {}): Promise<Page<Task>> {
  const { items, next } = await listInProject(kv, userId, projectId, (id) =>
    newestFirst<StoredTask>(kv, inProject(id, 'task'), page),
  )
  return { items: items.map(taskView), next }
}

/** The writes that give a task another output: its entry in the results and, where it is a text, a revision; and the entry that is deleted. */
function outputWrites(
  task: StoredTask,
  before: string | undefined,
  used: UsageTotals,
): { set: NonNullable<Commit['set']>; gone: { key: Key; value: string }[] } {
  const { id: task_id, project_id, output, updated_at: created_at } = task
  const gone = before === undefined ? [] : [{ key: resultKey(project_id, before), value: task_id }]
  delete task.result
  if (output === null) return { set: [], gone }
  // The time of each change of a task is later than that of the one before, and so are the ids of its revisions.
  const id = uuidv7(Date.parse(created_at))
  const revision: StoredRevision = { id, task_id, output, created_at, used }
  task.result = id
  const set = [
    { key: inProject(project_id, 'revision', task_id, id), value: revision },
    { key: resultKey(project_id, id), value: task_id },
  ]
  return { set, gone }
}

/** The fields of a task that another has not, or other than it: those that both have may be megabytes, and need not be counted. */
const otherFields = (task: StoredTask, other: StoredTask): Partial<StoredTask> =>
  Object.fromEntries(Object.entries(task).filter(([name, value]) => other[name as keyof Task] !== value))

/**
 * Changes a task, by one commit. Concurrent changes are all applied, one after the other.
 * @param change gets the current task and returns what is different in the new one
 * @param options.used what the task has used so far, for a revision
 * @param options.bytes bytes of data in all that the user may have
 * @throws ApiError 404, 403 for somebody else's or where it would be more than `bytes`, and what `change` throws
 */
export async function updateTask(
  kv: KV,
  userId: string,
  id: string,
  change: (task: Task) => TaskChange | Promise<TaskChange>,
  { used, bytes, now }: { used: (taskId: string) => Promise<UsageTotals>; bytes: number; now: () => number },
): Promise<Task> {
  return repeated(`data ${userId}`, async () => {
    const [{ project, task }, entry] = await Promise.all([
      ownTask(kv, userId, id, 403),
      kv.get<Counts>(ownedKey(userId)),
    ])
    const before = task.value
    const changes = await change(taskView(before))
    if (Object.keys(changes).length === 0) return taskView(before)
    const value: StoredTask = { ...before, ...changes, updated_at: timeAfter(before.updated_at, now()) }
    const writes =
      value.output === before.output ? { set: [], gone: [] } : outputWrites(value, before.result, await used(before.id))
    const set = [{ key: task.key, value }, ...writes.set]
    const more = growth(
      [{ key: task.key, value: otherFields(value, before) }, ...writes.set],
      [{ key: task.key, value: otherFields(before, value) }, ...writes.gone],
    )
    const { check, sum } = await counting(kv, ownedKey(userId), more, { limits: { bytes }, entry })
    const commit: Commit = {
      check: [{ key: task.key, version: task.version }, ...check],
      set,
      del: writes.gone.map(({ key }) => key),
      sum,
    }
    return (await commitInProject(kv, project, commit)) ? taskView(value) : undefined
  })
}

/** The revisions of a task, newest first. @throws ApiError 404 */
export async function listRevisions(
  kv: KV,
  userId: string,
  id: string,
  page: Paging = {},
): Promise<Page<StoredRevision>> {
  const { task } = await ownTask(kv, userId, id)
  return newestFirst<StoredRevision>(kv, inProject(task.value.project_id, 'revision', task.value.id), page)
}
