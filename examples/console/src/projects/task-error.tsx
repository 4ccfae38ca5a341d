import { ErrorNotice, Notice } from '@turnpike/ui'
import type { Task } from './tasks.js'
import { ChangedMeanwhile } from './tasks.js'

/**
 * Why a task was not changed; where somebody else changed it, with a button that shows what it is now.
 * @param task as it is shown
 */
export function TaskError({ error, task, onShow }: { error: unknown; task: Task; onShow: () => void }) {
  if (error === undefined) return null
  if (!(error instanceof ChangedMeanwhile)) return <ErrorNotice error={error} />
  if (error.at <= task.updated_at) return null
  return (
    <Notice tone="warn">
      <p>{error.message}</p>
      <div>
        <button type="button" onClick={onShow}>
          Show it as it is now
        </button>
      </div>
    </Notice>
  )
}
