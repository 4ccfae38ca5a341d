import { Announcement, Code } from '@turnpike/ui'
import type { ComponentChildren } from 'preact'

/**
 * The value of a key, token or link that was just made, which the server does not show again.
 * @param label what it is
 * @param request a command that uses it; default none
 * @param onDone called when the user has copied it; the parent then leaves it out
 */
export const ShownOnce = ({
  label,
  value,
  request,
  onDone,
  children,
}: {
  label: string
  value: string
  request?: string
  onDone: () => void
  children: ComponentChildren
}) => (
  <Announcement tone="warn">
    <p class="break">{children}</p>
    <Code text={value} label={label} />
    {request !== undefined && (
      <details>
        <summary>A first request</summary>
        <Code text={request} label="A first request" />
      </details>
    )}
    <div>
      <button type="button" onClick={onDone}>
        I have copied it
      </button>
    </div>
  </Announcement>
)
