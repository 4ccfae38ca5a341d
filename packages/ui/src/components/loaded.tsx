import type { ComponentChildren } from 'preact'
import type { Data } from '../use-data.js'
import { time } from '../format.js'
import { Notice } from './layout.js'
import type { Shape } from './skeleton.js'
import { Skeleton } from './skeleton.js'

/** What an error says, with what helps to find it in the log; nothing where it is undefined. @param children what else is to be known */
export function ErrorNotice({
  error,
  again,
  children,
}: {
  error: unknown
  again?: () => void
  children?: ComponentChildren
}) {
  if (error === undefined) return null
  const { message, requestId } = error as { message?: string; requestId?: string }
  // What `fetch` throws without an answer; each browser words it in its own way.
  const text = error instanceof TypeError ? 'The server cannot be reached.' : message
  return (
    <Notice tone="bad">
      <p>{text || 'Something went wrong.'}</p>
      {children}
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

/**
 * Shows data, or why it cannot be read. Data that was read before stays where reading it again fails, and it is said when that was.
 * @param shape what the data looks like, which is drawn until it is there; default rows
 */
export function Loaded<T>({
  data,
  shape = 'rows',
  children,
}: {
  data: Data<T>
  shape?: Shape
  children: (value: T) => ComponentChildren
}) {
  const { value, readAt, error, reading, again } = data
  return (
    <>
      <ErrorNotice error={error} again={again}>
        {readAt && <p class="small muted">What is shown was read at {time(readAt)}.</p>}
      </ErrorNotice>
      {value !== undefined
        ? children(value)
        : reading && (
            <div class="reading">
              <p class="visually-hidden" role="status">
                Loading…
              </p>
              <Skeleton shape={shape} />
            </div>
          )}
    </>
  )
}
