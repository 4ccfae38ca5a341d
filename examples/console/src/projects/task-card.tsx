import { Ago, linkTo, route } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { MoveMenu } from './move-menu.js'
import { TaskError } from './task-changed.js'
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
  const notes = [
    agentOf(task, agents),
    task.requires_user_approval && task.status !== 'done' && 'needs your approval',
  ].filter(Boolean)
  return (
    <li class="card">
      <a id={cardId(task.id)} class="break clamp" href={linkTo(route.value.path, { task: task.id })}>
        {task.title}
      </a>
      {notes.length > 0 && <span class="small muted">{notes.join(' · ')}</span>}
      <div class="spread">
        <time class="small muted number" dateTime={task.updated_at} title="Changed">
          <Ago at={task.updated_at} />
        </time>
        <MoveMenu task={task} onMove={onMove} onError={setError} />
      </div>
      <TaskError error={error} task={task} onShow={onReload} />
    </li>
  )
}
