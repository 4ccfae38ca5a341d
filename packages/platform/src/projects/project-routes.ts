import * as v from 'valibot'
import { jsonArray, Paging } from '@turnpike/http'
import { defined, present } from '../given-fields.js'
import { operation } from '../operation.js'
import { IdParams, Name, Project, ProjectDescription, TeamType } from '../schemas.js'
import type { ProjectOperations } from './projects.js'

const color = v.pipe(v.string(), v.hexColor())

/** The body of POST /api/projects. */
export const NewProject = v.object({
  name: Name,
  teamType: v.nullish(TeamType),
  color: v.nullish(color),
  description: v.nullish(ProjectDescription),
})

/** The body of PATCH /api/projects/{id}: only fields to change. Null clears the description. */
export const ProjectPatch = v.object({
  name: v.optional(Name),
  teamType: v.optional(TeamType),
  color: v.optional(color),
  description: v.nullish(ProjectDescription),
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
