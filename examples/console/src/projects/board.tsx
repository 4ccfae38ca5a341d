import { Empty, Loaded, Status } from '@turnpike/ui'
import { useEffect, useRef, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { More, usePages } from '../use-pages.js'
import { NewTask } from './new-task.js'
import { cardId, TaskCard } from './task-card.js'
import type { Agent, Task } from './tasks.js'
import { columnOf, columns, newest } from './tasks.js'

/** How often the tasks are read again, so that changes by agents and other people are seen. */
const POLL_MS = 10_000

/**
 * The tasks of a project in columns by their status.
 * @param changed tasks as they were last changed in this page, by id
 */
export function Board({
  projectId,
  agents,
  changed,
  onChange,
}: {
  projectId: string
  agents: readonly Agent[]
  changed: Readonly<Record<string, Task>>
  onChange: (task: Task) => void
}) {
  const pages = usePages(
    (page, signal) =>
      turnpike.list('/api/tasks', {
        query: { projectId, ...page },
        signal,
      }),
    { everyMs: POLL_MS },
  )
  const [isMaking, setMaking] = useState(false)
  const [message, setMessage] = useState('')
  const moved = useRef<string | undefined>(undefined)
  useEffect(() => {
    // Its card is in another column now, as another element.
    if (moved.current !== undefined) document.getElementById(cardId(moved.current))?.focus()
    moved.current = undefined
  }, [changed])
  const move = (task: Task): void => {
    moved.current = task.id
    setMessage(`“${task.title}” is moved to ${columnOf(task.status).name}.`)
    onChange(task)
  }
  return (
    <>
      <div class="spread">
        <p class="small muted" role="status">
          {message || 'Read again every ten seconds.'}
        </p>
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New task
        </button>
      </div>
      <Loaded data={pages}>
        {({ items }) => {
          const tasks = items.map((task) => newest(task, changed[task.id]))
          if (tasks.length === 0)
            return (
              <section class="panel">
                <Empty title="No tasks yet">
                  <p>
                    Make one with New task. An agent works on it with a gateway key and the header{' '}
                    <code>X-Task-ID</code>, and puts its draft here for your approval.
                  </p>
                </Empty>
              </section>
            )
          return (
            <div class="panel">
              <div class="board" role="region" aria-label="Task board" tabIndex={0}>
                {columns.map(({ status, name, tone }) => {
                  const here = tasks.filter((task) => task.status === status)
                  return (
                    <section key={status} aria-label={name}>
                      <header>
                        <h2>
                          <Status tone={tone}>{name}</Status>
                        </h2>
                        <span class="small muted number">{here.length}</span>
                      </header>
                      <ul>
                        {here.map((task) => (
                          <TaskCard key={task.id} task={task} agents={agents} onMove={move} onReload={pages.again} />
                        ))}
                      </ul>
                    </section>
                  )
                })}
              </div>
              <More pages={pages} name="task" />
            </div>
          )
        }}
      </Loaded>
      {isMaking && (
        <NewTask
          projectId={projectId}
          agents={agents}
          onClose={() => setMaking(false)}
          onMade={({ title }) => {
            setMaking(false)
            setMessage(`“${title}” is made.`)
            pages.again()
          }}
        />
      )}
    </>
  )
}
