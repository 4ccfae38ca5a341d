import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import type { Action } from '../use-action.js'
import { Confirm } from './dialog.js'
import { ActionButton } from './form.js'

/**
 * A button that asks before it runs an action that cannot be undone.
 * @param label what it says, and the button of the question
 * @param busy what it says while the action is running
 * @param title the question; `children` say what follows
 * @param class how the button looks; default `danger`
 */
export function ConfirmButton({
  action,
  label,
  busy,
  title,
  class: className = 'danger',
  children,
}: {
  action: Action<[]>
  label: string
  busy: string
  title: string
  class?: string
  children: ComponentChildren
}) {
  const [isAsking, ask] = useState(false)
  return (
    <>
      <ActionButton action={action} class={className} onClick={() => ask(true)}>
        {action.busy ? busy : label}
      </ActionButton>
      {isAsking && (
        <Confirm title={title} action={label} onConfirm={action.run} onClose={() => ask(false)}>
          {children}
        </Confirm>
      )}
    </>
  )
}
