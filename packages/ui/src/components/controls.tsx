import type { JSX } from 'preact'
import { useContext, useId } from 'preact/hooks'
import { Fault } from '../field-fault.js'
import { Dark, Light, SystemTheme } from '../icons.js'
import { nextTheme, themeNames } from '../stored-theme.js'
import { theme } from '../theme.js'
import { useCopy } from '../use-copy.js'
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
  const { result, copy } = useCopy(text)
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
