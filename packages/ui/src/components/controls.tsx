import type { ComponentChildren, JSX } from 'preact'
import { useContext, useEffect, useId, useRef, useState } from 'preact/hooks'
import { Fault } from '../field-fault.js'
import { Close, Dark, Light, SystemTheme } from '../icons.js'
import { nextTheme, themeNames } from '../stored-theme.js'
import { theme } from '../theme.js'
import { useTitle } from '../title.js'
import { Icon } from './icon.js'

/** The icon of each theme. */
export const themeIcons = { '': SystemTheme, dark: Dark, light: Light }

/** A control with its label, and below it a hint, or what is wrong there. */
export function Field({
  label,
  hint,
  name,
  children,
}: {
  label: string
  hint?: string | undefined
  /** The name of the control, by which the API calls the field: an error that begins with it appears here. */
  name?: string
  children: (ids: {
    id: string
    name: string | undefined
    'aria-describedby': string | undefined
    'aria-invalid': boolean
  }) => JSX.Element
}) {
  const id = useId()
  const noteId = `${id}-note`
  const fault = useContext(Fault)
  const error = name !== undefined && fault?.name === name ? fault.text : undefined
  const note = error ?? hint
  return (
    <div class="field">
      <span>
        <label for={id}>{label}</label>
      </span>
      {children({
        id,
        name,
        'aria-describedby': note === undefined ? undefined : noteId,
        'aria-invalid': error !== undefined,
      })}
      {note !== undefined && (
        <span id={noteId} class={`small ${error === undefined ? 'muted' : 'fault'}`}>
          {note}
        </span>
      )}
    </div>
  )
}

/** A check box with its label beside it. */
export const Check = ({
  label,
  name,
  checked,
  onChange,
}: {
  label: string
  name?: string
  checked: boolean
  onChange: (checked: boolean) => void
}) => (
  <label class="field check">
    <span>{label}</span>
    <input type="checkbox" name={name} checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
  </label>
)

/** A few choices side by side, of which one is pressed. */
export function Segmented<T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string
  options: readonly (readonly [T, string])[]
  value: T
  onChange: (value: T) => void
}) {
  return (
    <div class="segmented" role="group" aria-label={label}>
      {options.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>
          {text}
        </button>
      ))}
    </div>
  )
}

/** Copies a text to the clipboard, and says so. */
export function Copy({ text, label = 'Copy', class: className }: { text: string; label?: string; class?: string }) {
  const [result, setResult] = useState('')
  useEffect(() => {
    if (result === '') return
    const timer = setTimeout(() => setResult(''), 2_000)
    return () => clearTimeout(timer)
  }, [result])
  const copy = async (): Promise<void> => {
    try {
      // Pages over plain HTTP have no clipboard.
      await navigator.clipboard.writeText(text)
      setResult('Copied')
    } catch {
      setResult('Not copied')
    }
  }
  return (
    <>
      <button type="button" class={className} onClick={() => void copy()}>
        {result || label}
      </button>
      <span class="visually-hidden" role="status">
        {result}
      </span>
    </>
  )
}

/** A text to be copied, such as a command. */
export function Code({ text, label }: { text: string; label?: string }) {
  return (
    <div class="code">
      <pre tabIndex={0} aria-label={label ?? 'Code'}>
        <code>{text}</code>
      </pre>
      <Copy text={text} />
    </div>
  )
}

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
      // The event comes some time after the dialog was closed, when another one may have taken its place.
      onClose={() => ref.current && onClose()}
      // A selection of text that ends beside the dialog is no click beside it.
      onPointerDown={(event) => (pressedBeside.current = event.target === ref.current)}
      onClick={(event) => pressedBeside.current && event.target === ref.current && ref.current!.close()}
    >
      <header>
        <h2 ref={heading} id={titleId} class="break">
          {title}
        </h2>
        <div class="row">
          {actions}
          <button type="button" class="quiet" aria-label="Close" onClick={() => ref.current!.close()}>
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
        <button
          type="button"
          class="danger"
          onClick={() => {
            onConfirm()
            onClose()
          }}
        >
          {action}
        </button>
      </div>
    </Dialog>
  )
}

/** Changes from the theme of the system to dark, to light and back. */
export const ThemeButton = () => (
  <button type="button" class="quiet" onClick={() => (theme.value = nextTheme[theme.value])}>
    <Icon icon={themeIcons[theme.value]} />
    {themeNames[theme.value]}
  </button>
)

/** Text that rows are chosen by. @param hint what it is compared with */
export const Filter = ({
  value,
  hint = 'Filter',
  onChange,
}: {
  value: string
  hint?: string
  onChange: (value: string) => void
}) => (
  <input
    type="search"
    class="filter"
    aria-label={hint === 'Filter' ? hint : `Filter: ${hint}`}
    placeholder={hint}
    value={value}
    onInput={(event) => onChange(event.currentTarget.value)}
  />
)
