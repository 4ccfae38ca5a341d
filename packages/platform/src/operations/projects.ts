import type { Act } from '@turnpike/core'
import * as v from 'valibot'
import { jsonArray, Paging } from '@turnpike/http'
import { NEW_PROJECT } from '../conventions.js'
import type { Paging as PagingInput } from '../entities/pages.js'
import type { Needed } from '../entities/project-access.js'
import { projectFor } from '../entities/project-access.js'
import type { ProjectFields, Versioned } from '../entities/projects.js'
import { createProject, deleteProject, projectView, updateProject } from '../entities/projects.js'
import { finishPurges } from '../entities/purges.js'
import { listProjects, projectsVersion, projectVersion } from '../entities/shared-projects.js'
import { defined, present } from '../given-fields.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { IdParams, Name, Project, TeamType, Text } from '../schemas.js'
import type { BalanceOperations } from './balances.js'

/** What users can do with projects, without HTTP: each as far as the user may whose id is given. */
export function projectOperations({ kv, teams, dataBytes, logged, now }: Parts, { limits }: BalanceOperations) {
  const get = async (userId: string, id: string, needed?: Needed) =>
    projectView((await projectFor(kv, userId, id, needed)).value, userId)

  const most = async (userId: string) => ({ ...(await limits(userId)), bytes: dataBytes })

  return {
    /** @throws ApiError 403 where the plan has no more projects, no more agents for its team, or no space for its data */
    async create(userId: string, input: Pick<ProjectFields, 'name'> & Partial<ProjectFields>) {
      const { name, team_type = NEW_PROJECT.teamType, color = NEW_PROJECT.color, description = null } = input
      const { agents } = await teams.team(team_type)
      const fields = { name, team_type, color, description }
      return createProject(kv, userId, fields, { agents: agents.length, limits: await most(userId), now: now() })
    },
    /** The projects of a user and those that are shared with the user, newest first. */
    list: (userId: string, page?: PagingInput) => listProjects(kv, userId, page),
    /** The version of that list; null where it never had one. */
    listVersion: (userId: string) => projectsVersion(kv, userId),
    /** @throws ApiError 404 where there is none; as `needed` says where the user may not */
    get,
    /** The version of a part of a project; null where the user has no role in such a project, or there is nothing of that. */
    version: (userId: string, id: string, of: Versioned) => projectVersion(kv, userId, id, of),
    /** Changes the given fields. @throws ApiError 404, 403 for others than the owner, 403 where the plan has no agents for another team, or no space for its data */
    async update(userId: string, id: string, fields: Partial<ProjectFields>) {
      const { team_type } = fields
      const agents = team_type && { agents: (await teams.team(team_type)).agents.length }
      return updateProject(kv, userId, id, fields, { ...agents, limits: await most(userId), now: now() })
    },
    /** Deletes a project with all that belongs to it. @throws ApiError 404, 403 for others than the owner */
    async remove(userId: string, id: string, { by, ...act }: Act = {}): Promise<void> {
      const remove = (by?: string): Promise<void> => deleteProject(kv, userId, id, { now: now(), ...act, by })
      await (by === undefined ? remove() : logged('project.delete', userId, remove))
    },
    /** Finishes deletions that a crash cut off. Call it when a process starts. @returns how many there were */
    finishRemovals: () => finishPurges(kv),
    /** The team of a project. @throws ApiError 404 */
    team: async (userId: string, id: string) => teams.team((await get(userId, id)).team_type),
  }
}

export type ProjectOperations = ReturnType<typeof projectOperations>

const color = v.pipe(v.string(), v.hexColor())

/** The body of POST /api/projects. */
export const NewProject = v.object({
  name: Name,
  teamType: v.nullish(TeamType),
  color: v.nullish(color),
  description: v.nullish(Text),
})

/** The body of PATCH /api/projects/{id}: only fields to change. Null clears the description. */
export const ProjectPatch = v.object({
  name: v.optional(Name),
  teamType: v.optional(TeamType),
  color: v.optional(color),
  description: v.nullish(Text),
})

const aliases = { team_type: 'teamType' }

/** GET /api/projects */
export const projectsList = (projects: ProjectOperations) =>
  operation({
    id: 'projects.list',
    summary: "The caller's projects and those that are shared with the caller, newest first.",
    access: 'user',
    query: Paging,
    output: v.array(Project),
    answerHeaders: ['Link'],
    version: (caller) => projects.listVersion(caller!.user.id),
    run: (caller, { query }, call) => jsonArray(query, call, (page) => projects.list(caller!.user.id, page)),
  })

/** POST /api/projects */
export const projectsCreate = (projects: ProjectOperations) =>
  operation({
    id: 'projects.create',
    summary: 'Makes a project.',
    access: 'user',
    aliases,
    body: NewProject,
    example: { name: 'Website', teamType: 'content-creation' },
    output: Project,
    errors: [403],
    run: (caller, { body: { name, teamType, color, description } }) =>
      projects.create(caller!.user.id, { name, ...present({ team_type: teamType, color, description }) }),
  })

/** GET /api/projects/{id} */
export const projectsGet = (projects: ProjectOperations) =>
  operation({
    id: 'projects.get',
    summary: 'One project.',
    access: 'user',
    params: IdParams,
    output: Project,
    errors: [404],
    run: (caller, { params: { id } }) => projects.get(caller!.user.id, id),
  })

/** PATCH /api/projects/{id} */
export const projectsUpdate = (projects: ProjectOperations) =>
  operation({
    id: 'projects.update',
    summary: 'Changes the given fields of a project.',
    access: 'user',
    params: IdParams,
    aliases,
    body: ProjectPatch,
    example: { color: '#0a6b60' },
    output: Project,
    errors: [403, 404],
    permit: async (caller, { id }) => void (await projects.get(caller!.user.id, id, { least: 'owner', foreign: 403 })),
    run: (caller, { params: { id }, body: { name, teamType, color, description } }) =>
      projects.update(caller!.user.id, id, defined({ name, team_type: teamType, color, description })),
  })

/** DELETE /api/projects/{id} */
export const projectsRemove = (projects: ProjectOperations) =>
  operation({
    id: 'projects.remove',
    summary: 'Deletes a project for good, with its tasks, their revisions and results, and its conversation.',
    access: 'user',
    params: IdParams,
    errors: [403, 404],
    run: (caller, { params: { id } }) => projects.remove(caller!.user.id, id, { by: caller!.user.id }),
  })
