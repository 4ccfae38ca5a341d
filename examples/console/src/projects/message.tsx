import { time } from '@turnpike/ui'
import type { Message as MessageOf } from './conversation-store.js'
import { MessageFoot, Thinking } from './message-parts.js'

const names: Record<MessageOf['role'], string> = { user: 'You', assistant: 'Assistant', system: 'System' }

/** A message of a conversation, as text. @param onEdit changes a message of the user, to send it as a new one */
export const Message = ({ message, onEdit }: { message: MessageOf; onEdit?: (() => void) | undefined }) => {
  const { role, text, timestamp, thinking } = message
  return (
    <li class={`message ${role}`}>
      <div class="spread small muted">
        <b>{names[role]}</b>
        <time class="number" dateTime={timestamp}>
          {time(timestamp)}
        </time>
      </div>
      <Thinking text={thinking} />
      {text !== '' && <p class="text">{text}</p>}
      <MessageFoot message={message} onEdit={onEdit} />
    </li>
  )
}

/** Up to 2,000 characters, of which none is cut in two. */
const PIECE = /[^]{1,2000}/gu

/** A message that is being written. Its text is shown in pieces, so that only the last one changes. */
export const MessageBeingWritten = ({ text, thinking }: { text: string; thinking?: string | undefined }) => (
  <li class="message assistant" aria-busy="true">
    <b class="small muted">{names.assistant}</b>
    <Thinking text={thinking} isRunning={text === ''} />
    <p class="text">
      {text.match(PIECE)?.map((piece, i) => (
        <span key={i}>{piece}</span>
      ))}
      <span class="cursor" aria-hidden="true" />
    </p>
  </li>
)
