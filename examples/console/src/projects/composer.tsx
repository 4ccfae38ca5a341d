import { useRef } from 'preact/hooks'
import type { Conversation } from './conversation-store.js'
import { messageField } from './conversation-store.js'
import { setUnsent, unsentOf } from './unsent.js'

/** Where the next message is typed. Enter sends it, Shift and Enter make a new line. */
export function Composer({
  projectId,
  conversation: { reply, send, stop },
  onAskAgain,
}: {
  projectId: string
  conversation: Conversation
  /** Absent where there is nothing to answer again. */
  onAskAgain: (() => void) | undefined
}) {
  const area = useRef<HTMLTextAreaElement>(null)
  const field = messageField(projectId)
  const text = unsentOf(field)?.text ?? ''
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
        onInput={(event) => setUnsent(field, { text: event.currentTarget.value })}
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
        <div class="row">
          {onAskAgain && (
            <button type="button" onClick={onAskAgain}>
              Ask again
            </button>
          )}
          {isWriting ? (
            <button
              key="stop"
              type="button"
              onClick={() => {
                stop()
                area.current!.focus()
              }}
            >
              Stop
            </button>
          ) : (
            <button key="send" class="primary" aria-disabled={text.trim() === ''}>
              Send
            </button>
          )}
        </div>
      </div>
    </form>
  )
}
