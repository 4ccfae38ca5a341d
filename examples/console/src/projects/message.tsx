import { time } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import type { Message as MessageOf } from './conversation-store.js'

const names: Record<MessageOf['role'], string> = { user: 'You', assistant: 'Assistant', system: 'System' }

/** A message of a conversation. */
export const Message = ({ message: { role, text, timestamp, incomplete } }: { message: MessageOf }) => (
  <li class={`message ${role}`}>
    <div class="spread small muted">
      <b>{names[role]}</b>
      <time class="number" dateTime={timestamp}>
        {time(timestamp)}
      </time>
    </div>
    {text !== '' && <Markdown text={text} />}
    {incomplete && (
      <p class="small warn">
        {text === ''
          ? 'Nothing of this answer has come yet, or it broke off.'
          : 'This answer is not whole: it broke off here.'}
      </p>
    )}
  </li>
)

/** A message that is being written. */
export const MessageBeingWritten = ({ text }: { text: string }) => (
  <li class="message assistant" aria-busy="true">
    <b class="small muted">{names.assistant}</b>
    {text === '' ? <span class="cursor" aria-hidden="true" /> : <Markdown text={text} isGrowing />}
  </li>
)
