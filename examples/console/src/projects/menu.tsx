import { Icon, icons } from '@turnpike/ui'
import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'

/** Room that a menu needs below its button, in pixels, to be opened there. */
const ROOM = 240

/**
 * A button that opens a menu. Arrow keys move in it, Enter chooses, Esc closes it.
 * @param name what it is a menu of, for screen readers
 */
export function Menu<T extends string>({
  label,
  name,
  busy,
  options,
  onChoose,
}: {
  label: ComponentChildren
  name: string
  busy: boolean
  options: readonly (readonly [T, string])[]
  onChoose: (option: T) => void
}) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)

  const place = (): void => {
    const { left, right, top, bottom } = button.current!.getBoundingClientRect()
    const { style } = list.current!
    const fits = bottom + ROOM < innerHeight
    const width = document.documentElement.clientWidth
    const isLeft = left + right < width
    style.left = isLeft ? `${left}px` : 'auto'
    style.right = isLeft ? 'auto' : `${width - right}px`
    style.top = fits ? `${bottom}px` : 'auto'
    style.bottom = fits ? 'auto' : `${innerHeight - top}px`
  }
  const move = (event: KeyboardEvent): void => {
    const items = [...list.current!.querySelectorAll('button')]
    const at = items.indexOf(document.activeElement as HTMLButtonElement)
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') list.current!.hidePopover()
    if (next === undefined) return
    event.preventDefault()
    items.at(next % items.length)!.focus()
  }

  return (
    <>
      <button
        ref={button}
        type="button"
        class="quiet"
        aria-label={name}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-busy={busy}
        aria-disabled={busy}
        popovertarget={busy ? undefined : id}
      >
        {label}
        <Icon icon={icons.Open} size={14} />
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={name}
        class="menu"
        onBeforeToggle={place}
        onToggle={(event) => {
          const opens = event.newState === 'open'
          setOpen(opens)
          if (opens) list.current!.querySelector('button')!.focus()
        }}
        onKeyDown={move}
      >
        {options.map(([option, text]) => (
          <button
            key={option}
            type="button"
            role="menuitem"
            class="quiet"
            tabIndex={-1}
            onClick={() => {
              list.current!.hidePopover()
              onChoose(option)
            }}
          >
            {text}
          </button>
        ))}
      </div>
    </>
  )
}
