import { Ago } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import type { Message as MessageOf } from './conversation-store.js'
import { MessageFoot, Thinking } from './message-parts.js'

const names: Record<MessageOf['role'], string> = { user: 'You', assistant: 'Assistant', system: 'System' }

/** A message of a conversation. @param onEdit changes a message of the user, to send it as a new one */
export const Message = ({ message, onEdit }: { message: MessageOf; onEdit?: (() => void) | undefined }) => {
  const { role, text, timestamp, thinking } = message
  return (
    <li class={`message ${role}`}>
      <div class="spread small muted">
        <b>{names[role]}</b>
        <Ago at={timestamp} />
      </div>
      <Thinking text={thinking} />
      {text !== '' && <Markdown text={text} />}
      <MessageFoot message={message} onEdit={onEdit} />
    </li>
  )
}

/** A message that is being written. */
export const MessageBeingWritten = ({ text, thinking }: { text: string; thinking?: string | undefined }) => (
  <li class="message assistant" aria-busy="true">
    <b class="small muted">{names.assistant}</b>
    <Thinking text={thinking} isRunning={text === ''} />
    {text === '' ? <span class="cursor" aria-hidden="true" /> : <Markdown text={text} isGrowing />}
  </li>
)
