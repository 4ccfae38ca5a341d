import { goTo, linkTo, useData } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import type { Task } from './tasks.js'

/** The link to a task of a project, on its board. */
export const taskIn = ({ id, project_id }: Pick<Task, 'id' | 'project_id'>): string =>
  linkTo(`/projects/${project_id}`, { task: id })

/** The tasks of a project that wait for the user, the oldest first. */
export const waitingOf = (tasks: readonly Task[]): Task[] =>
  tasks.filter(({ status }) => status === 'waiting_approval').toReversed()

/** The task that waits longest: of a project or, where none does, of another one. The platform has no list of tasks by status. */
async function nextWaiting({ id, project_id }: Task, signal: AbortSignal): Promise<Task | undefined> {
  const of = async (projectId: string): Promise<Task | undefined> => {
    const { items } = await turnpike.list('/api/tasks', { query: { projectId }, signal })
    return waitingOf(items).find((task) => task.id !== id)
  }
  const own = await of(project_id)
  if (own) return own
  const { items } = await turnpike.list('/api/projects', { signal })
  for (const project of items) {
    const found = project.id === project_id ? undefined : await of(project.id)
    if (found) return found
  }
  return undefined
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
        <b>{next.title}</b>
      </span>
      <button type="button" class="primary" onClick={() => goTo(`/projects/${next.project_id}`, { task: next.id })}>
        Open it
      </button>
    </div>
  )
}
