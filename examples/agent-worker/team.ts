import type { Agent } from '@turnpike/agent'

/** An agent of the team: as the platform lists it, and what only the worker knows of it. */
interface Member extends Agent {
  id: number
  name: string
  role: string
  model: string
}

const model = process.env.MODEL ?? 'gpt-4o-mini'

const reviewer: Member = {
  id: 3,
  name: 'Reviewer',
  role: 'Reviews what was written',
  model,
  instructions: 'Correct what is wrong or unclear. Keep what is good, word by word.',
  // Reads only, so it has no tools and needs few steps.
  tools: [],
  limits: { steps: 2 },
}

const developer: Member = {
  id: 2,
  name: 'Developer',
  role: 'Writes texts and programs',
  model,
  instructions: 'Say what you have done in Markdown. Save what is longer than a page as a file, and name it.',
  reviewer,
}

/** The option `teams` of `createPlatform`, or `platform.teams` of a configuration, takes it for `software-development`. */
export const team: readonly Member[] = [developer, reviewer]

/** Who does a task: the agent that it is assigned to, else the first. */
export const agentOf = ({ assigned_agent_id }: { assigned_agent_id: number | null }): Agent | undefined =>
  assigned_agent_id === null ? developer : team.find(({ id }) => id === assigned_agent_id)
