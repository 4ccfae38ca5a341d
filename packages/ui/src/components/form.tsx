import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { settle } from '../clickjacking.js'
import { Fault, faultOf } from '../field-fault.js'
import type { Action } from '../use-action.js'
import { ErrorNotice } from './loaded.js'

/** A button of an action. While that runs, the button says so and keeps the focus, which a disabled one would lose. */
export const ActionButton = ({
  action,
  isOff = false,
  onClick,
  class: className,
  children,
}: {
  action: Pick<Action<never>, 'busy'>
  /** Whether there is nothing to do; default false. */
  isOff?: boolean
  /** Absent for the button of a form. */
  onClick?: () => void
  class?: string
  children: ComponentChildren
}) => (
  <button
    type={onClick ? 'button' : 'submit'}
    class={className}
    aria-disabled={action.busy || isOff}
    aria-busy={action.busy}
    onClick={onClick}
  >
    {children}
  </button>
)

/**
 * A button by which people agree to what others have written or ask for, or that something is gone: a click on it does nothing until it has been in
 * sight for a moment.
 */
export function AgreeButton({
  action: { busy } = { busy: false },
  onClick,
  class: className,
  children,
}: {
  action?: Pick<Action<never>, 'busy'>
  onClick: () => void
  class?: string
  children: ComponentChildren
}) {
  const [isSettled, setSettled] = useState(false)
  useEffect(() => settle(setSettled), [])
  return (
    <button
      type="button"
      class={className}
      aria-disabled={busy || !isSettled}
      aria-busy={busy}
      // Keys have no detail, and are no click that was meant for something else.
      onClick={({ detail }) => void ((isSettled || detail === 0) && onClick())}
    >
      {children}
    </button>
  )
}

/** Fields of a form that few need. */
export const Folded = ({ summary, children }: { summary: string; children: ComponentChildren }) => (
  // A field that is wrong can be pointed at only where it is shown.
  <details onInvalidCapture={(event) => (event.currentTarget.open = true)}>
    <summary>{summary}</summary>
    <div class="stack">{children}</div>
  </details>
)

/** The field of a form with a name, as far as it is shown. */
const fieldOf = (form: HTMLFormElement, name: string): HTMLInputElement | undefined =>
  ([...form.elements] as HTMLInputElement[]).find((one) => one.name === name && one.type !== 'hidden')

/** A form whose fields an action takes, with why that failed: beside the field that the error names, which gets the focus, or else below. */
export function Form({
  action,
  label,
  done,
  hasChanges = true,
  fault: otherError,
  others,
  children,
}: {
  action: Action<[FormData]>
  /** What the button says. */
  label: string
  /** What is said once it has succeeded, such as `Saved.`, where the form stays. */
  done?: string
  /** Whether there is anything to send; default true. */
  hasChanges?: boolean
  /** Why another action with the same fields failed, such as a test of them. */
  fault?: unknown
  /** Other buttons, before the one that submits. */
  others?: ComponentChildren
  children: ComponentChildren
}) {
  const error = action.error ?? otherError
  const form = useRef<HTMLFormElement>(null)
  const names = ([...(form.current?.elements ?? [])] as HTMLInputElement[]).map(({ name }) => name)
  const fault = faultOf(error, names)
  useEffect(() => {
    const field = fault && fieldOf(form.current!, fault.name)
    // What is folded cannot have the focus.
    field?.closest('details')?.setAttribute('open', '')
    field?.focus()
  }, [error])
  return (
    <form
      ref={form}
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (hasChanges) action.run(new FormData(event.currentTarget))
      }}
    >
      <Fault.Provider value={fault}>{children}</Fault.Provider>
      <ErrorNotice error={fault ? undefined : error} />
      <div class="row end">
        <span class="muted small" role="status">
          {action.done && done}
        </span>
        {others}
        <ActionButton action={action} isOff={!hasChanges} class="primary">
          {action.busy ? `${label}…` : label}
        </ActionButton>
      </div>
    </form>
  )
}
