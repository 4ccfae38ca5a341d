import type { ComponentChildren } from 'preact'
import type { Data } from '../use-data.js'
import { Notice } from './layout.js'

/** What an error says, with what helps to find it in the log. */
export function ErrorNotice({ error, again }: { error: unknown; again?: () => void }) {
  const { message, requestId } = error as { message?: string; requestId?: string }
  return (
    <Notice tone="bad">
      <p>{message || 'Something went wrong.'}</p>
      {requestId !== undefined && <p class="small muted mono break">Request {requestId}</p>}
      {again && (
        <div>
          <button type="button" onClick={again}>
            Try again
          </button>
        </div>
      )}
    </Notice>
  )
}

/** Shows data, or why it cannot be read. Data that was read before stays where reading it again fails. */
export function Loaded<T>({ data, children }: { data: Data<T>; children: (value: T) => ComponentChildren }) {
  const { value, error, reading, again } = data
  return (
    <>
      {error !== undefined && <ErrorNotice error={error} again={again} />}
      {value !== undefined
        ? children(value)
        : reading && (
            <p class="loading" role="status">
              Loading…
            </p>
          )}
    </>
  )
}
