import { count, usd } from '@turnpike/ui'
import type { Message } from './conversation-store.js'

/** What a model thought before it wrote, folded. @param isRunning whether it thinks still */
export const Thinking = ({ text, isRunning = false }: { text: string | undefined; isRunning?: boolean }) =>
  text ? (
    <details class="thinking small muted">
      <summary>{isRunning ? 'Thinking…' : 'Thoughts'}</summary>
      <p class="text">{text}</p>
    </details>
  ) : null

/** How a reply ended before its end, by its state or by the reason of the model. */
const ends: Record<string, string> = {
  stopped: 'You stopped it here. What came of it is kept, and billed.',
  failed: 'It broke off here. What came of it is kept, and may be billed.',
  length: 'It ends here because it reached the model’s limit.',
  content_filter: 'The provider’s filter ended it here.',
}

/** What is to be known of a message, and done with it. */
export function MessageFoot({ message, onEdit }: { message: Message; onEdit: (() => void) | undefined }) {
  const { state, model, finish_reason = '', prompt_tokens, completion_tokens = 0, cost_usd } = message
  const end = ends[state ?? ''] ?? ends[finish_reason]
  const facts = [
    model,
    prompt_tokens !== undefined && `${count(prompt_tokens + completion_tokens)} tokens`,
    cost_usd !== undefined && usd(cost_usd),
  ].filter(Boolean)
  return (
    <>
      {end !== undefined && <p class="small warn">{end}</p>}
      <div class="message-foot row small muted">
        {facts.length > 0 && <span class="number">{facts.join(' · ')}</span>}
        {onEdit && (
          <button type="button" class="link" onClick={onEdit}>
            Edit
          </button>
        )}
      </div>
    </>
  )
}
