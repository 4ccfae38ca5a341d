/** The tasks of all projects of users, by their status. @module */
import type { KV } from '@turnpike/core'
import { MAX_PAGE_SIZE, nextTurn, PAGE_SIZE, pageBelow } from '@turnpike/core/internal'
import type { Task } from '../schemas.js'
import { TaskStatus } from '../schemas.js'
import type { Page, Paging } from './pages.js'
import { inProject } from './projects.js'
import type { Indexed } from './task-index.js'

/** Which tasks a list has; default all. */
export interface TaskFilter {
  status?: TaskStatus | undefined
  assigned_agent_id?: number | undefined
}

/** Whose tasks a list has. */
export interface TasksOf {
  userId: string
  /** The ids of their projects; absent = all of the user. */
  projects?: ReadonlySet<string>
}

/**
 * The tasks of users, newest first.
 * @param onRead given how many entries of the index were read for it
 * @throws ApiError 400 for an `after` that is no id
 */
export async function listUserTasks<T extends Task>(
  kv: KV,
  of: readonly TasksOf[],
  { status, assigned_agent_id }: TaskFilter,
  { after: first, limit = PAGE_SIZE }: Paging,
  onRead: (entries: number) => Promise<void> | void,
): Promise<Page<T>> {
  const statuses = status === undefined ? TaskStatus.options : [status]
  const lists = of.flatMap((one) => statuses.map((status) => ({ ...one, status })))
  const isWanted = ({ projects, value }: Pick<TasksOf, 'projects'> & { value: Indexed }): boolean =>
    (projects === undefined || projects.has(value.project_id)) &&
    (assigned_agent_id === undefined || value.assigned_agent_id === assigned_agent_id)

  // More each time that none is wanted: else a page of one would take as many reads as there are tasks.
  let size = limit
  let entries = 0
  for (let after = first; ;) {
    const pages = await Promise.all(
      lists.map(({ userId, status }) =>
        pageBelow<Indexed>(kv, ['user-tasks', userId, status], { after, limit: size, reverse: true }),
      ),
    )
    const ids = pages
      .flatMap(({ items }, i) => items.map(({ key, value }) => ({ id: key.at(-1)!, value, ...lists[i]! })))
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    entries += ids.length
    const read = ids.slice(0, size)
    const wanted = read.filter(isWanted)
    const isCut = ids.length > size || pages.some(({ next }) => next !== undefined)
    if (wanted.length > 0 || !isCut) {
      await onRead(entries)
      const found = await kv.getMany<T>(
        wanted.slice(0, limit).map(({ id, value }) => inProject(value.project_id, 'task', id)),
        { page: true },
      )
      // One may have been changed since its id was read.
      const items = found.flatMap((entry) => (entry && statuses.includes(entry.value.status) ? [entry.value] : []))
      const last = found.length < wanted.length ? wanted[found.length - 1] : read.at(-1)
      return isCut || found.length < wanted.length ? { items, next: last!.id } : { items }
    }
    after = read.at(-1)!.id
    size = Math.min(2 * size, MAX_PAGE_SIZE)
    // A store in memory never waits.
    await nextTurn()
  }
}
