import { linkTo, route, time } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { MoveMenu } from './move-menu.js'
import { TaskError } from './task-error.js'
import type { Agent, Task } from './tasks.js'
import { agentOf } from './tasks.js'

/** The id of the link to a task on the board. */
export const cardId = (taskId: string): string => `task-${taskId}`

/** A task on the board: its title opens it. */
export function TaskCard({
  task,
  agents,
  onMove,
  onReload,
}: {
  task: Task
  agents: readonly Agent[]
  onMove: (task: Task) => void
  onReload: () => void
}) {
  const [error, setError] = useState<unknown>()
  const agent = agentOf(task, agents)
  return (
    <li class="card">
      <a id={cardId(task.id)} class="break" href={linkTo(route.value.path, { task: task.id })}>
        {task.title}
      </a>
      {task.requires_user_approval && task.status !== 'done' && <span class="small muted">Needs your approval</span>}
      {agent !== undefined && <span class="small muted">{agent}</span>}
      <div class="spread">
        <time class="small muted number" dateTime={task.updated_at} title="Changed">
          {time(task.updated_at)}
        </time>
        <MoveMenu task={task} onMove={onMove} onError={setError} />
      </div>
      <TaskError
        error={error}
        onShow={() => {
          setError(undefined)
          onReload()
        }}
      />
    </li>
  )
}
