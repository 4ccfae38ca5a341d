/** Who may do what in a project: the one place where that is judged, of the project and of all that belongs to it. @module */
import type { Entry, Key, KV } from '@turnpike/core'
import { getUser } from '@turnpike/core'
import type { Counts } from '@turnpike/core/internal'
import { isUuid, nextTurn } from '@turnpike/core/helpers'
import { CALLS_AT_ONCE, ownedKey } from '@turnpike/core/internal'
import { forbidden, notFound } from '../errors.js'
import type { MemberRole, Project, ProjectRole } from '../schemas.js'

/** Somebody whom the owner of a project has invited, as stored in the project. */
export type Member = {
  id: string
  email: string
  role: MemberRole
  /** Who has accepted; absent = nobody yet. */
  user_id?: string
  added_at: string
}

/** A project as stored under `project/<id>`. What belongs to it is stored below `in-project/<id>`, and deleted with it. */
export type StoredProject = Omit<Project, 'role'> & {
  /** The agent slots of its owner that it takes: as many as its team had agents when it got that team. */
  agents: number
  /** Whom it is shared with; absent = nobody. */
  members?: Member[]
}

/** What is needed for an access. */
export interface Needed {
  /** The lowest role; default `reader`. */
  least?: ProjectRole | undefined
  /** The status for users without a role; default 404, as where there is none. */
  foreign?: 403 | 404 | undefined
}

export const projectKey = (id: string): Key => ['project', id]

/** An id from a path or a body as ids are stored, in lower case; null where it cannot be one. */
export const idOf = (text: string): string | null => (isUuid(text) ? text.toLowerCase() : null)

const ranks: Record<ProjectRole, number> = { reader: 0, editor: 1, owner: 2 }

/** The role of a user in a project; undefined = none. */
export const roleIn = (
  { user_id, members = [] }: Pick<StoredProject, 'user_id' | 'members'>,
  userId: string,
): ProjectRole | undefined => (userId === user_id ? 'owner' : members.find((member) => member.user_id === userId)?.role)

/** The role of a user in a project as long as its owner is not deleted. */
async function roleOf(kv: KV, project: StoredProject, userId: string): Promise<ProjectRole | undefined> {
  const role = roleIn(project, userId)
  return role === undefined || role === 'owner' || (await getUser(kv, project.user_id)) ? role : undefined
}

/** Whether a role is as high as the lowest that is needed. */
export const isEnough = (role: ProjectRole, least: ProjectRole): boolean => ranks[role] >= ranks[least]

/** Whether a user has a role in a project. @param least the lowest role */
export async function hasRole(kv: KV, userId: string, project: StoredProject, least: ProjectRole): Promise<boolean> {
  const role = await roleOf(kv, project, userId)
  return role !== undefined && isEnough(role, least)
}

/**
 * The entry of a project in which the user has the role that is needed.
 * @param what what was asked for: the project, or something in it
 * @throws ApiError 404, or `foreign`, for users without a role; 403 for those whose role is lower
 */
export async function permitted(
  kv: KV,
  userId: string,
  project: Entry<StoredProject> | null,
  what: string,
  { least = 'reader', foreign = 404 }: Needed = {},
): Promise<Entry<StoredProject>> {
  const role = project && (await roleOf(kv, project.value, userId))
  if (project && role) {
    if (isEnough(role, least)) return project
    throw forbidden(`You are ${role} of this project; this needs the role ${least}`)
  }
  if (project && foreign === 403) throw forbidden(`This ${what} is somebody else's`)
  throw notFound(what)
}

/** A project, with its version. @throws as {@link permitted} */
export async function projectFor(kv: KV, userId: string, id: string, needed?: Needed): Promise<Entry<StoredProject>> {
  const known = idOf(id)
  const project = known === null ? null : await kv.get<StoredProject>(projectKey(known))
  return permitted(kv, userId, project, 'project', needed)
}

/** The names of projects, in the order of `ids`; null of those that are gone, or in which the user has no role. */
export async function projectNames(
  kv: KV,
  userId: string,
  ids: readonly (string | null | undefined)[],
): Promise<(string | null)[]> {
  const names = new Map<string, string>()
  const left = [...new Set(ids.map((id) => id ?? ''))]
  while (left.length > 0) {
    const entries = await kv.getMany<StoredProject>(left.splice(0, CALLS_AT_ONCE).map(projectKey))
    const add = async (entry: Entry<StoredProject> | null): Promise<void> => {
      if (entry && (await roleOf(kv, entry.value, userId))) names.set(entry.value.id, entry.value.name)
    }
    await Promise.all(entries.map(add))
    await nextTurn()
  }
  return ids.map((id) => names.get(id ?? '') ?? null)
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

/** What is read of a project, with what its owner has and what the user has: one counter, read at once, where that is the same. */
export async function withOwned<T extends { project: Entry<StoredProject> }>(
  kv: KV,
  userId: string,
  reading: Promise<T>,
): Promise<T & { owned: Entry<Counts> | null; own: Entry<Counts> | null }> {
  const [read, own] = await Promise.all([reading, kv.get<Counts>(ownedKey(userId))])
  const { user_id } = read.project.value
  return { ...read, own, owned: user_id === userId ? own : await kv.get<Counts>(ownedKey(user_id)) }
}
