import type { Client, Page } from '@turnpike/client'
import { PlatformError } from '@turnpike/client'
import type { AgentEvent, Task } from './events.js'
import { unfailing } from './events.js'
import { claimTask, Lost } from './held-task.js'
import type { Agent, HoldOptions } from './run-task.js'
import { LEASE_S, workOn } from './run-task.js'
import { pause } from './within.js'

/** Options of {@link workTasks}. */
export interface WorkTasksOptions extends HoldOptions {
  /** Who does a task; undefined leaves it to others. */
  agents: (task: Task) => Agent | undefined
  /** Tools, approval, model and limits of agents that have none of their own. */
  defaults?: Pick<Agent, 'tools' | 'approve' | 'model' | 'limits'>
  /**
   * Whether tasks are done too into which others may have written, with the user's tools and budget: those of projects that others share with the
   * user as editor, and those of own projects that an editor made or changed. Default false: only tasks of own projects, which nobody else made, or
   * has changed since the user scheduled them last.
   */
  shared?: boolean
  /** Tasks that are worked on at a time; default 4. */
  concurrency?: number
  /** Seconds between two looks for tasks; default 2. */
  poll?: number
  /** Ends the work: no task is taken any more, and those that are worked on are given back. */
  signal: AbortSignal
  onEvent?: (task: Task, event: AgentEvent) => void
  /** Told why tasks could not be listed or claimed; they are tried again with the next look. */
  onError?: (error: unknown) => void
}

/** Those of a status, newest first; the same object as long as nothing has changed. */
const reader = (client: Client, status: Task['status'], shared: boolean) => {
  const query = shared ? { status, role: 'editor' as const } : { status, own: 'true' as const }
  let known: Page<Task> | undefined
  return async (signal: AbortSignal): Promise<Task[]> =>
    (known = await client.list('/api/tasks', { query, known, signal })).items
}

/** Finds tasks that have not changed for a lease, by the own clock: those of others may differ. */
function staleness(lease: number) {
  let seen = new Map<string, { version: string; since: number }>()
  return (tasks: Task[]): Task[] => {
    const now = performance.now()
    const before = seen
    seen = new Map()
    return tasks.filter(({ id, updated_at: version }) => {
      const known = before.get(id)
      const entry = known?.version === version ? known : { version, since: now }
      seen.set(id, entry)
      return now - entry.since > lease * 1_000
    })
  }
}

/**
 * Does the tasks of the user as they are scheduled, oldest first, and those that are running without a sign of their worker for a lease. Any number of
 * workers can do so: each task is of one of them.
 * @returns when the signal has aborted and all tasks are given back
 * @throws PlatformError where the platform refuses the token (401, or 403 to the list of tasks), once the tasks that are worked on have ended
 * @example await workTasks({ client, agents: () => ({ model: 'gpt-4o-mini' }), signal: controller.signal })
 */
export async function workTasks(options: WorkTasksOptions): Promise<void> {
  const { client, agents, defaults, shared = false, concurrency = 4, poll = 2, lease = LEASE_S, signal } = options
  const [onEvent, onError] = [unfailing(options.onEvent), unfailing(options.onError)]
  const [scheduled, running] = [reader(client, 'scheduled', shared), reader(client, 'running', shared)]
  const abandoned = staleness(lease)
  const own = new Map<string, Promise<unknown>>()

  const take = async (task: Task, agent: Agent): Promise<void> => {
    const held = await claimTask(client, task, lease)
    const work = workOn(held, { client, lease, signal, ...defaults, ...agent }, (event) => onEvent(task, event))
    own.set(
      task.id,
      work.finally(() => own.delete(task.id)),
    )
  }

  try {
    look: while (!signal.aborted) {
      try {
        const lists = [await running(signal).then(abandoned), (await scheduled(signal)).toReversed()]
        const listed = performance.now()
        for (const task of lists.flat()) {
          if (own.size >= concurrency) {
            await Promise.race(own.values())
            if (signal.aborted || performance.now() - listed > poll * 1_000) continue look
          }
          // What is wrong with one task does not end the work of the others.
          let agent: Agent | undefined
          try {
            agent = own.has(task.id) ? undefined : agents(task)
          } catch (error) {
            onError(error)
          }
          if (agent)
            await take(task, agent).catch((error: unknown) => {
              if (error instanceof PlatformError && error.status === 403) onError(error)
              else if (!(error instanceof Lost)) throw error
            })
        }
      } catch (error) {
        if (signal.aborted) break
        if (error instanceof PlatformError && (error.status === 401 || error.status === 403)) throw error
        onError(error)
      }
      await pause(poll * 1_000, signal).catch(() => undefined)
    }
  } finally {
    await Promise.all(own.values())
  }
}
