import { ActionButton, Confirm, Empty, ErrorNotice, Notice, useAction, useData } from '@turnpike/ui'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { ConfirmButton } from '../confirm-button.js'
import { turnpike } from '../turnpike.js'
import { Composer } from './composer.js'
import type { Conversation as Store, Outcome } from './conversation-store.js'
import { conversationOf } from './conversation-store.js'
import { Message, MessageBeingWritten } from './message.js'
import { Spend } from './spend.js'

/** How often a screen reader is told what a reply has so far. */
const ANNOUNCE_MS = 3_000

/** Pixels from the end of the page within which it is kept at its end. */
const NEAR = 120

/** What is to be known of how a reply ended, by its kind or by the reason of the model. */
const outcomeTexts = {
  stopped: 'You stopped the answer. What came of it is kept, and billed.',
  broken: 'The answer broke off. What came of it is kept, and may be billed.',
  unanswered: 'Your message is stored, but no answer began. Ask again tries once more.',
  unsent: 'Your message was not sent. It is still in the field below.',
  length: 'The answer ends here because it reached the model’s limit.',
  content_filter: 'The provider’s filter ended the answer.',
}

function OutcomeNotice({ outcome: { kind, error, finish } }: { outcome: Outcome }) {
  const end = kind === 'whole' ? finish : kind
  return (
    <>
      {end !== undefined && Object.hasOwn(outcomeTexts, end) && (
        <Notice tone="warn">
          <p>{outcomeTexts[end as keyof typeof outcomeTexts]}</p>
        </Notice>
      )}
      <ErrorNotice error={error} />
    </>
  )
}

/** Tells screen readers of a reply: what is new every few seconds, not every word. */
function LiveRegion({ conversation: { messages, reply, outcome } }: { conversation: Store }) {
  const [text, setText] = useState('')
  const isWriting = reply.value !== undefined
  useEffect(() => {
    if (!isWriting) return
    let announced = 0
    setText('The assistant is writing.')
    const timer = setInterval(() => {
      const written = reply.peek()?.text ?? ''
      if (written.length > announced) setText(written.slice(announced))
      announced = written.length
    }, ANNOUNCE_MS)
    return () => {
      clearInterval(timer)
      const last = messages.peek()?.at(-1)
      const rest = last?.role === 'assistant' ? last.text.slice(announced) : ''
      setText(`${rest} ${outcome.peek()?.kind === 'whole' ? 'The answer is complete.' : 'The answer is not complete.'}`)
    }
  }, [isWriting])
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  )
}

/** The conversation of a project. */
export function Conversation({ projectId }: { projectId: string }) {
  const conversation = conversationOf(projectId)
  const { messages, earlier, reply, outcome, read, readEarlier, askAgain, clear } = conversation
  const reading = useAction(read)
  const readingEarlier = useAction(readEarlier)
  const clearing = useAction(clear)
  const [isAsking, ask] = useState(false)
  const params = { id: projectId }
  const spend = useData(
    (signal) => turnpike.get('/api/projects/{id}/conversation/spend', { params, signal }),
    [projectId],
  )
  useEffect(() => {
    // A reply that is being written here is not whole in the store.
    if (!reply.peek()) reading.run()
  }, [])
  const ended = outcome.value
  useEffect(() => {
    if (ended) spend.again()
  }, [ended])

  const all = messages.value
  const lastId = all?.at(-1)?.id
  const written = reply.value?.text
  const wasNear = useRef(true)
  const { scrollHeight, scrollTop, clientHeight } = document.documentElement
  wasNear.current = scrollHeight - scrollTop - clientHeight < NEAR
  useLayoutEffect(() => {
    if (wasNear.current) scrollTo(0, document.documentElement.scrollHeight)
  }, [lastId, written])

  const canAsk = !reply.value && all?.some(({ role }) => role === 'user')
  return (
    <section class="panel conversation" aria-label="Conversation">
      <header>
        <Spend name="Conversation" data={spend} />
        {all && all.length > 0 && !reply.value && (
          <ConfirmButton action={clearing} label="Clear" busy="Clearing…" title="Clear the conversation?">
            <p>All messages are removed for good, for the assistant too. What they cost stays in your usage.</p>
          </ConfirmButton>
        )}
      </header>
      {[reading, readingEarlier, clearing].map(
        ({ error, run }, i) =>
          error !== undefined && (
            <div key={i} class="body">
              <ErrorNotice error={error} again={run} />
            </div>
          ),
      )}
      {!all && reading.busy && (
        <p class="loading" role="status">
          Loading…
        </p>
      )}
      {all?.length === 0 && !reply.value && (
        <Empty title="No messages yet">
          <p>Ask something below. The answer is made from the last 100 messages, and costs what its tokens cost.</p>
        </Empty>
      )}
      {earlier.value !== undefined && (
        <div class="body">
          <ActionButton action={readingEarlier} onClick={readingEarlier.run}>
            {readingEarlier.busy ? 'Loading…' : 'Show earlier messages'}
          </ActionButton>
        </div>
      )}
      <ol class="messages" aria-label="Messages">
        {all?.map((message) => (
          <Message key={message.id} message={message} />
        ))}
        {reply.value && <MessageBeingWritten text={reply.value.text} />}
      </ol>
      {ended && !reply.value && (
        <div class="body stack">
          <OutcomeNotice outcome={ended} />
        </div>
      )}
      <LiveRegion conversation={conversation} />
      <Composer projectId={projectId} conversation={conversation} onAskAgain={canAsk ? () => ask(true) : undefined} />
      {isAsking && (
        <Confirm title="Ask again?" action="Ask again" onConfirm={() => void askAgain()} onClose={() => ask(false)}>
          <p>The assistant answers your last message once more. That is billed again, and earlier answers stay.</p>
        </Confirm>
      )}
    </section>
  )
}
