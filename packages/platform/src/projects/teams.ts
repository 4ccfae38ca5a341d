import { TEAMS } from '../conventions.js'
import { TeamType } from '../schemas.js'

/** An agent of a team. Tasks name it by its id. */
export interface Agent {
  /** Unique in its team. */
  id: number
  name: string
  /** What it does. */
  role: string
  /** The model that it uses; null = the router's model for agents. */
  model: string | null
}

/** The agents of a project. The first one with a model replies in its conversation with that model. */
export interface Team {
  type: TeamType
  agents: readonly Agent[]
}

/** Port: which teams there are. */
export interface TeamCatalog {
  /** The team of projects of a type. */
  team(type: TeamType): Team | Promise<Team>
}

/**
 * A catalogue of fixed teams.
 * @param agents the agents by the type of the team; default `TEAMS` of conventions.ts
 * @example const platform = createPlatform({ kv, identity, teams: fixedTeams({ 'software-development': [agent] }) })
 */
export const fixedTeams = (agents: Partial<Record<TeamType, readonly Agent[]>> = {}): TeamCatalog => ({
  team: (type) => ({ type, agents: agents[type] ?? TEAMS[type] }),
})

/** All teams of a catalogue. */
export const allTeams = (catalog: TeamCatalog): Promise<Team[]> =>
  Promise.all(TeamType.options.map(async (type) => catalog.team(type)))
