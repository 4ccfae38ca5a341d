import type { Act } from '@turnpike/core'
import type { BalanceOperations } from '../accounts/balances.js'
import { NEW_PROJECT } from '../conventions.js'
import type { Paging as PagingInput } from '../pages.js'
import type { Parts } from '../parts.js'
import type { Needed } from './project-access.js'
import { projectFor } from './project-access.js'
import { finishPurges } from './purges.js'
import { listProjects, projectsVersion, projectVersion } from './shared-projects.js'
import type { ProjectFields, Versioned } from './stored-projects.js'
import { createProject, deleteProject, projectView, updateProject } from './stored-projects.js'

/** What users can do with projects, without HTTP: each as far as the user may whose id is given. */
export function projectOperations({ kv, kvOf, teams, dataBytes, logged, now }: Parts, { limits }: BalanceOperations) {
  const get = async (userId: string, id: string, needed?: Needed) =>
    projectView((await projectFor(kvOf(userId), userId, id, needed)).value, userId)

  const most = async (userId: string) => ({ ...(await limits(userId)), bytes: dataBytes })

  return {
    /** @throws ApiError 403 where the plan has no more projects, no more agents for its team, or no space for its data */
    async create(userId: string, input: Pick<ProjectFields, 'name'> & Partial<ProjectFields>) {
      const { name, team_type = NEW_PROJECT.teamType, color = NEW_PROJECT.color, description = null } = input
      const { agents } = await teams.team(team_type)
      const fields = { name, team_type, color, description }
      return createProject(kvOf(userId), userId, fields, {
        agents: agents.length,
        limits: await most(userId),
        now: now(),
      })
    },
    /** The projects of a user and those that are shared with the user, newest first. */
    list: (userId: string, page?: PagingInput) => listProjects(kvOf(userId), userId, page),
    /** The version of that list; null where it never had one. */
    listVersion: (userId: string) => projectsVersion(kvOf(userId), userId),
    /** @throws ApiError 404 where there is none; as `needed` says where the user may not */
    get,
    /** The version of a part of a project; null where the user has no role in such a project, or there is nothing of that. */
    version: (userId: string, id: string, of: Versioned) => projectVersion(kvOf(userId), userId, id, of),
    /** Changes the given fields. @throws ApiError 404, 403 for others than the owner, 403 where the plan has no agents for another team, or no space for its data */
    async update(userId: string, id: string, fields: Partial<ProjectFields>) {
      const { team_type } = fields
      const agents = team_type && { agents: (await teams.team(team_type)).agents.length }
      return updateProject(kvOf(userId), userId, id, fields, { ...agents, limits: await most(userId), now: now() })
    },
    /** Deletes a project with all that belongs to it. @throws ApiError 404, 403 for others than the owner */
    async remove(userId: string, id: string, { by, ...act }: Act = {}): Promise<void> {
      const remove = (by?: string): Promise<void> => deleteProject(kvOf(userId), userId, id, { now: now(), ...act, by })
      await (by === undefined ? remove() : logged('project.delete', userId, remove))
    },
    /** Finishes deletions that a crash cut off. Call it when a process starts. @returns how many there were */
    finishRemovals: () => finishPurges(kv),
    /** The team of a project. @throws ApiError 404 */
    team: async (userId: string, id: string) => teams.team((await get(userId, id)).team_type),
  }
}

export type ProjectOperations = ReturnType<typeof projectOperations>
