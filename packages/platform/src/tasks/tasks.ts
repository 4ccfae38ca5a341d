import { forbidden } from '../errors.js'
import type { Paging as PagingInput } from '../pages.js'
import type { Parts } from '../parts.js'
import type { Needed } from '../projects/project-access.js'
import { tasksVersion } from '../projects/shared-projects.js'
import { Task } from '../schemas.js'
import type { NewTask as TaskInput, TaskChange } from './stored-tasks.js'
import { createTask, deleteTask, getTask, listRevisions, revisionView, taskFor, taskUpdates } from './stored-tasks.js'
import { listTasks } from './task-lists.js'

/**
 * Decides whether a change of a task is allowed. Returns why not, which the caller gets with 403, or undefined. It may be asked several times for one change,
 * and other changes of the task wait meanwhile.
 * @example ({ task, change }) => (task.requires_user_approval && task.status !== 'waiting_approval' && (change.status === 'done' || change.output) ? 'Approve it first' : undefined)
 */
export type TaskPolicy = (move: {
  userId: string
  task: Task
  change: TaskChange
}) => string | undefined | Promise<string | undefined>

/** What users can do with the tasks of their projects, without HTTP. */
export function taskOperations({ kvOf, checkRead, ledger, taskPolicy, planLimits, dataBytes: bytes, now }: Parts) {
  const updated = taskUpdates(kvOf, { used: (id) => ledger.totals('task', id), bytes, now })
  /** @throws ApiError 404, 403 for somebody else's task and for readers, where the policy refuses it, or where the plan has no space for its data */
  const update = (userId: string, id: string, change: (task: Task) => TaskChange) =>
    updated(userId, id, async (task) => {
      const changes = change(task)
      const refusal = await taskPolicy?.({ userId, task, change: changes })
      if (refusal !== undefined) throw forbidden(refusal)
      return changes
    })

  return {
    /** @throws ApiError 404 where the user has no role in such a project, 403 for readers, and where the plan of the owner has no more tasks, or no space for its data */
    create: (userId: string, projectId: string, { title, ...rest }: Pick<TaskInput, 'title'> & Partial<TaskInput>) => {
      const { description = null, assigned_agent_id = null, requires_user_approval = false } = rest
      const fields = { title, description, assigned_agent_id, requires_user_approval }
      return createTask(kvOf(userId), userId, projectId, fields, {
        limits: { tasks: planLimits.tasks, bytes },
        now: now(),
      })
    },
    /** The tasks that a user may read, newest first: of a project, or of all. @throws ApiError 404 where the user has no role in the project */
    list: (userId: string, filter: Parameters<typeof listTasks>[2] = {}, page: PagingInput = {}) =>
      listTasks(kvOf(userId), userId, filter, page, () => checkRead(userId)),
    /** The version of the tasks of all projects; null where there was never one. */
    version: (userId: string) => tasksVersion(kvOf(userId), userId),
    /** @throws ApiError 404 */
    get: (userId: string, id: string) => getTask(kvOf(userId), userId, id),
    /** @throws ApiError 404 where there is none; as `needed` says where the user may not */
    async state(userId: string, given: string, needed?: Needed) {
      const { task } = await taskFor(kvOf(userId), userId, given, needed)
      const { id, status, updated_at } = task.value
      return { id, status, updated_at }
    },
    /** Deletes a task of an own project, with its result and revisions. @throws ApiError 404; 403 for members, and for somebody else's */
    remove: (userId: string, id: string) => deleteTask(kvOf(userId), userId, id),
    /** Changes what `change` returns of the current task. Another `output` that is a text makes a revision. */
    update,
    /** Approves a task: its draft becomes its output, and it is done. */
    approve: (userId: string, id: string) =>
      update(userId, id, ({ output, draft_output }) => ({ status: 'done', output: draft_output ?? output })),
    /** Sends a task back with comments: it is scheduled again. */
    requestChanges: (userId: string, id: string, comments: string) =>
      update(userId, id, () => ({ status: 'scheduled', review_comments: comments })),
    /** The revisions of a task, newest first. @throws ApiError 404 */
    async revisions(userId: string, id: string, page?: PagingInput) {
      const { items, next } = await listRevisions(kvOf(userId), userId, id, page)
      return { items: items.map(revisionView), next }
    },
  }
}

export type TaskOperations = ReturnType<typeof taskOperations>
