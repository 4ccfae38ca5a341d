import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { render } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Close } from '../icons.js'
import { Icon } from './icon.js'

/** What a {@link toast} has besides its text. */
export interface ToastOptions {
  /** `bad` for what failed; default: it went well. */
  tone?: 'bad'
  /** What can be done about it, such as Undo. It closes the toast. */
  action?: { label: string; run: () => void }
}

interface Toast extends ToastOptions {
  id: number
  text: ComponentChildren
}

/** Milliseconds that a toast is shown, and one with an action or a failure. */
const SHOWN_MS = 6_000
const LONGER_MS = 12_000
/** How many are shown at a time, the latest. */
const MOST = 3

const toasts = signal<readonly Toast[]>([])
let made = 0

const close = (id: number): void => void (toasts.value = toasts.value.filter((one) => one.id !== id))

function Shown({ toast: { id, text, tone, action }, held }: { toast: Toast; held: boolean }) {
  useEffect(() => {
    if (held) return
    const timer = setTimeout(() => close(id), action || tone ? LONGER_MS : SHOWN_MS)
    return () => clearTimeout(timer)
  }, [held])
  return (
    <li class={`toast ${tone ?? ''}`}>
      <div class="break">{text}</div>
      {action && (
        <button
          type="button"
          onClick={() => {
            close(id)
            action.run()
          }}
        >
          {action.label}
        </button>
      )}
      <button type="button" class="quiet" aria-label="Dismiss" onClick={() => close(id)}>
        <Icon icon={Close} size={14} />
      </button>
    </li>
  )
}

/** The toasts. None goes away while the pointer or the focus is on one of them. */
function Toasts() {
  const [isOver, setOver] = useState(false)
  const [hasFocus, setFocus] = useState(false)
  const isEmpty = toasts.value.length === 0
  useEffect(() => {
    // What was left by neither pointer nor focus, because it is gone.
    if (isEmpty) {
      setOver(false)
      setFocus(false)
    }
  }, [isEmpty])
  return (
    <ul
      onPointerEnter={() => setOver(true)}
      onPointerLeave={() => setOver(false)}
      onFocusIn={() => setFocus(true)}
      onFocusOut={() => setFocus(false)}
    >
      {toasts.value.map((toast) => (
        <Shown key={toast.id} toast={toast} held={isOver || hasFocus} />
      ))}
    </ul>
  )
}

let host: HTMLElement | undefined

/** Puts the toasts above all else: into the dialog that is open, because nothing outside of it can be pressed. */
function place(): void {
  const parent = [...document.querySelectorAll('dialog:modal')].at(-1) ?? document.body
  if (host!.parentElement === parent) return
  parent.append(host!)
  host!.showPopover()
}

function start(): void {
  host = document.createElement('div')
  host.className = 'toasts'
  host.popover = 'manual'
  host.role = 'status'
  render(<Toasts />, host)
  // A dialog that opens or goes away.
  new MutationObserver(place).observe(document.body, { subtree: true, childList: true, attributeFilter: ['open'] })
}

/**
 * Says briefly, above the page and its dialogs, what was done or why it was not. It goes away by itself, after 6 seconds, or 12 with an action or a
 * failure; not while the pointer or the focus is on it.
 * @example toast('The file is deleted.', { action: { label: 'Undo', run: restore } })
 */
export function toast(text: ComponentChildren, options: ToastOptions = {}): void {
  if (!host) start()
  place()
  toasts.value = [...toasts.value, { id: ++made, text, ...options }].slice(-MOST)
}
