import type { ComponentChildren } from 'preact'
import type { Action } from '../use-action.js'
import { ErrorNotice } from './loaded.js'

/** A button of an action. While that runs, the button says so and keeps the focus, which a disabled one would lose. */
export const ActionButton = ({
  action,
  onClick,
  class: className,
  children,
}: {
  action: Pick<Action<never>, 'busy'>
  /** Absent for the button of a form. */
  onClick?: () => void
  class?: string
  children: ComponentChildren
}) => (
  <button
    type={onClick ? 'button' : 'submit'}
    class={className}
    aria-disabled={action.busy}
    aria-busy={action.busy}
    onClick={onClick}
  >
    {children}
  </button>
)

/** A form whose fields an action takes, with why that failed. */
export const Form = ({
  action,
  label,
  done,
  children,
}: {
  action: Action<[FormData]>
  /** What the button says. */
  label: string
  /** What is said once it has succeeded, such as `Saved.`, where the form stays. */
  done?: string
  children: ComponentChildren
}) => (
  <form
    class="stack"
    onSubmit={(event) => {
      event.preventDefault()
      action.run(new FormData(event.currentTarget))
    }}
  >
    {children}
    <ErrorNotice error={action.error} />
    <div class="row end">
      <span class="muted small" role="status">
        {action.done && done}
      </span>
      <ActionButton action={action} class="primary">
        {action.busy ? `${label}…` : label}
      </ActionButton>
    </div>
  </form>
)

/** The text of a field, without space around it. */
export const textOf = (fields: FormData, name: string): string => String(fields.get(name) ?? '').trim()
