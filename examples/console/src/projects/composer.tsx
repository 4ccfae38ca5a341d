import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import type { Action } from '@turnpike/ui'
import { Attach, Attached } from './attachments.js'
import { attaching, attachUploads } from './attaching.js'
import type { Conversation } from './conversation-types.js'
import { messageField } from './conversation-store.js'
import { setUnsent, unsentOf } from './unsent.js'

/** Where the next message is typed, or an earlier one is changed. Enter sends it, Shift and Enter make a new line. */
export function Composer({
  projectId,
  conversation: { isWriting, edited, send },
  stopping,
  children,
}: {
  projectId: string
  conversation: Conversation
  stopping: Action<[]>
  /** What stands above it. */
  children: ComponentChildren
}) {
  const area = useRef<HTMLTextAreaElement>(null)
  const field = messageField(projectId, edited.value)
  const unsent = unsentOf(field)
  const text = unsent?.text ?? ''
  const isUploading = attaching.value.some((one) => one.field === field && one.fault === undefined)
  const isChange = edited.value !== undefined
  useEffect(() => {
    if (isChange) area.current!.focus()
  }, [edited.value])
  const giveUp = (): void => {
    setUnsent(field, undefined)
    edited.value = undefined
    area.current!.focus()
  }
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isWriting.value && !isUploading) void send()
        area.current!.focus()
      }}
    >
      {children}
      {isChange && (
        <p class="spread small">
          <span>
            <b>You change an earlier message.</b> It is sent as a new one and billed again; what is above stays.
          </span>
          <button type="button" class="link" onClick={giveUp}>
            Do not change it
          </button>
        </p>
      )}
      <div class="composer-box">
        <Attached field={field} />
        <textarea
          ref={area}
          aria-label="Message"
          aria-describedby="composer-hint"
          placeholder="Ask about the project"
          rows={Math.min(8, Math.max(2, text.split('\n').length))}
          value={text}
          onInput={(event) => setUnsent(field, { ...unsent, text: event.currentTarget.value })}
          onPaste={(event) => {
            const files = event.clipboardData?.files
            if (!files || files.length === 0) return
            event.preventDefault()
            attachUploads(field, files)
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && isChange) giveUp()
            // An input method takes Enter for itself.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            event.currentTarget.form!.requestSubmit()
          }}
        />
        <div class="composer-foot">
          <Attach field={field} />
          <span id="composer-hint" class="small muted">
            Enter sends, Shift + Enter makes a new line.
          </span>
          {isWriting.value ? (
            <button
              key="stop"
              type="button"
              aria-disabled={stopping.busy}
              onClick={() => {
                stopping.run()
                area.current!.focus()
              }}
            >
              {stopping.busy ? 'Stopping…' : 'Stop'}
            </button>
          ) : (
            <button key="send" class="primary" aria-disabled={text.trim() === '' || isUploading}>
              Send
            </button>
          )}
        </div>
      </div>
    </form>
  )
}
