import { useAction } from '@turnpike/ui'
import { Menu } from './menu.js'
import type { Task } from './tasks.js'
import { changeTask, columns } from './tasks.js'

/**
 * Moves a task to another column. Any status may follow any other, unless the platform's task policy refuses it.
 * @param onMove called with the task as the platform answered it
 */
export function MoveMenu({
  task,
  onMove,
  onError,
}: {
  task: Task
  onMove: (task: Task) => void
  /** Called with why it was not moved, and with undefined when another move begins. */
  onError: (error: unknown) => void
}) {
  const { run, busy } = useAction((status: Task['status']) => {
    onError(undefined)
    return changeTask(task, { status }).then(onMove, onError)
  })
  return (
    <Menu
      label={busy ? 'Moving…' : 'Move'}
      name={`Move “${task.title}”`}
      busy={busy}
      options={columns.filter(({ status }) => status !== task.status).map(({ status, name }) => [status, name])}
      onChoose={run}
    />
  )
}
