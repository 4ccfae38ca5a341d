import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Open } from '../icons.js'
import { Icon } from './icon.js'

/** Room that a menu needs below its button, in pixels, to be opened there. */
const ROOM = 240

/** Something to choose in a {@link Menu}: by what it is told of, what it shows and, for a link, where that leads. */
export type MenuOption<T extends string> = readonly [option: T, shown: ComponentChildren, href?: string]

const focus = (element: HTMLElement | null): void => element?.focus()

/**
 * A button that opens a menu. Arrow keys move in it, Enter chooses, Esc closes it.
 * @param name what it is a menu of, for screen readers
 * @param busy whether what was chosen is running; default no
 * @param class of the button; default `quiet`
 * @param hasArrow whether the button shows that it opens something; default yes
 * @param tabIndex of the button; default 0
 * @param onOpen called before it is shown
 */
export function Menu<T extends string>({
  label,
  name,
  busy = false,
  class: className = 'quiet',
  hasArrow = true,
  tabIndex = 0,
  options,
  onOpen,
  onChoose,
}: {
  label: ComponentChildren
  name: string
  busy?: boolean
  class?: string
  hasArrow?: boolean
  tabIndex?: number
  options: readonly MenuOption<T>[]
  onOpen?: () => void
  onChoose: (option: T) => void
}) {
  const id = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLDivElement>(null)
  const [isOpen, setOpen] = useState(false)

  const place = (): void => {
    const { left, right, top, bottom } = button.current!.getBoundingClientRect()
    const { clientWidth } = document.documentElement
    const { style } = list.current!
    const fits = bottom + ROOM < innerHeight
    const isAtLeft = left + right < clientWidth
    style.left = isAtLeft ? `${left}px` : 'auto'
    style.right = isAtLeft ? 'auto' : `${clientWidth - right}px`
    style.top = fits ? `${bottom}px` : 'auto'
    style.bottom = fits ? 'auto' : `${innerHeight - top}px`
  }
  const itemsOf = (): HTMLElement[] => [...list.current!.querySelectorAll<HTMLElement>('[role=menuitem]')]
  const move = (event: KeyboardEvent): void => {
    const items = itemsOf()
    const at = items.indexOf(document.activeElement as HTMLElement)
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
        class={className}
        tabIndex={tabIndex}
        aria-label={name}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        aria-busy={busy}
        aria-disabled={busy}
        popovertarget={busy ? undefined : id}
      >
        {label}
        {hasArrow && <Icon icon={Open} size={14} />}
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        role="menu"
        aria-label={name}
        class="menu"
        onBeforeToggle={(event) => {
          if (event.newState === 'open') onOpen?.()
          place()
        }}
        onToggle={(event) => {
          setOpen(event.newState === 'open')
          // Where it was closed and opened at once, its options are there still.
          if (event.newState === 'open') itemsOf()[0]?.focus()
        }}
        onKeyDown={move}
      >
        {isOpen &&
          options.map(([option, shown, href], i) => {
            const item = {
              key: option,
              ref: i === 0 ? focus : null,
              role: 'menuitem',
              tabIndex: -1,
              onClick: () => {
                list.current!.hidePopover()
                onChoose(option)
              },
            } as const
            return href === undefined ? (
              <button {...item} type="button" class="quiet">
                {shown}
              </button>
            ) : (
              <a {...item} class="button quiet" href={href}>
                {shown}
              </a>
            )
          })}
      </div>
    </>
  )
}
