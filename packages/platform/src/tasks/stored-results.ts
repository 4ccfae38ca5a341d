import type { KV } from '@turnpike/core'
import { timeOf } from '@turnpike/core/helpers'
import { pageOfIndex } from '@turnpike/core/internal'
import { notFound } from '../errors.js'
import type { Page, Paging } from '../pages.js'
import { inProject } from '../projects/stored-projects.js'
import type { Result } from '../schemas.js'
import type { StoredTask } from './stored-tasks.js'
import { taskFor, taskKey } from './stored-tasks.js'
import { listInProject } from './task-lists.js'

const resultOf = (task: StoredTask): Result | undefined =>
  task.result === undefined || task.output === null
    ? undefined
    : {
        id: task.id,
        project_id: task.project_id,
        task_id: task.id,
        title: task.title,
        output: task.output,
        created_at: new Date(timeOf(task.result)).toISOString(),
      }

/** The tasks of a project that have an output, in the order in which they got it, the last first. @throws ApiError 404 */
export async function listResults(kv: KV, userId: string, projectId: string, page: Paging = {}): Promise<Page<Result>> {
  const { items, next } = await listInProject(kv, userId, projectId, (id) =>
    pageOfIndex<StoredTask>(kv, inProject(id, 'result'), ({ value: task }) => taskKey(id, task), {
      ...page,
      reverse: true,
    }),
  )
  return { items: items.flatMap((task) => resultOf(task) ?? []), next }
}

/** The result of a task that the user may read. @throws ApiError 404, also where the task has no output */
export async function getResult(kv: KV, userId: string, id: string): Promise<Result> {
  const { task } = await taskFor(kv, userId, id)
  const result = resultOf(task.value)
  if (!result) throw notFound('result')
  return result
}
