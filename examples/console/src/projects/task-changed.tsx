import { ErrorNotice, Notice, time } from '@turnpike/ui'
import type { ComponentChildren } from 'preact'
import type { Task } from './tasks.js'
import { ChangedMeanwhile, columnOf } from './tasks.js'

/** Says that a task was changed by somebody else. @param action what the button says */
export const TaskChanged = ({
  task: { status, updated_at },
  action = 'Show it as it is now',
  onAction,
  children,
}: {
  task: Pick<Task, 'status' | 'updated_at'>
  action?: string
  onAction: () => void
  children?: ComponentChildren
}) => (
  <Notice tone="warn">
    <p>
      Somebody changed this task at {time(updated_at)}; it is now “{columnOf(status).name}”.
    </p>
    {children}
    <div>
      <button type="button" onClick={onAction}>
        {action}
      </button>
    </div>
  </Notice>
)

/** Why a task was not changed. @param task as it is shown */
export function TaskError({ error, task, onShow }: { error: unknown; task: Task; onShow: () => void }) {
  if (error === undefined) return null
  if (!(error instanceof ChangedMeanwhile)) return <ErrorNotice error={error} />
  if (error.task.updated_at <= task.updated_at) return null
  return (
    <TaskChanged task={error.task} onAction={onShow}>
      <p>Nothing of yours was saved.</p>
    </TaskChanged>
  )
}
