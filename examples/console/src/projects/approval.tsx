import { ActionButton, Empty, Panel, useAction } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { DiffView } from './diff-view.js'
import type { TaskFormProps } from './draft-form.js'
import { CommentForm, DraftForm } from './draft-form.js'
import { TaskError } from './task-changed.js'
import type { Task } from './tasks.js'
import { changeTask, commentField, draftField } from './tasks.js'
import { setUnsent, unsentOf } from './unsent.js'

/** What a draft would change of the output; without an output, the draft. */
function Draft({ task: { draft_output: draft, output } }: { task: Task }) {
  if (draft === null)
    return (
      <Empty title="No draft yet">
        <p>An agent puts it here, or you write one.</p>
      </Empty>
    )
  if (draft === output) return <p class="body muted">It is the output.</p>
  return (
    <div class="body">
      {output === null ? (
        <Markdown text={draft} />
      ) : (
        <DiffView before={output} after={draft} names={['Output now', 'Draft']} />
      )}
    </div>
  )
}

/** The draft of a task beside its output, and what can be done with it. Approving makes the draft that is shown the output. */
export function Approval(props: TaskFormProps) {
  const { task, onChange, onShow } = props
  const { id, draft_output, output, status, updated_at: version } = task
  const approve = useAction(async () =>
    onChange(await changeTask(task, { status: 'done', ...(draft_output !== null && { output: draft_output }) })),
  )
  const send = useAction(async () => onChange(await changeTask(task, { status: 'waiting_approval' })))
  const isToSend =
    task.requires_user_approval && status !== 'waiting_approval' && draft_output !== null && draft_output !== output
  if (unsentOf(draftField(id)) !== undefined)
    return (
      <Panel title="Draft">
        <div class="body">
          <DraftForm {...props} />
        </div>
      </Panel>
    )
  const isCommenting = unsentOf(commentField(id)) !== undefined
  return (
    <Panel
      title={status === 'waiting_approval' ? 'Waiting for your approval' : 'Draft'}
      actions={
        <button type="button" onClick={() => setUnsent(draftField(id), { text: draft_output ?? '', version })}>
          {draft_output === null ? 'Write a draft' : 'Edit draft'}
        </button>
      }
    >
      <Draft task={task} />
      {isToSend && (
        <div class="foot stack">
          <TaskError error={send.error} task={task} onShow={onShow} />
          <div class="row end">
            <ActionButton action={send} class="primary" onClick={send.run}>
              {send.busy ? 'Sending…' : 'Send for approval'}
            </ActionButton>
          </div>
        </div>
      )}
      {status === 'waiting_approval' && (
        <div class="foot stack">
          {isCommenting ? (
            <CommentForm {...props} />
          ) : (
            <>
              <TaskError error={approve.error} task={task} onShow={onShow} />
              <div class="row end">
                <button type="button" onClick={() => setUnsent(commentField(id), { text: '', version })}>
                  Request changes
                </button>
                <ActionButton action={approve} class="primary" onClick={approve.run}>
                  {approve.busy ? 'Approving…' : 'Approve'}
                </ActionButton>
              </div>
            </>
          )}
        </div>
      )}
    </Panel>
  )
}
