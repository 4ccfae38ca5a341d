import { Ago, plural } from '@turnpike/ui'
import { useEffect, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import type { Project } from './project-form.js'
import { taskIn, waitingOf } from './task-waiting.js'
import type { Task } from './tasks.js'

/** Projects that are read at a time: the platform has no list of their figures. */
const AT_ONCE = 4
/** How many waiting tasks are named. */
const NAMED = 5

/** What the list says of a project. */
export interface Figures {
  /** How many tasks are neither done nor failed. */
  open: number
  /** Those that wait for the user, the oldest first. */
  waiting: readonly Task[]
  /** US dollars. */
  cost: number
  /** When the project or a task of it was changed last, in ISO 8601. */
  changed: string
}

async function figuresOf({ id, updated_at }: Project, signal: AbortSignal): Promise<Figures> {
  const [{ items }, { cost_usd: cost }] = await Promise.all([
    turnpike.list('/api/tasks', { query: { projectId: id }, signal }),
    turnpike.get('/api/projects/{id}/spend', { params: { id }, signal }),
  ])
  return {
    open: items.filter(({ status }) => status !== 'done' && status !== 'failed').length,
    waiting: waitingOf(items),
    cost,
    changed: items.reduce((last, task) => (task.updated_at > last ? task.updated_at : last), updated_at),
  }
}

/** The figures of projects by id, as they come. What cannot be read is left out. */
export function useFigures(projects: readonly Project[]): ReadonlyMap<string, Figures> {
  const [figures, setFigures] = useState<ReadonlyMap<string, Figures>>(new Map())
  useEffect(() => {
    const leave = new AbortController()
    const waiting = projects.filter(({ id }) => !figures.has(id))
    const work = async (): Promise<void> => {
      for (let next = waiting.shift(); next && !leave.signal.aborted; next = waiting.shift()) {
        const { id } = next
        const read = await figuresOf(next, leave.signal).catch(() => undefined)
        if (read && !leave.signal.aborted) setFigures((all) => new Map([...all, [id, read]]))
      }
    }
    void Promise.all(Array.from({ length: AT_ONCE }, work))
    return () => leave.abort()
  }, [projects])
  return figures
}

/** What waits for the user in all projects, the oldest first, with links; nothing where nothing waits. */
export function WaitingForYou({
  projects,
  figures,
}: {
  projects: readonly Project[]
  figures: ReadonlyMap<string, Figures>
}) {
  const tasks = [...figures.values()]
    .flatMap(({ waiting }) => waiting)
    .toSorted((a, b) => (a.updated_at < b.updated_at ? -1 : 1))
  if (tasks.length === 0) return null
  const names = new Map(projects.map(({ id, name }) => [id, name]))
  const title = `${plural(tasks.length, 'draft')} ${tasks.length === 1 ? 'waits' : 'wait'} for you`
  return (
    <section class="panel waiting-for-you" aria-label={title}>
      <header>
        <h2>{title}</h2>
        <a class="button primary" href={taskIn(tasks[0]!)}>
          Review the oldest
        </a>
      </header>
      <ul>
        {tasks.slice(0, NAMED).map((task) => (
          <li key={task.id}>
            <a class="break" href={taskIn(task)}>
              {task.title}
            </a>
            <span class="small muted">
              {names.get(task.project_id)} · <Ago at={task.updated_at} />
            </span>
          </li>
        ))}
      </ul>
      {tasks.length > NAMED && <p class="foot small muted">And {tasks.length - NAMED} more.</p>}
    </section>
  )
}
