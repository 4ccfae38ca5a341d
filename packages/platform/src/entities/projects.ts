import type { Act, Commit, Entry, Key, KV } from '@turnpike/core'
import { audit, countEntries, counting, isUuid, ownedKey, uuidv7 } from '@turnpike/core/internal'
import { forbidden, notFound } from '../errors.js'
import { Project, viewOf } from '../schemas.js'
import type { Page, Paging } from './pages.js'
import { newestOfIndex } from './pages.js'
import { finishPurge, purgeOf } from './purges.js'

/** The fields of a project that can be given and changed. */
export type ProjectFields = Pick<Project, 'name' | 'team_type' | 'color' | 'description'>

/** A project as stored under `project/<id>`. What belongs to it is stored below `in-project/<id>`, and deleted with it. */
export type StoredProject = Project & {
  /** The agent slots of its owner that it takes: as many as its team had agents when it got that team. */
  agents: number
}

/** How many projects and agents a user may have; null = any number. */
export type ProjectLimits = {
  projects: number | null
  agents: number | null
}

export const projectView = viewOf(Project)

const projectKey = (id: string): Key => ['project', id]
const listedKey = ({ user_id, id }: Pick<Project, 'user_id' | 'id'>): Key => ['user-projects', user_id, id]
/** The counter of the projects and agents of a user. */
const slotsKey = (userId: string): Key => ['project-slots', userId]

/** The key of something that belongs to a project. */
export const inProject = (id: string, ...path: string[]): Key => ['in-project', id, ...path]

/** The counter of the tasks of a project. Those of all projects of a user are counted as well ({@link ownedKey}). */
export const tasksKey = (id: string): Key => inProject(id, 'task-count')

/**
 * The check and the addition of a commit that makes a task.
 * @param atMost how many tasks the user may have; null = any number
 * @throws ApiError 403 where it would be one more
 */
export async function countTask(kv: KV, { value: { id, user_id } }: Entry<StoredProject>, atMost: number | null) {
  // The tasks of projects of an earlier version count from their next task on.
  const uncounted = () => countEntries(kv, inProject(id, 'task'))
  const ofProject = await counting(kv, tasksKey(id), { tasks: 1 }, { uncounted })
  const { tasks } = ofProject.sum[0]!.add
  const ofUser = await counting(kv, ownedKey(user_id), { tasks: tasks! }, { limits: { tasks: atMost } })
  return { check: [...ofProject.check, ...ofUser.check], sum: [...ofProject.sum, ...ofUser.sum] }
}

/** An id from a path or a body as ids are stored, in lower case; null where it cannot be one. */
export const idOf = (text: string): string | null => (isUuid(text) ? text.toLowerCase() : null)

/** The time of a change, as an ISO 8601 timestamp: later than `before`, even where the clock is not, so that each change can be told from the last. */
export const timeAfter = (before: string, now: number): string =>
  new Date(Math.max(now, Date.parse(before) + 1)).toISOString()

/**
 * A project of a user, with its version.
 * @param foreign the status for somebody else's; default 404, as where there is none
 * @throws ApiError 404, or 403 for somebody else's if `foreign` is 403
 */
export async function ownProject(
  kv: KV,
  userId: string,
  id: string,
  foreign: 403 | 404 = 404,
): Promise<Entry<StoredProject>> {
  const known = idOf(id)
  return ofOwner(userId, known === null ? null : await kv.get<StoredProject>(projectKey(known)), 'project', foreign)
}

/** The entry of a project if it is the user's. @param what what was asked for: the project, or something in it. @throws as {@link ownProject} */
export function ofOwner(
  userId: string,
  project: Entry<StoredProject> | null,
  what: string,
  foreign: 403 | 404,
): Entry<StoredProject> {
  if (project?.value.user_id === userId) return project
  if (project && foreign === 403) throw forbidden(`This ${what} is somebody else's`)
  throw notFound(what)
}

