import { Markdown } from '@turnpike/ui/markdown'
import { Attachments } from './attachments.js'
import type { Message as MessageOf } from './conversation-types.js'
import { MessageFoot, Thinking } from './message-parts.js'

const names: Record<MessageOf['role'], string> = { user: 'You', assistant: 'Assistant', system: 'System' }

/** A message of a conversation, also while it is being written. @param onEdit changes a message of the user @param onAskAgain asks for another answer */
export function Message({
  projectId,
  message,
  onEdit,
  onAskAgain,
}: {
  projectId: string
  message: MessageOf
  onEdit?: (() => void) | undefined
  onAskAgain?: (() => void) | undefined
}) {
  const { id: messageId, role, text, thinking, state, attachments } = message
  const isGrowing = state === 'running'
  return (
    <li class={`message ${role}`} aria-busy={isGrowing}>
      <b class={role === 'system' ? 'small muted' : 'visually-hidden'}>{names[role]}</b>
      {attachments && <Attachments files={attachments} of={{ id: projectId, messageId }} />}
      <div class="said">
        <Thinking text={thinking} isRunning={isGrowing && text === ''} />
        {text !== '' && <Markdown text={text} isGrowing={isGrowing} hasTools={false} />}
        {isGrowing && text === '' && <span class="cursor" aria-hidden="true" />}
      </div>
      {!isGrowing && <MessageFoot message={message} onEdit={onEdit} onAskAgain={onAskAgain} />}
    </li>
  )
}
