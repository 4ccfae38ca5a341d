import type { RefObject } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { TaskStatus } from './tasks.js'

/** Pixels that the pointer of a mouse moves before a press is a drag, and that a finger may tremble during a long press. */
const MOVED_PX = 6
/** Milliseconds of a long press, after which a finger drags in place of scrolling. */
const PRESS_MS = 350
/** Pixels from a side of the board at which it is scrolled, and by how many at a time. */
const EDGE_PX = 48
const SCROLL_PX = 16

/** What is dragged. */
export interface Drag {
  /** The card that was taken. */
  id: string
  /** The column that it is over: an element with `data-status`. */
  over: TaskStatus | undefined
}

/** The column at a place of the window. */
const statusAt = (x: number, y: number): TaskStatus | undefined =>
  document.elementFromPoint(x, y)?.closest<HTMLElement>('[data-status]')?.dataset['status'] as TaskStatus | undefined

/**
 * Lets the cards in an element, those with `data-task`, be dragged by mouse and pen, and by a finger after a long press. `Esc` gives up.
 * @param isOn whether they can be, which stays as it is
 * @param ghost what is shown at the pointer meanwhile; it takes no pointer events
 * @param onDrop called with the id of the card, and the column that it was dropped on
 */
export function useDrag(
  isOn: boolean,
  board: RefObject<HTMLElement | null>,
  ghost: RefObject<HTMLElement | null>,
  onDrop: (id: string, status: TaskStatus) => void,
): Drag | undefined {
  const [drag, setDrag] = useState<Drag>()
  const drop = useRef(onDrop)
  drop.current = onDrop
  useEffect(() => {
    if (!isOn) return
    const root = board.current!
    let end: (() => void) | undefined

    const press = (down: PointerEvent): void => {
      const target = down.target as Element
      const card = target.closest<HTMLElement>('[data-task]')
      if (end || !card || down.button !== 0 || target.closest('button, input, [popover]')) return
      const id = card.dataset['task']!
      const isFinger = down.pointerType === 'touch'
      const done = new AbortController()
      const on = (
        of: EventTarget,
        type: string,
        listener: (event: never) => void,
        options: AddEventListenerOptions = {},
      ): void => of.addEventListener(type, listener as EventListener, { signal: done.signal, ...options })
      let at = { x: down.clientX, y: down.clientY }
      let over: TaskStatus | undefined
      let isDragged = false
      let timer: ReturnType<typeof setTimeout> | undefined

      const follow = (): void => {
        const { left, right } = root.getBoundingClientRect()
        root.scrollLeft += at.x > right - EDGE_PX ? SCROLL_PX : at.x < left + EDGE_PX ? -SCROLL_PX : 0
        const width = ghost.current?.offsetWidth ?? 0
        if (ghost.current) ghost.current.style.translate = `${Math.min(at.x, innerWidth - width)}px ${at.y}px`
        const now = statusAt(at.x, at.y)
        if (now !== over || !isDragged) setDrag({ id, over: now })
        over = now
        isDragged = true
      }
      end = (): void => {
        end = undefined
        clearTimeout(timer)
        done.abort()
        if (!isDragged) return
        setDrag(undefined)
        // The click that ends a drag opens nothing.
        const swallow = (event: Event): void => {
          event.preventDefault()
          event.stopPropagation()
        }
        addEventListener('click', swallow, { capture: true, once: true })
        setTimeout(() => removeEventListener('click', swallow, { capture: true }))
      }
      if (isFinger) timer = setTimeout(follow, PRESS_MS)

      on(document, 'pointermove', ({ pointerId, clientX, clientY }: PointerEvent) => {
        if (pointerId !== down.pointerId) return
        const isFar = Math.hypot(clientX - down.clientX, clientY - down.clientY) > MOVED_PX
        at = { x: clientX, y: clientY }
        if (isDragged || (isFar && !isFinger)) follow()
        else if (isFar) end?.()
      })
      on(document, 'pointerup', ({ pointerId }: PointerEvent) => {
        if (pointerId !== down.pointerId) return
        const isDropped = isDragged && over !== undefined
        end?.()
        if (isDropped) drop.current(id, over!)
      })
      // The browser takes the finger to scroll.
      on(document, 'pointercancel', () => end?.())
      // Of the card, because those of a card that is not drawn any more go nowhere else.
      on(card, 'touchmove', (event: Event) => isDragged && event.preventDefault(), { passive: false })
      on(document, 'contextmenu', (event: Event) => isFinger && event.preventDefault())
      on(document, 'selectstart', (event: Event) => event.preventDefault())
      on(
        document,
        'keydown',
        (event: KeyboardEvent) => {
          if (event.key !== 'Escape' || !isDragged) return
          event.preventDefault()
          event.stopPropagation()
          end?.()
        },
        { capture: true },
      )
    }
    root.addEventListener('pointerdown', press)
    return () => {
      end?.()
      root.removeEventListener('pointerdown', press)
    }
  }, [])
  return drag
}