/** The project and another entry in one read. */
export async function withProject<T>(
  kv: KV,
  projectId: string,
  key: Key,
): Promise<[Entry<StoredProject> | null, Entry<T> | null]> {
  const [project, entry] = await kv.getMany<unknown>([projectKey(projectId), key])
  return [project as Entry<StoredProject> | null, entry as Entry<T> | null]
}

/**
 * Commits writes of what belongs to a project, as long as the project is as it was read. So nothing is written into one that is deleted.
 * @returns false where it was changed or deleted meanwhile, or another check failed: read it again
 */
export const commitInProject = (kv: KV, { key, version }: Entry<StoredProject>, commit: Commit): Promise<boolean> =>
  kv.commit({ ...commit, check: [...(commit.check ?? []), { key, version }] })

/** Creates a project. @param agents how many its team has. @throws ApiError 403 where the limits are reached */
export async function createProject(
  kv: KV,
  userId: string,
  fields: ProjectFields,
  { agents, limits, now }: { agents: number; limits: ProjectLimits; now: number },
): Promise<Project> {
  const time = new Date(now).toISOString()
  const project = { id: uuidv7(now), ...fields, user_id: userId, created_at: time, updated_at: time, agents }
  for (;;) {
    const slots = await counting(kv, slotsKey(userId), { projects: 1, agents }, { limits })
    const set = [
      { key: projectKey(project.id), value: project },
      { key: listedKey(project), value: true },
    ]
    if (await kv.commit({ ...slots, set })) return projectView(project)
  }
}

/** The projects of a user, newest first. */
export async function listProjects(kv: KV, userId: string, paging: Paging = {}): Promise<Page<Project>> {
  const { items, next } = await newestOfIndex<StoredProject>(kv, ['user-projects', userId], projectKey, paging)
  return { items: items.map(projectView), next }
}

/**
 * Changes the given fields of a project.
 * @param agents how many agents the new team has; absent where the team stays
 * @throws ApiError 404, 403 for somebody else's project, or where the new team has more agents than the limits allow
 */
export async function updateProject(
  kv: KV,
  userId: string,
  id: string,
  fields: Partial<ProjectFields>,
  { agents, limits, now }: { agents?: number; limits: ProjectLimits; now: number },
): Promise<Project> {
  for (;;) {
    const { key, value, version } = await ownProject(kv, userId, id, 403)
    if (Object.keys(fields).length === 0) return projectView(value)
    const project = { ...value, ...fields, updated_at: timeAfter(value.updated_at, now) }
    const commit: Commit = { check: [{ key, version }], set: [{ key, value: project }] }
    if (agents !== undefined && agents !== value.agents) {
      const slots = await counting(
        kv,
        slotsKey(userId),
        { agents: agents - value.agents },
        { limits: { agents: limits.agents } },
      )
      project.agents = agents
      commit.check!.push(...slots.check)
      commit.sum = slots.sum
    }
    if (await kv.commit(commit)) return projectView(project)
  }
}

/**
 * Deletes a project: it is gone for readers with the first commit. What belongs to it follows in commits of bounded size, which
 * {@link finishPurges} takes up again after a crash.
 * @throws ApiError 404, or 403 for somebody else's
 */
export async function deleteProject(kv: KV, userId: string, id: string, act: Act = {}): Promise<void> {
  for (;;) {
    const { key, value, version } = await ownProject(kv, userId, id, 403)
    const purge = purgeOf(value.id, inProject(value.id))
    const tasks = await kv.get<{ tasks: number }>(tasksKey(value.id))
    const deleted = await kv.commit({
      check: [
        { key, version },
        { key: tasksKey(value.id), version: tasks?.version ?? null },
      ],
      del: [key, listedKey(value)],
      set: [purge, ...audit('project.delete', value.id, act)],
      sum: [
        { key: slotsKey(userId), add: { projects: -1, agents: -value.agents } },
        ...(tasks ? [{ key: ownedKey(userId), add: { tasks: -tasks.value.tasks } }] : []),
      ],
    })
    if (deleted) return finishPurge(kv, purge)
  }
}
