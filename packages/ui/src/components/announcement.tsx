import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/** A notice of what an action has done. It takes the focus, because what had it may be gone. */
export function Announcement({ tone, children }: { tone?: 'warn'; children: ComponentChildren }) {
  const ref = useRef<HTMLDivElement>(null)
  useEffect(() => ref.current!.focus(), [])
  return (
    <div ref={ref} class={`notice ${tone ?? ''}`} role="status" tabIndex={-1}>
      {children}
    </div>
  )
}
