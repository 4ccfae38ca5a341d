/** Lists and versions of what users see: what is theirs, and what is shared with them. @module */
import type { Key, KV } from '@turnpike/core'
import { sha256 } from '@turnpike/core/helpers'
import { PAGE_SIZE, pageBelow, userEntries } from '@turnpike/core/internal'
import { MOST_SHARED } from '../conventions.js'
import type { Found } from '../members/member-entries.js'
import { sharedKey, slotsKey } from '../members/member-entries.js'
import type { Page, Paging } from '../pages.js'
import type { Project } from '../schemas.js'
import type { StoredProject } from './project-access.js'
import { hasRole, idOf, projectKey, roleIn } from './project-access.js'
import type { Versioned } from './stored-projects.js'
import { changesKey, projectView, userChangesKey } from './stored-projects.js'

/** A project that is shared with a user. */
export interface Shared extends Found {
  id: string
}

/** The projects that are shared with a user, oldest first. Those of owners who were deleted are left out. */
export async function sharedProjects(kv: KV, userId: string): Promise<Shared[]> {
  const { items } = await kv.list<Found>(sharedKey(userId), { limit: MOST_SHARED })
  if (items.length === 0) return []
  const owners = await userEntries(kv, [...new Set(items.map(({ value }) => value.user_id))])
  const live = new Set(owners.flatMap((owner) => (owner?.value.deleted_at === null ? owner.value.id : [])))
  return items.flatMap(({ key, value }) => (live.has(value.user_id) ? { id: key.at(-1)!, ...value } : []))
}

/** The projects of a user and those that are shared with the user, newest first. */
export async function listProjects(
  kv: KV,
  userId: string,
  { after, limit = PAGE_SIZE }: Paging = {},
): Promise<Page<Project>> {
  const [own, shared] = await Promise.all([
    pageBelow<true>(kv, ['user-projects', userId], { after, limit, reverse: true }),
    sharedProjects(kv, userId),
  ])
  const ids = [
    ...own.items.map(({ key }) => key.at(-1)!),
    ...shared.map(({ id }) => id).filter((id) => after === undefined || id < after.toLowerCase()),
  ].toSorted((a, b) => (a < b ? 1 : -1))
  const wanted = ids.slice(0, limit)
  const found = await kv.getMany<StoredProject>(wanted.map(projectKey), { page: true })
  // A member may have been removed since.
  const items = found.flatMap((entry) => (entry && roleIn(entry.value, userId) ? projectView(entry.value, userId) : []))
  const isCut = own.next !== undefined || ids.length > limit || found.length < wanted.length
  return isCut ? { items, next: wanted[found.length - 1]! } : { items }
}

/**
 * The version of what a user sees: of what is theirs, and of what is shared with them, where something is.
 * @param own the counter of the user's
 * @param ofShared that of a project
 */
async function versionOf(kv: KV, userId: string, own: Key, ofShared: (shared: Shared) => Key): Promise<string | null> {
  const [slots, mine] = await kv.getMany<Record<string, number>>([slotsKey(userId), own])
  const version = mine?.version ?? null
  const shared = slots?.value['shared'] ? await sharedProjects(kv, userId) : []
  if (shared.length === 0) return version
  const others = await kv.getMany(shared.map(ofShared))
  return sha256(JSON.stringify([version, shared.map(({ id, role }, i) => [id, role, others[i]?.version])]))
}

/** The version of the list of a user's projects, which each change of one replaces; null where there was never one. */
export const projectsVersion = (kv: KV, userId: string): Promise<string | null> =>
  versionOf(kv, userId, slotsKey(userId), ({ user_id }) => slotsKey(user_id))

/** The version of the tasks of all projects of a user, which each change of one replaces; null where there was never one. */
export const tasksVersion = (kv: KV, userId: string): Promise<string | null> =>
  versionOf(kv, userId, userChangesKey(userId), (shared) => changesKey(shared, 'tasks'))

/** The version of a part of a project, which each change of it replaces; null where the user has no role in it, or there is nothing of that. */
export async function projectVersion(kv: KV, userId: string, projectId: string, of: Versioned): Promise<string | null> {
  const id = idOf(projectId)
  if (id === null) return null
  const own = await kv.get(changesKey({ user_id: userId, id }, of))
  if (own) return own.version
  const project = (await kv.get<StoredProject>(projectKey(id)))?.value
  const isMember = project && project.user_id !== userId && (await hasRole(kv, userId, project, 'reader'))
  return isMember ? ((await kv.get(changesKey(project, of)))?.version ?? null) : null
}
