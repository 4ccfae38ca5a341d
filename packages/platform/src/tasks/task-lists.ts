import type { KV } from '@turnpike/core'
import { notFound } from '../errors.js'
import type { Page, Paging } from '../pages.js'
import { newestFirst } from '../pages.js'
import { idOf, isEnough, projectFor } from '../projects/project-access.js'
import { sharedProjects } from '../projects/shared-projects.js'
import { inProject } from '../projects/stored-projects.js'
import type { ProjectRole, Task } from '../schemas.js'
import type { StoredTask } from './stored-tasks.js'
import { taskView } from './stored-tasks.js'
import type { TaskFilter, TasksOf } from './user-tasks.js'
import { listUserTasks } from './user-tasks.js'

/** A part of what a project has. It is read at once with the project. @param read gets the id of the project. @throws ApiError 404 */
export async function listInProject<T>(
  kv: KV,
  userId: string,
  projectId: string,
  read: (id: string) => Promise<Page<T>>,
): Promise<Page<T>> {
  const id = idOf(projectId)
  if (id === null) throw notFound('project')
  const [, part] = await Promise.all([projectFor(kv, userId, id), read(id)])
  return part
}

/** The tasks of which project, and of which role of the user at least; default all. */
export interface TasksIn {
  project_id?: string | undefined
  role?: ProjectRole | undefined
}

/** Where the tasks are that a user may read. @throws as {@link projectFor} */
async function tasksOf(kv: KV, userId: string, { project_id, role: least = 'reader' }: TasksIn): Promise<TasksOf[]> {
  if (project_id !== undefined) {
    const { id, user_id } = (await projectFor(kv, userId, project_id, { least })).value
    return [user_id === userId ? { userId, projectId: id } : { sharedProjectId: id }]
  }
  const shared = (await sharedProjects(kv, userId)).filter(({ role }) => isEnough(role, least))
  return [{ userId }, ...shared.map(({ id }) => ({ sharedProjectId: id }))]
}

/**
 * The tasks that a user may read, newest first: of a project, or of all.
 * @param check throws where no more is read for them
 * @throws ApiError 404 where the user has no role in the project, 403 for a lower one than `role`
 */
export async function listTasks(
  kv: KV,
  userId: string,
  { project_id, role: given, own, ...others }: TaskFilter & TasksIn,
  page: Paging,
  check?: () => void,
): Promise<Page<Task>> {
  const filter = { own: own || undefined, ...others }
  const role = own ? 'owner' : given
  const isFiltered = Object.values({ role, ...filter }).some((value) => value !== undefined)
  const { items, next } =
    project_id === undefined || isFiltered
      ? await listUserTasks<StoredTask>(kv, await tasksOf(kv, userId, { project_id, role }), filter, page, check)
      : await listInProject(kv, userId, project_id, (id) => newestFirst<StoredTask>(kv, inProject(id, 'task'), page))
  return { items: items.map(taskView), next }
}
