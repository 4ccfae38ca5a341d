import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** A button that opens a few controls below it. They close by `Esc`, or when something else gets the focus or is pressed. */
export function Popover({ name, children }: { name: string; children: ComponentChildren }) {
  const place = useRef<HTMLDetailsElement>(null)
  const [open, setOpen] = useState(false)
  useEffect(() => {
    const onPointerDown = ({ target }: PointerEvent): void => {
      if (!place.current!.contains(target as Node)) place.current!.open = false
    }
    addEventListener('pointerdown', onPointerDown)
    return () => removeEventListener('pointerdown', onPointerDown)
  }, [])
  return (
    <details
      ref={place}
      class="popover"
      onToggle={() => setOpen(place.current!.open)}
      onKeyDown={(event) => {
        if (event.key !== 'Escape' || !place.current!.open) return
        place.current!.open = false
        place.current!.querySelector('summary')!.focus()
      }}
      onFocusOut={({ relatedTarget }) => {
        if (relatedTarget instanceof Node && !place.current!.contains(relatedTarget)) place.current!.open = false
      }}
    >
      <summary class="button">{name}</summary>
      {open && <div class="popover-body">{children}</div>}
    </details>
  )
}
