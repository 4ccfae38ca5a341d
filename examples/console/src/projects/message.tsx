import { Markdown } from '@turnpike/ui/markdown'
import { Attachments } from './attachments.js'
import type { Message as MessageOf } from './conversation-types.js'
import { account } from '../turnpike.js'
import { MessageFoot, Thinking } from './message-parts.js'
import { useIsOwner } from './role.js'

/** Who wrote a message, as the user knows them. */
function useAuthor({ role, user_id: userId }: MessageOf): string {
  const isOwner = useIsOwner()
  if (role !== 'user') return role === 'system' ? 'System' : 'Assistant'
  if (userId === undefined) return isOwner ? 'You' : 'The owner'
  return userId === account.value?.id ? 'You' : 'Another member'
}

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
  const author = useAuthor(message)
  // Where it stands says it of others.
  const isPlain = author === 'You' || role === 'assistant'
  return (
    <li class={`message ${role}`} aria-busy={isGrowing}>
      <b class={isPlain ? 'visually-hidden' : 'small muted'}>{author}</b>
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
