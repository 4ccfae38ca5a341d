import { goTo, linkTo, useData, visible } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import type { Task } from './tasks.js'

/** The link to a task of a project, on its board. */
export const taskIn = ({ id, project_id }: Pick<Task, 'id' | 'project_id'>): string =>
  linkTo(`/projects/${project_id}`, { task: id })

/** Those of some tasks that wait for the user, the oldest first. */
export const waitingOf = (tasks: readonly Task[]): Task[] =>
  tasks.filter(({ status }) => status === 'waiting_approval').toReversed()

/** The task that waits longest: of the same project or, where none does, of another one. */
async function nextWaiting({ id, project_id }: Task, signal: AbortSignal): Promise<Task | undefined> {
  const { items } = await turnpike.list('/api/tasks', { query: { status: 'waiting_approval', role: 'editor' }, signal })
  const waiting = waitingOf(items).filter((task) => task.id !== id)
  return waiting.find((task) => task.project_id === project_id) ?? waiting[0]
}

/** Leads from a task that needs nothing more to the next one that waits for the user. */
export function NextWaiting({ task }: { task: Task }) {
  const { value: next } = useData((signal) => nextWaiting(task, signal), [task.id])
  if (!next) return null
  return (
    <div class="next-waiting spread">
      <span class="break">
        <span class="small muted">Next task that waits for you</span>
        <br />
        <b>{visible(next.title)}</b>
      </span>
      <button type="button" class="primary" onClick={() => goTo(`/projects/${next.project_id}`, { task: next.id })}>
        Open it
      </button>
    </div>
  )
}
