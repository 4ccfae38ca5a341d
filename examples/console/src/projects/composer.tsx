import { useRef } from 'preact/hooks'
import type { Conversation } from './conversation-store.js'
import { messageField } from './conversation-store.js'
import { type, typed } from './typed.js'

/** Where the next message is typed. Enter sends it, Shift and Enter make a new line. */
export function Composer({
  projectId,
  conversation: { reply, send, stop },
}: {
  projectId: string
  conversation: Conversation
}) {
  const area = useRef<HTMLTextAreaElement>(null)
  const field = messageField(projectId)
  const text = typed(field) ?? ''
  const isWriting = reply.value !== undefined
  return (
    <form
      class="composer"
      onSubmit={(event) => {
        event.preventDefault()
        if (!isWriting) void send()
        area.current!.focus()
      }}
    >
      <textarea
        ref={area}
        aria-label="Message"
        aria-describedby="composer-hint"
        placeholder="Ask about the project"
        rows={Math.min(8, Math.max(2, text.split('\n').length))}
        value={text}
        onInput={(event) => type(field, event.currentTarget.value)}
        onKeyDown={(event) => {
          // An input method takes Enter for itself.
          if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
          event.preventDefault()
          event.currentTarget.form!.requestSubmit()
        }}
      />
      <div class="spread">
        <span id="composer-hint" class="small muted">
          Enter sends, Shift + Enter makes a new line.
        </span>
        {isWriting ? (
          <button type="button" onClick={stop}>
            Stop
          </button>
        ) : (
          <button class="primary" aria-disabled={text.trim() === ''}>
            Send
          </button>
        )}
      </div>
    </form>
  )
}
