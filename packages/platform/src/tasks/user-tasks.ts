/** The tasks of all projects of users, by their status. @module */
import type { Key, KV } from '@turnpike/core'
import { nextTurn } from '@turnpike/core/helpers'
import { MAX_PAGE_SIZE, PAGE_SIZE, pageBelow } from '@turnpike/core/internal'
import type { Page, Paging } from '../pages.js'
import { inProject } from '../projects/stored-projects.js'
import type { Task } from '../schemas.js'
import { TaskStatus } from '../schemas.js'
import type { Indexed } from './task-index.js'

/** Which tasks a list has; default all. */
export interface TaskFilter {
  status?: TaskStatus | undefined
  assigned_agent_id?: number | undefined
  /** Only tasks that have no instructions of others than the owner of their project; default false. */
  own?: boolean | undefined
}

/** What has to be known of a task to see whether it is wanted. */
type Known = Indexed & Partial<Pick<Task, 'status'>>

const known = ({ project_id, assigned_agent_id, status, by_others }: Known): Known => ({
  project_id,
  assigned_agent_id,
  ...(status && { status }),
  ...(by_others && { by_others }),
})

/** Where tasks are found. */
interface List {
  prefix: Key
  projectId: string | undefined
}

/** Whose tasks a list has: those of a user's own projects, or of one of them; or those of a project that somebody else shares. */
export type TasksOf = { userId: string; projectId?: string } | { sharedProjectId: string }

/**
 * The tasks of users, newest first. Nothing is read that the caller may not see, so that no `next` tells of it.
 * @param check throws where no more is read for the caller
 * @throws ApiError 400 for an `after` that is no id
 */
export async function listUserTasks<T extends Task>(
  kv: KV,
  of: readonly TasksOf[],
  { status, assigned_agent_id, own = false }: TaskFilter,
  { after: begin, limit = PAGE_SIZE }: Paging,
  check?: () => void,
): Promise<Page<T>> {
  const statuses = status === undefined ? TaskStatus.options : [status]
  const indexed = of.flatMap((one): List[] =>
    'userId' in one ? statuses.map((of) => ({ prefix: ['user-tasks', one.userId, of], projectId: one.projectId })) : [],
  )
  /** Where others share: there is no index, and the lists have the tasks themselves. */
  const shared = of.flatMap((one): List[] =>
    'userId' in one ? [] : [{ prefix: inProject(one.sharedProjectId, 'task'), projectId: undefined }],
  )
  const lists = [...indexed, ...shared]
  /** @param value what the index knows of a task with a wanted status, or the same and the status of one */
  const isWanted = ({ projectId, value }: { projectId: string | undefined; value: Known }): boolean =>
    (projectId === undefined || value.project_id === projectId) &&
    !(own && value.by_others) &&
    (value.status === undefined || statuses.includes(value.status)) &&
    (assigned_agent_id === undefined || value.assigned_agent_id === assigned_agent_id)

  // More each time that none is wanted: else a page of one would take as many reads as there are tasks.
  let size = limit
  for (let after = begin; ;) {
    const read = ({ prefix }: List) => pageBelow<Known>(kv, prefix, { after, limit: size, reverse: true })
    const pages = await Promise.all(indexed.map(read))
    // One after the other, and no more of it is kept than an index has: a page may have megabytes.
    for (const list of shared) {
      check?.()
      const { items, ...rest } = await read(list)
      pages.push({ items: items.map((item) => ({ ...item, value: known(item.value) })), ...rest })
      await nextTurn()
    }
    const ids = pages
      .flatMap(({ items }, i) => items.map(({ key, value }) => ({ id: key.at(-1)!, value, ...lists[i]! })))
      .toSorted((a, b) => (a.id < b.id ? 1 : -1))
    // Where a page ends before its list does, the list may go on with any id below: others are known down to there.
    const ends = pages.flatMap(({ next }) => next ?? [])
    const end = ends.reduce((highest, next) => (next > highest ? next : highest), '')
    const first = ids.filter(({ id }) => id >= end).slice(0, size)
    const wanted = first.filter(isWanted)
    const isCut = ends.length > 0 || ids.length > size
    if (wanted.length > 0 || !isCut) {
      const found = await kv.getMany<T>(
        wanted.slice(0, limit).map(({ id, value }) => inProject(value.project_id, 'task', id)),
        { page: true },
      )
      // One may have been changed since its id was read.
      const items = found.flatMap((entry) =>
        entry && isWanted({ projectId: undefined, value: entry.value }) ? [entry.value] : [],
      )
      const last = found.length < wanted.length ? wanted[found.length - 1] : first.at(-1)
      return isCut || found.length < wanted.length ? { items, next: last!.id } : { items }
    }
    after = first.at(-1)!.id
    size = Math.min(2 * size, MAX_PAGE_SIZE)
    // A store in memory never waits.
    await nextTurn()
  }
}
