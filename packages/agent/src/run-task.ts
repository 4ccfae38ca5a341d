import type { Client, Schemas } from '@turnpike/client'
import type { AgentEvent, Outcome, Task } from './events.js'
import { unfailing } from './events.js'
import type { HeldTask } from './held-task.js'
import { claimTask, Lost, lossIn } from './held-task.js'
import { AgentError } from './agent-error.js'
import { runLoop } from './loop.js'
import { failedDraft, promptOf } from './prompt.js'
import type { Approve, Tool } from './tools.js'

/** Who does a task, and how. What is left out is that of the agent of the project's team that the task is assigned to. */
export interface Agent {
  name?: string
  role?: string
  /** Told to the model besides name, role and the task. */
  instructions?: string
  /** A model id or group of the gateway. */
  model?: string
  tools?: readonly Tool[]
  /** Whether calls of tools are run; default `never`. */
  approve?: Approve
  /** Of a reviewer, by default those of the agent whose draft the first reviewer gets. */
  limits?: Limits
  /** Gets the draft, and hands back what is stored in its place. Its own reviewer comes after it. */
  reviewer?: Agent
}

/** Where an agent stops; the task is `failed` then. */
export interface Limits {
  /** Requests to the model, without those that failed; default 30. */
  steps?: number
  /** Seconds, without those that `approve` took; default 900. */
  seconds?: number
  /** Tokens of the task since it last got an output, whoever has used them; default unlimited. Looked at before each request. */
  tokens?: number
  /** The same in US dollars; default 1. What has no price is free. */
  dollars?: number
}

/** How tasks are held, and who is told. */
export interface HoldOptions {
  client: Client
  /**
   * Seconds after which a task is another's whose agent gave no sign; default 30, the same for all workers. A sixth of it is how often a draft is
   * stored.
   */
  lease?: number
  /** When it aborts, the task is given back. */
  signal?: AbortSignal
}

/** Options of {@link runTask}. */
export interface RunTaskOptions extends HoldOptions, Agent {
  /** As it was read last: whoever changes it first has it. */
  task: Task
  /** The project of the task, such as one whose name and description somebody has seen: agents are told them. Default: as it is once the task is claimed. */
  project?: Schemas['Project']
  onEvent?: (event: AgentEvent) => void
}

export const LEASE_S = 30
const DOLLARS = 1

/**
 * Claims a task, does it, and stores the draft as it grows and at the end: `waiting_approval` where the task requires approval, else `done` with
 * its output.
 * @returns how it ended; `taken` at once where the task is not as it was read
 * @throws PlatformError and errors of the network where it could not be claimed
 * @example const { status } = await runTask({ client, task, model: 'gpt-4o-mini' })
 */
export async function runTask({ task, onEvent, ...options }: RunTaskOptions): Promise<Outcome> {
  const { client, lease = LEASE_S } = options
  const tell = unfailing(onEvent)
  let held: HeldTask
  try {
    options.signal?.throwIfAborted()
    held = await claimTask(client, task, lease)
  } catch (error) {
    if (!(error instanceof Lost)) throw error
    const outcome = lostOutcome(error)
    tell({ type: 'end', ...outcome })
    return outcome
  }
  return workOn(held, options, tell)
}

const lostOutcome = ({ status, message }: Lost): Outcome =>
  status === 'lost' ? { status, reason: message } : { status }

/** Works on a task that was claimed. @returns how it ended; it never rejects */
export async function workOn(
  held: HeldTask,
  options: HoldOptions & Agent & Pick<RunTaskOptions, 'project'>,
  onEvent: (event: AgentEvent) => void,
): Promise<Outcome> {
  const { signal: outer = new AbortController().signal } = options
  const signal = AbortSignal.any([outer, held.signal])
  held.onStored = (task) => onEvent({ type: 'stored', task })
  const end = async (): Promise<Outcome> => {
    try {
      const output = await draft(held, { ...options, signal }, onEvent)
      return held.current().requires_user_approval
        ? { status: 'waiting_approval', task: await held.end({ status: 'waiting_approval', draft_output: output }) }
        : { status: 'done', task: await held.end({ status: 'done', output, draft_output: null }) }
    } catch (error) {
      if (error instanceof Lost) throw error
      if (outer.aborted) return { status: 'scheduled', task: await held.end({ status: 'scheduled' }) }
      const reason = error instanceof Error ? error.message : String(error)
      return { status: 'failed', reason, task: await fail(held, reason) }
    }
  }
  const outcome = await end().catch((error: unknown) =>
    lostOutcome(lossIn(error) ?? new Lost('lost', (error as Error).message)),
  )
  onEvent({ type: 'end', ...outcome })
  return outcome
}

/** Stores why a task failed; without it, where the plan has no space for the text. */
async function fail(held: HeldTask, reason: string): Promise<Task> {
  const draft_output = failedDraft(held.draft(), reason)
  try {
    return await held.end({ status: 'failed', draft_output })
  } catch (error) {
    if (error instanceof Lost) throw error
    return held.end({ status: 'failed', draft_output: held.current().draft_output })
  }
}

/** Lets the agent write, then its reviewers. */
async function draft(
  held: HeldTask,
  {
    client,
    signal,
    project: seen,
    ...given
  }: HoldOptions & Agent & Pick<RunTaskOptions, 'project'> & { signal: AbortSignal },
  onEvent: (event: AgentEvent) => void,
): Promise<string> {
  const task = held.current()
  const params = { id: task.project_id }
  const [project, team] = await Promise.all([
    seen ?? client.get('/api/projects/{id}', { params, signal }),
    client.get('/api/projects/{id}/team', { params, signal }),
  ])
  const member = team.agents.find(({ id }) => id === task.assigned_agent_id)
  const headers = { 'X-Project-ID': task.project_id, 'X-Task-ID': task.id, 'X-Session-ID': crypto.randomUUID() }

  /** Tells what the task has used. @throws AgentError where that is more than it may */
  const checkSpend = async ({ tokens = Infinity, dollars = DOLLARS }: Limits): Promise<void> => {
    const { since } = await client.get('/api/tasks/{id}/spend', { params: { id: task.id }, signal })
    onEvent({ type: 'cost', requests: since.requests, tokens: since.total_tokens, dollars: since.cost_usd })
    if (since.total_tokens >= tokens) throw new AgentError(`The task has used its ${tokens} tokens`)
    if (since.cost_usd >= dollars) throw new AgentError(`The task has used its budget of $${dollars}`)
  }

  let text: string | undefined
  for (let agent: Agent | undefined = { ...member, ...given } as Agent; agent; agent = agent.reviewer) {
    const { name = 'Agent', model = member?.model ?? undefined, tools, approve, limits = given.limits ?? {} } = agent
    if (!model) throw new AgentError(`${name} has no model`)
    let written = ''
    text = await runLoop({
      client,
      model,
      name,
      messages: promptOf(project, task, { ...agent, name }, text),
      ...(tools && { tools }),
      ...(approve && { approve }),
      ...limits,
      headers,
      signal,
      onEvent(event) {
        if (event.type === 'step') written = ''
        if (event.type === 'text') held.write((written += event.text))
        onEvent(event)
      },
      async before(what) {
        await held.ensure()
        if (what === 'model') await checkSpend(limits)
      },
    })
  }
  await checkSpend({ dollars: Infinity })
  return text!
}
