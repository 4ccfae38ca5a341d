import { time } from '@turnpike/ui'
import type { Message as MessageOf } from './conversation-store.js'

const names: Record<MessageOf['role'], string> = { user: 'You', assistant: 'Assistant', system: 'System' }

/** A message of a conversation, as text. */
export const Message = ({ message: { role, text, timestamp, incomplete } }: { message: MessageOf }) => (
  <li class={`message ${role}`}>
    <div class="spread small muted">
      <b>{names[role]}</b>
      <time class="number" dateTime={timestamp}>
        {time(timestamp)}
      </time>
    </div>
    {text !== '' && <p class="text">{text}</p>}
    {incomplete && (
      <p class="small warn">
        {text === ''
          ? 'Nothing of this answer has come yet, or it broke off.'
          : 'This answer is not whole: it broke off here.'}
      </p>
    )}
  </li>
)

/** Up to 2,000 characters, of which none is cut in two. */
const PIECE = /[^]{1,2000}/gu

/** A message that is being written. Its text is shown in pieces, so that only the last one changes. */
export const MessageBeingWritten = ({ text }: { text: string }) => (
  <li class="message assistant" aria-busy="true">
    <b class="small muted">{names.assistant}</b>
    <p class="text">
      {text.match(PIECE)?.map((piece, i) => (
        <span key={i}>{piece}</span>
      ))}
      <span class="cursor" aria-hidden="true" />
    </p>
  </li>
)
