import { Ago, Loaded, plural, useData, visible } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import type { Pages } from '../use-pages.js'
import type { Project } from './project-form.js'
import { taskIn, waitingOf } from './task-waiting.js'

/** How many tasks are named. */
const NAMED = 5

/** What waits for the user in all projects, the oldest first, with links; nothing where nothing waits. */
export function WaitingForYou({ projects }: { projects: Pages<Project> }) {
  const waiting = useData(
    (signal) => turnpike.list('/api/tasks', { query: { status: 'waiting_approval', role: 'editor' }, signal }),
    [],
  )
  const names = new Map(projects.value?.items.map(({ id, name }) => [id, name]))
  // With the names of the projects, whose lines may be higher.
  const data = { ...waiting, value: projects.value && waiting.value, reading: waiting.reading || projects.reading }
  return (
    <Loaded data={data} shape="text">
      {({ items }) => {
        const tasks = waitingOf(items)
        if (tasks.length === 0) return null
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
                    {visible(task.title)}
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
      }}
    </Loaded>
  )
}
