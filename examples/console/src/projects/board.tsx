import { Empty, Loaded, useNew } from '@turnpike/ui'
import { useEffect, useRef, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { useWhole } from '../use-pages.js'
import { BoardColumn } from './board-column.js'
import { NewTask } from './new-task.js'
import { cardId } from './task-card.js'
import type { Agent, Task } from './tasks.js'
import { columnOf, columns, newest } from './tasks.js'

/** How often it is asked whether tasks have changed, such as by agents. Where none has, by the version of the list, that is all that is answered. */
const POLL_MS = 2_000

/** How many tasks are read at a time. All are, because a task that waits for approval may be an old one. */
const PER_READ = 200

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
  const data = useWhole<Task>(
    (page, signal, known) => turnpike.list('/api/tasks', { query: { projectId, ...page }, signal, known }),
    { limit: PER_READ, everyMs: POLL_MS },
  )
  const [isMaking, setMaking] = useNew('New task')
  const [message, setMessage] = useState('')
  const moved = useRef<string | undefined>(undefined)
  const board = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Its card is in another column now, as another element, or further down than that shows.
    if (moved.current !== undefined) (document.getElementById(cardId(moved.current)) ?? board.current)?.focus()
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
          {message}
        </p>
        <button type="button" class="primary" onClick={() => setMaking(true)}>
          New task
        </button>
      </div>
      <Loaded data={data}>
        {({ items, next }) => {
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
              <div ref={board} class="board" role="region" aria-label="Task board" tabIndex={0}>
                {columns.map((column) => (
                  <BoardColumn
                    key={column.status}
                    column={column}
                    tasks={tasks.filter(({ status }) => status === column.status)}
                    isWhole={next === undefined}
                    agents={agents}
                    onMove={move}
                    onReload={data.again}
                  />
                ))}
              </div>
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
            setMessage(`“${title}” is made.`)
            data.again()
          }}
        />
      )}
    </>
  )
}
