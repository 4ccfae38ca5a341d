import type { Schemas } from '@turnpike/client'
import { PlatformError } from '@turnpike/client'
import type { Tone } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import { setUnsent, unsentOf } from './unsent.js'

export type Task = Schemas['Task']
export type TaskStatus = Task['status']
export type Agent = Schemas['Agent']

/** A status as the pages call it, with the tone of its shape. */
export interface Column {
  status: TaskStatus
  name: string
  /** The name where there is little room. */
  short: string
  tone: Tone
}

/** The columns of the board. */
export const columns: readonly Column[] = [
  { status: 'scheduled', name: 'Scheduled', short: 'Scheduled', tone: 'off' },
  { status: 'running', name: 'Running', short: 'Running', tone: 'busy' },
  { status: 'waiting_approval', name: 'Waiting for approval', short: 'Waiting', tone: 'warn' },
  { status: 'done', name: 'Done', short: 'Done', tone: 'good' },
  { status: 'failed', name: 'Failed', short: 'Failed', tone: 'bad' },
]

export const columnOf = (status: TaskStatus): Column => columns.find((one) => one.status === status)!

/** Who works on a task; undefined where nobody was named. */
export function agentOf({ assigned_agent_id: id }: Task, agents: readonly Agent[]): string | undefined {
  return id === null ? undefined : (agents.find((one) => one.id === id)?.name ?? `Agent ${id}`)
}

/** Whether a task has a draft that is not its output. */
export const isDrafted = ({ draft_output, output }: Task): boolean => draft_output !== null && draft_output !== output

/** What a task is now, of two times that it was read. No two changes of a task have the same time. */
export const newest = (a: Task, b: Task | undefined): Task =>
  b && b.id === a.id && b.updated_at > a.updated_at ? b : a

/** Tasks as they were last changed in this page, by id; null = deleted. */
export type Changed = Readonly<Record<string, Task | null>>

/** Tasks of a project as they were read, newest first, with those that were made or changed in this page since. */
export function merged(projectId: string, tasks: readonly Task[], changed: Changed): readonly Task[] {
  const known = new Set(tasks.map(({ id }) => id))
  const made = Object.values(changed).filter((task) => task?.project_id === projectId && !known.has(task.id)) as Task[]
  const current = tasks.flatMap((task) => {
    const own = changed[task.id]
    return own === null ? [] : newest(task, own)
  })
  // Ids begin with the time.
  return made.length === 0 ? current : [...made, ...current].toSorted((a, b) => (a.id < b.id ? 1 : -1))
}

/** What is typed for a task, as fields of unsent.ts. */
export const draftField = (id: string): string => `draft of ${id}`
export const commentField = (id: string): string => `comment on ${id}`

/** A task was changed by somebody else since it was read. */
export class ChangedMeanwhile extends Error {
  override readonly name = 'ChangedMeanwhile'
  /** What it is now. */
  readonly task: Pick<Task, 'status' | 'updated_at'>

  constructor(task: Pick<Task, 'status' | 'updated_at'>) {
    super('Somebody else has changed this task')
    this.task = task
  }
}

/**
 * Changes a task, unless somebody else has changed it since it was read.
 * @param seen the task as the user sees it
 * @throws ChangedMeanwhile, and PlatformError such as 403 where the task policy refuses it
 */
export async function changeTask(
  seen: Pick<Task, 'id' | 'updated_at'>,
  change: Partial<Pick<Task, 'status' | 'output' | 'draft_output' | 'review_comments'>>,
): Promise<Task> {
  const params = { id: seen.id }
  const headers = { 'If-Match': `"${seen.updated_at}"` }
  const changed = await turnpike.patch('/api/tasks/{id}', { params, body: change, headers }).catch(async (error) => {
    if (!(error instanceof PlatformError) || error.status !== 412) throw error
    throw new ChangedMeanwhile(await turnpike.get('/api/tasks/{id}/status', { params }))
  })
  // The user's own change does not make what they have typed an outdated text.
  for (const field of [draftField(seen.id), commentField(seen.id)]) {
    const unsent = unsentOf(field)
    if (unsent?.version === seen.updated_at) setUnsent(field, { ...unsent, version: changed.updated_at })
  }
  return changed
}
