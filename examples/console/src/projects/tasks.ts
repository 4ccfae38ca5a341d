import type { Schemas } from '@turnpike/client'
import type { Tone } from '@turnpike/ui'
import { time } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'

export type Task = Schemas['Task']
export type TaskStatus = Task['status']
export type Agent = Schemas['Agent']

/** A status as the pages call it, with the tone of its shape. */
export interface Column {
  status: TaskStatus
  name: string
  tone: Tone
}

/** The columns of the board. */
export const columns: readonly Column[] = [
  { status: 'scheduled', name: 'Scheduled', tone: 'off' },
  { status: 'running', name: 'Running', tone: 'busy' },
  { status: 'waiting_approval', name: 'Waiting for approval', tone: 'warn' },
  { status: 'done', name: 'Done', tone: 'good' },
  { status: 'failed', name: 'Failed', tone: 'bad' },
]

export const columnOf = (status: TaskStatus): Column => columns.find((one) => one.status === status)!

/** Who works on a task; undefined where nobody was named. */
export function agentOf({ assigned_agent_id: id }: Task, agents: readonly Agent[]): string | undefined {
  return id === null ? undefined : (agents.find((one) => one.id === id)?.name ?? `Agent ${id}`)
}

/** What a task is now, of two times that it was read. No two changes of a task have the same time. */
export const newest = (a: Task, b: Task | undefined): Task =>
  b && b.id === a.id && b.updated_at > a.updated_at ? b : a

/** A task was changed by somebody else since it was read. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile'
  /** When, as the task says it. */
  readonly at: string

  constructor({ status, updated_at }: Pick<Task, 'status' | 'updated_at'>) {
    super(
      `Somebody changed this task at ${time(updated_at)}; it is now “${columnOf(status).name}”. Nothing of yours was saved.`,
    )
    this.at = updated_at
  }
}

/**
 * Changes a task, unless somebody else has changed it since it was read.
 * @param seen the task as the user sees it
 * @throws ChangedMeanwhile, and PlatformError such as 403 where the task policy refuses it
 */
export async function changeTask(
  seen: Task,
  change: Partial<Pick<Task, 'status' | 'output' | 'draft_output' | 'review_comments'>>,
): Promise<Task> {
  const params = { id: seen.id }
  // The platform has no conditional change, so that another one within these milliseconds is not noticed.
  const current = await turnpike.get('/api/tasks/{id}/status', { params })
  if (current.updated_at !== seen.updated_at) throw new ChangedMeanwhile(current)
  return turnpike.patch('/api/tasks/{id}', { params, body: change })
}
