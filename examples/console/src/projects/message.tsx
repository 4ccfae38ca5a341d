import { time } from '@turnpike/ui'
import type { ComponentChildren } from 'preact'
import type { Message as MessageOf } from './conversation-store.js'

const names: Record<MessageOf['role'], string> = { user: 'You', assistant: 'Assistant', system: 'System' }

/** A message of a conversation, as text. */
export const Message = ({
  message: { role, text, timestamp, incomplete },
  children,
}: {
  message: Omit<MessageOf, 'id'>
  children?: ComponentChildren
}) => (
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
    {children}
  </li>
)

/** Up to 2,000 characters, of which none is cut in two. */
const PIECE = /[^]{1,2000}/gu

/** A text that grows at its end. It is shown in pieces, so that only the last one changes. */
export const RunningText = ({ text }: { text: string }) =>
  (text.match(PIECE) ?? []).map((piece, i) => <span key={i}>{piece}</span>)
