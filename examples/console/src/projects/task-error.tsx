import { ErrorNotice, Notice } from '@turnpike/ui'
import { ChangedMeanwhile } from './tasks.js'

/** Why a task was not changed; where somebody else changed it, with a button that shows what it is now. */
export const TaskError = ({ error, onShow }: { error: unknown; onShow: () => void }) =>
  error instanceof ChangedMeanwhile ? (
    <Notice tone="warn">
      <p>{error.message}</p>
      <div>
        <button type="button" onClick={onShow}>
          Show it as it is now
        </button>
      </div>
    </Notice>
  ) : error === undefined ? null : (
    <ErrorNotice error={error} />
  )
