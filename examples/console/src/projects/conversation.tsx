import './conversation.css'
import { untracked } from '@preact/signals'
import { ActionButton, Confirm, ConfirmButton, Empty, ErrorNotice, Notice, useAction, useData } from '@turnpike/ui'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { useDrop } from '../files/use-drop.js'
import { turnpike } from '../turnpike.js'
import { attachUploads } from './attaching.js'
import { Composer } from './composer.js'
import { conversationOf, messageField } from './conversation-store.js'
import type { Conversation as Store, Message as MessageOf, Outcome } from './conversation-types.js'
import { Message } from './message.js'
import { Proposals } from './proposals.js'
import { useMayEdit } from './role.js'
import { Spend } from './spend.js'
import type { Agent } from './tasks.js'
import { setUnsent } from './unsent.js'

/** How often a screen reader is told what a reply has so far. */
const ANNOUNCE_MS = 3_000

/** Pixels from the end of the messages within which they are kept at their end. */
const NEAR = 120

/** What is to be known where there is no reply. */
const outcomeTexts = {
  unanswered: 'Your message is stored, but no answer began. Ask again tries once more.',
  unsent: 'Your message was not sent. It is still in the field below.',
}

const OutcomeNotice = ({ outcome: { kind, error } }: { outcome: Outcome }) => (
  <>
    {kind !== 'replied' && (
      <Notice tone="warn">
        <p>{outcomeTexts[kind]}</p>
      </Notice>
    )}
    <ErrorNotice error={error} />
  </>
)

/** The reply that is being written: for this page, else for another one. */
const replyOf = ({ messages, reply }: Store): { text: string } | undefined =>
  reply.value ?? messages.value?.findLast(({ state }) => state === 'running')

/** The messages, with the reply that is streamed to this page as the last one. */
function shownOf({ messages, reply }: Store): readonly MessageOf[] {
  const [all, streamed] = [messages.value ?? [], reply.value]
  if (!streamed) return all
  const { id = 'reply', text, thinking } = streamed
  const message = { id, role: 'assistant', text, thinking, timestamp: '', state: 'running' } as const
  return [...all.filter((one) => one.id !== id), message]
}

/** Tells screen readers of a reply: what is new every few seconds, not every word. */
function LiveRegion({ conversation }: { conversation: Store }) {
  const [text, setText] = useState('')
  const isWriting = conversation.isWriting.value
  useEffect(() => {
    if (!isWriting) return
    let announced = untracked(() => replyOf(conversation))?.text.length ?? 0
    setText('The assistant is writing.')
    const timer = setInterval(() => {
      const written = untracked(() => replyOf(conversation))?.text ?? ''
      if (written.length > announced) setText(written.slice(announced))
      announced = written.length
    }, ANNOUNCE_MS)
    return () => {
      clearInterval(timer)
      const last = conversation.messages.peek()?.at(-1)
      const rest = last?.role === 'assistant' ? last.text.slice(announced) : ''
      setText(`${rest} ${last?.state === 'done' ? 'The answer is complete.' : 'The answer is not complete.'}`)
    }
  }, [isWriting])
  return (
    <p class="visually-hidden" role="status">
      {text}
    </p>
  )
}

