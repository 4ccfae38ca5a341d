import { ActionButton, AgreeButton, Panel, useAction } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { DiffView } from './diff-view.js'
import type { TaskFormProps } from './draft-form.js'
import { CommentForm, DraftForm } from './draft-form.js'
import { useMayBeOfOthers, useMayEdit } from './role.js'
import { TaskError } from './task-changed.js'
import type { Task } from './tasks.js'
import { changeTask, commentField, draftField, isDrafted } from './tasks.js'
import { setUnsent, unsentOf } from './unsent.js'

/** What a draft would change of the output; without an output, the draft. */
function Draft({ task }: { task: Task }) {
  const isOfOthers = useMayBeOfOthers(task)
  const { draft_output: draft, output } = task
  if (draft === null) return <p class="body muted">There is no draft. Approving it marks the task as done.</p>
  if (draft === output) return <p class="body muted">The draft is the output.</p>
  return (
    <div class="body">
      {output === null ? (
        <Markdown text={draft} showsAll />
      ) : (
        <DiffView before={output} after={draft} names={['Output now', 'Draft']} isWhole={isOfOthers} />
      )}
    </div>
  )
}

/** Why there is no draft yet. @param agent who works on the task */
const NoDraft = ({ status, agent }: { status: Task['status']; agent: string | undefined }) => {
  const who = agent ?? 'Nobody'
  if (status === 'running') return <>{who} works on it. The draft appears here.</>
  if (status === 'failed') return <>It failed without a draft. Move it to Scheduled for another try.</>
  return agent === undefined ? <>Nobody works on it. Write the draft yourself.</> : <>{who} has not begun yet.</>
}

interface ApprovalProps extends TaskFormProps {
  /** Who works on the task. */
  agent: string | undefined
  /** Called with the task once it is approved. */
  onApprove: (task: Task) => void
}

/** Approves a task, or sends it back. */
function Decision(props: ApprovalProps) {
  const { task, onApprove, onShow } = props
  const { id, draft_output, updated_at: version } = task
  const approve = useAction(async () =>
    onApprove(await changeTask(task, { status: 'done', ...(draft_output !== null && { output: draft_output }) })),
  )
  if (unsentOf(commentField(id)) !== undefined) return <CommentForm {...props} />
  return (
    <>
      <TaskError error={approve.error} task={task} onShow={onShow} />
      <div class="row end">
        <button type="button" onClick={() => setUnsent(commentField(id), { text: '', version })}>
          Request changes
        </button>
        <AgreeButton action={approve} class="primary" onClick={approve.run}>
          {approve.busy ? 'Approving…' : 'Approve'}
        </AgreeButton>
      </div>
    </>
  )
}

/** Puts a draft before the user who is to approve it. */
function Send({ task, onChange, onShow }: ApprovalProps) {
  const send = useAction(async () => onChange(await changeTask(task, { status: 'waiting_approval' })))
  return (
    <>
      <TaskError error={send.error} task={task} onShow={onShow} />
      <div class="row end">
        <ActionButton action={send} class="primary" onClick={send.run}>
          {send.busy ? 'Sending…' : 'Send for approval'}
        </ActionButton>
      </div>
    </>
  )
}

/** What is asked of the user now: to approve the draft of a task, to send it for approval, or nothing; of readers, never anything. Approving makes the draft that is shown the output. */
export function Approval(props: ApprovalProps) {
  const { task, agent } = props
  const { id, draft_output, status, updated_at: version } = task
  const isWaiting = status === 'waiting_approval'
  const mayEdit = useMayEdit()
  const write = (): void => setUnsent(draftField(id), { text: draft_output ?? '', version })
  if (mayEdit && unsentOf(draftField(id)) !== undefined)
    return (
      <Panel title="Draft">
        <div class="body">
          <DraftForm {...props} />
        </div>
      </Panel>
    )
  if (!isWaiting && !isDrafted(task))
    return (
      <div class="asked spread">
        <span class="muted">
          <NoDraft status={status} agent={agent} />
        </span>
        {mayEdit && (
          <button type="button" onClick={write}>
            {draft_output === null ? 'Write a draft' : 'Edit draft'}
          </button>
        )}
      </div>
    )
  return (
    <Panel
      title={isWaiting ? (mayEdit ? 'Waiting for your approval' : 'Waiting for approval') : 'Draft'}
      actions={
        mayEdit && (
          <button type="button" class="quiet" onClick={write}>
            {draft_output === null ? 'Write a draft' : 'Edit draft'}
          </button>
        )
      }
    >
      <Draft task={task} />
      {mayEdit && (isWaiting || task.requires_user_approval) && (
        <div class={`foot stack ${isWaiting ? 'decision' : ''}`}>
          {isWaiting ? <Decision {...props} /> : <Send {...props} />}
        </div>
      )}
    </Panel>
  )
}
