import type { Act, Commit, Entry, Key, KV } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { repeated, uuidv7 } from '@turnpike/core/helpers'
import { audit, countEntries, counting, growth, ownedKey } from '@turnpike/core/internal'
import { OTHERS_SHARE } from '../conventions.js'
import { ofMembers, slotsKey } from '../members/member-entries.js'
import { Project, viewOf } from '../schemas.js'
import type { StoredProject } from './project-access.js'
import { projectFor, projectKey, roleIn } from './project-access.js'
import { finishPurge, purgeOf } from './purges.js'

/** The fields of a project that can be given and changed. */
export type ProjectFields = Pick<Project, 'name' | 'team_type' | 'color' | 'description'>

/** How many projects, agents and bytes a user may have; null = any number. */
export type ProjectLimits = {
  projects: number | null
  agents: number | null
  /** Bytes of data in all that the user has. */
  bytes: number
}

/** How many tasks, in all projects, and bytes of data a user may have; null = any number. */
export type TaskLimits = {
  tasks: number | null
  bytes: number
}

/**
 * How many tasks, or bytes of data, the owner of a project may have where a user writes into it. Others leave a part, so that the owner can still make a
 * task, make and rotate gateway keys, and serve their end users.
 * @param most what the owner may have in all; null = any number
 */
export const limitFor = <T extends number | null>(userId: string, { user_id }: StoredProject, most: T): T =>
  user_id === userId || most === null ? most : (Math.floor(most * OTHERS_SHARE) as T)

const view = viewOf(Project)
/** A project as a user sees it who has a role in it. */
export function projectView(project: StoredProject, userId: string): Project {
  const role = roleIn(project, userId)
  return view({ ...project, role: role === 'owner' ? undefined : role })
}

const listedKey = ({ user_id, id }: Pick<Project, 'user_id' | 'id'>): Key => ['user-projects', user_id, id]

/** The key of something that belongs to a project. */
export const inProject = (id: string, ...path: string[]): Key => ['in-project', id, ...path]

/** The counter of the tasks of a project. Those of all projects of a user are counted as well ({@link ownedKey}). */
export const tasksKey = (id: string): Key => inProject(id, 'task-count')

/** What of a project has a version: its tasks with their results, and its conversation. */
export type Versioned = 'tasks' | 'conversation'
/** The counter of the changes of a part of a project. Its version is that of the part. */
export const changesKey = ({ user_id, id }: Pick<Project, 'user_id' | 'id'>, of: Versioned): Key => [
  'project-changes',
  user_id,
  id,
  of,
]
/** The counter of the changes of all tasks of a user. */
export const userChangesKey = (userId: string): Key => ['user-changes', userId, 'tasks']
const ONE_CHANGE = { changes: 1 }
/** What a commit that changes a part of a project adds. */
const changeOf = (project: Pick<Project, 'user_id' | 'id'>, of: Versioned): NonNullable<Commit['sum']> => [
  { key: changesKey(project, of), add: ONE_CHANGE },
  ...(of === 'tasks' ? [{ key: userChangesKey(project.user_id), add: ONE_CHANGE }] : []),
]

/**
 * The check and the addition of a commit that makes or deletes a task.
 * @param amounts one task and its bytes, or less than 0 of both
 * @throws ApiError 403 where it would be more than the limits
 */
export async function countTask(
  kv: KV,
  { value: { id, user_id } }: Entry<StoredProject>,
  { tasks: one, bytes }: { tasks: 1 | -1; bytes: number },
  limits?: TaskLimits,
) {
  // The tasks of projects of an earlier version count from their next task on.
  const uncounted = { tasks: () => countEntries(kv, inProject(id, 'task')) }
  const ofProject = await counting(kv, tasksKey(id), { tasks: one }, { uncounted })
  const { tasks } = ofProject.sum[0]!.add
  const ofUser = await counting(kv, ownedKey(user_id), { tasks: tasks!, bytes }, { limits })
  return joined([ofProject, ofUser])
}

/** The time of a change, as an ISO 8601 timestamp: later than `before`, even where the clock is not, so that each change can be told from the last. */
export const timeAfter = (before: string, now: number): string =>
  new Date(Math.max(now, Date.parse(before) + 1)).toISOString()

/**
 * Commits writes of what belongs to a project, as long as the project is as it was read. So nothing is written into one that is deleted.
 * @param of the part of it that changes
 * @returns false where it was changed or deleted meanwhile, or another check failed: read it again
 */
