import { Ago, Copy, count, LongText, usd } from '@turnpike/ui'
import type { Message } from './conversation-types.js'

/** What a model thought before it wrote, folded. @param isRunning whether it thinks still */
export const Thinking = ({ text, isRunning = false }: { text: string | undefined; isRunning?: boolean }) =>
  text ? (
    <details class="thinking small muted">
      <summary>{isRunning ? 'Thinking…' : 'Thoughts'}</summary>
      <p class="text">
        <LongText text={text} />
      </p>
    </details>
  ) : null

/** How a reply ended before its end, by its state or by the reason of the model. */
const ends: Record<string, string> = {
  stopped: 'You stopped it here. What came of it is kept, and billed.',
  failed: 'It broke off here. What came of it is kept, and may be billed.',
  length: 'It ends here because it reached the model’s limit.',
  content_filter: 'The provider’s filter ended it here.',
}

/** The model of a reply, its tokens and its cost; what the tokens are is their title. */
function ReplyFacts({ message: { model, prompt_tokens, completion_tokens = 0, cost_usd } }: { message: Message }) {
  const facts = [
    model,
    prompt_tokens !== undefined && `${count(prompt_tokens + completion_tokens)} tokens`,
    cost_usd !== undefined && usd(cost_usd),
  ].filter(Boolean)
  const title = prompt_tokens === undefined ? undefined : `${count(prompt_tokens)} in, ${count(completion_tokens)} out`
  return facts.length === 0 ? null : (
    <span class="number" title={title}>
      {facts.join(' · ')}
    </span>
  )
}

/** What is to be known of a message, and done with it. */
export function MessageFoot({
  message,
  onEdit,
  onAskAgain,
}: {
  message: Message
  onEdit: (() => void) | undefined
  onAskAgain: (() => void) | undefined
}) {
  const { text, timestamp, state, finish_reason = '' } = message
  const end = ends[state ?? ''] ?? ends[finish_reason]
  return (
    <>
      {end !== undefined && <p class="small warn">{end}</p>}
      <div class="message-foot small muted">
        <div class="row">
          {text !== '' && <Copy text={text} class="quiet" />}
          {onEdit && (
            <button type="button" class="quiet" onClick={onEdit}>
              Edit
            </button>
          )}
          {onAskAgain && (
            <button type="button" class="quiet" onClick={onAskAgain}>
              Ask again
            </button>
          )}
        </div>
        <ReplyFacts message={message} />
        <Ago at={timestamp} />
      </div>
    </>
  )
}
