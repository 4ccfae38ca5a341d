import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Close } from '../icons.js'
import { useTitle } from '../title.js'
import { AgreeButton } from './form.js'
import { Icon } from './icon.js'

/**
 * A dialog over the page: a drawer at its side, or a box in its middle. The browser keeps the focus in it, and `Esc` closes it.
 * @param onClose called when it has been closed; the parent then leaves it out
 */
export function Dialog({
  title,
  form = 'drawer',
  actions,
  onClose,
  children,
}: {
  title: ComponentChildren
  form?: 'drawer' | 'drawer wide' | 'drawer menu-drawer' | 'box'
  actions?: ComponentChildren
  onClose: () => void
  children: ComponentChildren
}) {
  const ref = useRef<HTMLDialogElement>(null)
  const heading = useRef<HTMLHeadingElement>(null)
  const pressedBeside = useRef(false)
  const titleId = useId()
  // At once: the event comes some time after, when what was closed may have been opened again.
  const close = (): void => {
    ref.current!.close()
    onClose()
  }
  useTitle(typeof title === 'string' && form !== 'box' ? title : undefined, 2)
  useEffect(() => {
    const before = document.activeElement
    ref.current!.showModal()
    return () => {
      // Unless what was done in the dialog has led it elsewhere. What an address has opened gives it to the page.
      const { activeElement, body } = document
      if (activeElement !== body) return
      if (before === body) document.querySelector('h1')?.focus()
      else if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [])
  useEffect(() => {
    // A title that is longer than its room is scrolled by keys.
    const { scrollHeight, clientHeight } = heading.current!
    heading.current!.tabIndex = scrollHeight > clientHeight ? 0 : -1
  })
  return (
    <dialog
      ref={ref}
      class={form}
      aria-labelledby={titleId}
      // A field for files has this event too.
      onCancel={(event) => {
        if (event.target !== ref.current) return
        event.preventDefault()
        close()
      }}
      // A browser may close it without asking first.
      onClose={() => ref.current && onClose()}
      // A selection of text that ends beside the dialog is no click beside it.
      onPointerDown={(event) => (pressedBeside.current = event.target === ref.current)}
      onClick={(event) => pressedBeside.current && event.target === ref.current && close()}
    >
      <header>
        <h2 ref={heading} id={titleId} class="break">
          {title}
        </h2>
        <div class="row">
          {actions}
          <button type="button" class="quiet" aria-label="Close" onClick={close}>
            <Icon icon={Close} />
          </button>
        </div>
      </header>
      <div class="body">{children}</div>
    </dialog>
  )
}

/** Asks before something that cannot be undone. */
export function Confirm({
  title,
  action,
  onConfirm,
  onClose,
  children,
}: {
  title: string
  action: string
  onConfirm: () => void
  onClose: () => void
  children: ComponentChildren
}) {
  return (
    <Dialog title={title} form="box" onClose={onClose}>
      <div class="stack">{children}</div>
      <div class="row end">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <AgreeButton
          class="danger"
          onClick={() => {
            onConfirm()
            onClose()
          }}
        >
          {action}
        </AgreeButton>
      </div>
    </Dialog>
  )
}