export const commitInProject = (
  kv: KV,
  { key, version, value }: Entry<StoredProject>,
  of: Versioned,
  { check = [], sum = [], ...commit }: Commit,
): Promise<boolean> =>
  kv.commit({ ...commit, check: [...check, { key, version }], sum: [...sum, ...changeOf(value, of)] })

/** The checks and additions of several counts, for one commit. */
export const joined = (counts: Required<Pick<Commit, 'check' | 'sum'>>[]): Required<Pick<Commit, 'check' | 'sum'>> => ({
  check: counts.flatMap(({ check }) => check),
  sum: counts.flatMap(({ sum }) => sum),
})

/** Creates a project. @param agents how many its team has. @throws ApiError 403 where the limits are reached */
export async function createProject(
  kv: KV,
  userId: string,
  fields: ProjectFields,
  { agents, limits, now }: { agents: number; limits: ProjectLimits; now: number },
): Promise<Project> {
  const time = new Date(now).toISOString()
  const project = { id: uuidv7(now), ...fields, user_id: userId, created_at: time, updated_at: time, agents }
  const set = [
    { key: projectKey(project.id), value: project },
    { key: listedKey(project), value: true },
  ]
  const { bytes, ...most } = limits
  return repeated(`data ${userId}`, async () => {
    const { check, sum } = joined(
      await Promise.all([
        counting(kv, slotsKey(userId), { projects: 1, agents }, { limits: most }),
        counting(kv, ownedKey(userId), growth(set), { limits: { bytes } }),
      ]),
    )
    const stored = await kv.commit({ check, set, sum: [...sum, ...changeOf(project, 'tasks')] })
    return stored ? projectView(project, userId) : undefined
  })
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
  return repeated(`data ${userId}`, async () => {
    const [before, entry] = await Promise.all([
      projectFor(kv, userId, id, { least: 'owner', foreign: 403 }),
      kv.get<Counts>(ownedKey(userId)),
    ])
    const { key, value, version } = before
    if (Object.keys(fields).length === 0) return projectView(value, userId)
    const updated_at = timeAfter(value.updated_at, now)
    const project = { ...value, ...fields, agents: agents ?? value.agents, updated_at }
    const set = [{ key, value: project }]
    const slots = { agents: project.agents - value.agents }
    const { check, sum } = joined([
      await counting(kv, ownedKey(userId), growth(set, [before]), { limits: { bytes: limits.bytes }, entry }),
      await counting(kv, slotsKey(userId), slots, { limits: { agents: limits.agents } }),
    ])
    return (await kv.commit({ check: [{ key, version }, ...check], set, sum }))
      ? projectView(project, userId)
      : undefined
  })
}

/**
 * Deletes a project: it is gone for readers with the first commit. What belongs to it follows in commits of bounded size, which
 * {@link finishPurges} takes up again after a crash.
 * @throws ApiError 404, or 403 for somebody else's
 */
export async function deleteProject(kv: KV, userId: string, id: string, act: Act = {}): Promise<void> {
  for (;;) {
    const project = await projectFor(kv, userId, id, { least: 'owner', foreign: 403 })
    const { key, value, version } = project
    const purge = purgeOf(value.id, { user_id: userId, prefix: inProject(value.id) })
    const tasks = await kv.get<{ tasks: number }>(tasksKey(value.id))
    const index = { key: listedKey(value), value: true }
    const members = await ofMembers(kv, value)
    const gone = growth([], [project, index, ...members.entries])
    const owned = await counting(kv, ownedKey(userId), { ...(tasks && { tasks: -tasks.value.tasks }), ...gone })
    const { check, sum } = joined([owned, ...members.counts])
    const deleted = await kv.commit({
      check: [{ key, version }, { key: tasksKey(value.id), version: tasks?.version ?? null }, ...check],
      del: [
        key,
        index.key,
        ...members.entries.map(({ key }) => key),
        changesKey(value, 'tasks'),
        changesKey(value, 'conversation'),
      ],
      set: [purge, ...audit('project.delete', value.id, act)],
      sum: [
        { key: slotsKey(userId), add: { projects: -1, agents: -value.agents } },
        { key: userChangesKey(userId), add: ONE_CHANGE },
        ...sum,
      ],
    })
    if (deleted) return finishPurge(kv, purge)
  }
}
