import * as v from 'valibot'
import { operation } from '../operation.js'
import { IdParams, Team } from '../schemas.js'
import type { ProjectOperations } from './projects.js'
import type { TeamCatalog } from './teams.js'
import { allTeams } from './teams.js'

/** GET /api/teams */
export const teamsList = (catalog: TeamCatalog) =>
  operation({
    id: 'teams.list',
    summary: 'The teams that projects can have, and their agents.',
    access: 'user',
    output: v.array(Team),
    run: () => allTeams(catalog),
  })

/** GET /api/projects/{id}/team */
export const projectsTeam = (projects: ProjectOperations) =>
  operation({
    id: 'projects.team',
    summary: 'The team of a project.',
    access: 'user',
    params: IdParams,
    output: Team,
    errors: [404],
    run: (caller, { params: { id } }) => projects.team(caller!.user.id, id),
  })