/** The conversation of a project. @param agents those of its team */
export function Conversation({ projectId, agents }: { projectId: string; agents: readonly Agent[] }) {
  const conversation = conversationOf(projectId)
  const { messages, earlier, reply, isWriting, outcome, edited, read, readEarlier, askAgain, stop, clear } =
    conversation
  const reading = useAction(read)
  const readingEarlier = useAction(readEarlier)
  const clearing = useAction(clear)
  const stopping = useAction(stop)
  const [isAsking, ask] = useState(false)
  const [isProposing, propose] = useState(false)
  const params = { id: projectId }
  const spend = useData(
    (signal) => turnpike.get('/api/projects/{id}/conversation/spend', { params, signal }),
    [projectId],
  )
  useEffect(() => {
    // A reply that is streamed here is ahead of the store.
    if (!reply.peek()) reading.run()
  }, [])
  const ended = outcome.value
  useEffect(() => {
    if (ended) spend.again()
  }, [ended])

  const mayEdit = useMayEdit()
  const { isOver, handlers } = useDrop((files) => attachUploads(messageField(projectId, edited.value), files))

  const all = messages.value
  const shown = shownOf(conversation)
  const thread = useRef<HTMLDivElement>(null)
  const [isAtEnd, setAtEnd] = useState(true)
  const toEnd = (): void => thread.current!.scrollTo(0, thread.current!.scrollHeight)
  const lastId = all?.at(-1)?.id
  const written = replyOf(conversation)?.text.length
  useLayoutEffect(() => {
    if (isAtEnd) toEnd()
  }, [lastId, written, ended])

  const canAsk = mayEdit && !isWriting.value && all?.some(({ role }) => role === 'user')
  const end = !isAtEnd && (
    <div class="to-end">
      <button type="button" onClick={toEnd}>
        ↓ To the end
      </button>
    </div>
  )
  return (
    <section class={`panel conversation ${isOver ? 'over' : ''}`} aria-label="Conversation" {...(mayEdit && handlers)}>
      {isOver && <p class="drop-hint">Drop to attach</p>}
      <header>
        <Spend name="Conversation" data={spend} />
        {/* Its room is kept, so that nothing moves when an answer ends. */}
        {mayEdit && (
          <div class={`row ${all && all.length > 0 && !isWriting.value ? '' : 'absent'}`}>
            {agents.length > 0 && (
              <button type="button" class="quiet" onClick={() => propose(true)}>
                Propose tasks
              </button>
            )}
            <ConfirmButton
              action={clearing}
              label="Clear"
              busy="Clearing…"
              title="Clear the conversation?"
              class="quiet"
            >
              <p>All messages are removed for good, for the assistant too. What they cost stays in your usage.</p>
            </ConfirmButton>
          </div>
        )}
      </header>
      {[reading, readingEarlier, clearing, stopping].map(
        ({ error, run }, i) =>
          error !== undefined && (
            <div key={i} class="body">
              <ErrorNotice error={error} again={run} />
            </div>
          ),
      )}
      <div
        ref={thread}
        class="thread"
        role="region"
        aria-label="All messages"
        tabIndex={0}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) =>
          setAtEnd(scrollHeight - scrollTop - clientHeight < NEAR)
        }
      >
        {!all && reading.busy && (
          <p class="loading" role="status">
            Loading…
          </p>
        )}
        {all && shown.length === 0 && (
          <Empty title="No messages yet">
            {mayEdit && (
              <p>
                Ask something below. The assistant sees the last 100 messages with their files, and its answers cost
                what their tokens cost.
              </p>
            )}
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
          {shown.map((message, i) => (
            <Message
              key={message.id}
              projectId={projectId}
              message={message}
              onEdit={
                mayEdit && message.role === 'user'
                  ? () => {
                      edited.value = message.text
                      setUnsent(messageField(projectId, message.text), {
                        text: message.text,
                        attached: message.attachments,
                      })
                    }
                  : undefined
              }
              onAskAgain={canAsk && i === shown.length - 1 ? () => ask(true) : undefined}
            />
          ))}
        </ol>
        {ended && !isWriting.value && (
          <div class="body stack">
            <OutcomeNotice outcome={ended} />
          </div>
        )}
      </div>
      <LiveRegion conversation={conversation} />
      {mayEdit ? (
        <Composer projectId={projectId} conversation={conversation} stopping={stopping}>
          {end}
        </Composer>
      ) : (
        <div class="composer">
          {end}
          <p class="small muted">You are a reader of this project: you read its conversation, and write nothing.</p>
        </div>
      )}
      {isProposing && (
        <Proposals
          projectId={projectId}
          agents={agents}
          onClose={() => {
            propose(false)
            spend.again()
          }}
        />
      )}
      {isAsking && (
        <Confirm title="Ask again?" action="Ask again" onConfirm={() => void askAgain()} onClose={() => ask(false)}>
          <p>The assistant answers your last message once more. That is billed again, and earlier answers stay.</p>
        </Confirm>
      )}
    </section>
  )
}
