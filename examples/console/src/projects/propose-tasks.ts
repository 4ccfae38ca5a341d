import { runLoop } from '@turnpike/agent'
import { turnpike } from '../turnpike.js'
import type { Agent } from './tasks.js'

/** A task that a model proposes. */
export interface Proposal {
  title: string
  description: string
  /** The name of who is to do it. */
  agent: string
}

/** Messages that a model is sent, as for a reply, and characters of the last ones: others may have written them. */
const MESSAGES = 100
const CHARACTERS = 100_000
/** One that proposes, in which all tasks fit, one that says what is left out, and one to spare. Each sends the messages again. */
const STEPS = 3
const NAME = 'propose_task'

const instructions = (agents: readonly Agent[]): string =>
  [
    'You propose tasks that follow from a conversation. Each is of one agent, and says all that the agent has to know, who does not see the conversation.',
    `The agents: ${agents.map(({ name, role }) => `${name} (${role})`).join(', ')}.`,
  ].join('\n\n')

/**
 * Asks a model which tasks follow from the conversation of a project, at the cost of the user. All that it can do is propose: a task is made by who
 * accepts it.
 * @returns what the model says besides
 * @throws AgentError where it says nothing; PlatformError
 */
export async function proposeTasks({
  projectId,
  agents,
  model,
  signal,
  onProposal,
}: {
  projectId: string
  agents: readonly Agent[]
  model: string
  signal: AbortSignal
  onProposal: (proposal: Proposal) => void
}): Promise<string> {
  const params = { id: projectId }
  const query = { limit: MESSAGES }
  const { id, messages } = await turnpike.get('/api/projects/{id}/conversation', { params, query, signal })
  let left = CHARACTERS
  const first = messages.findLastIndex(({ text }) => (left -= text.length) < 0) + 1
  const said = messages
    .slice(first)
    .filter(({ text }) => text !== '')
    .map(({ role, text }) => ({ role, content: text }))
  const names = agents.map(({ name }) => name)
  return runLoop({
    client: turnpike,
    model,
    messages: [
      { role: 'system', content: instructions(agents) },
      ...said,
      {
        role: 'user',
        content: `Call ${NAME} for each task that is to be done now. Then say in a sentence what you left out.`,
      },
    ],
    tools: [
      {
        name: NAME,
        description: 'Shows a task to the user, who makes it or leaves it.',
        parameters: {
          type: 'object',
          properties: {
            title: { type: 'string' },
            description: { type: 'string', description: 'What is to be done, and what a good result has.' },
            agent: { type: 'string', enum: names },
          },
          required: ['title', 'description', 'agent'],
        },
        run(proposal: Proposal) {
          if (!names.includes(proposal.agent)) throw new Error(`There is no agent ${proposal.agent}`)
          onProposal(proposal)
          return 'It is shown.'
        },
      },
    ],
    approve: 'always',
    steps: STEPS,
    headers: { 'X-Project-ID': projectId, 'X-Conversation-ID': id },
    signal,
  })
}
