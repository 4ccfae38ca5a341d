import { Confirm, Menu, useAction } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { Task } from './tasks.js'
import { changeTask, columns } from './tasks.js'

/**
 * Moves a task to another column. Any status may follow any other, unless the platform's task policy refuses it. Asks
 * before a task that needs approval is done without it.
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
  const [isAsking, ask] = useState(false)
  return (
    <>
      <Menu
        label={busy ? 'Moving…' : 'Move'}
        name={`Move “${task.title}”`}
        busy={busy}
        options={columns.filter(({ status }) => status !== task.status).map(({ status, name }) => [status, name])}
        onChoose={(status) => (status === 'done' && task.requires_user_approval ? ask(true) : run(status))}
      />
      {isAsking && (
        <Confirm
          title="Done without approval?"
          action="Skip the approval"
          onConfirm={() => run('done')}
          onClose={() => ask(false)}
        >
          <p class="break">
            “{task.title}” needs approval. Moving it to Done skips that, and its draft does not become the output. To
            approve it, open the task.
          </p>
        </Confirm>
      )}
    </>
  )
}
