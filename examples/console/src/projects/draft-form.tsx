import { ActionButton, Field, useAction } from '@turnpike/ui'
import { useEffect, useRef } from 'preact/hooks'
import { TaskError } from './task-error.js'
import type { Task } from './tasks.js'
import { changeTask } from './tasks.js'
import { type, typed } from './typed.js'

/** What is typed for a task, as fields of typed.ts. */
export const draftField = (task: Task): string => `draft of ${task.id}`
export const commentField = (task: Task): string => `comment on ${task.id}`

interface Props {
  task: Task
  onChange: (task: Task) => void
  /** Called when the task is to be read again, because it was changed meanwhile. */
  onShow: () => void
  onCancel: () => void
}

/** A form of one text that is kept until it has been saved or given up. */
function TextForm({
  task,
  field,
  initial,
  label,
  hint,
  rows,
  button,
  save,
  onShow,
  onCancel,
}: {
  task: Task
  field: string
  initial: string
  label: string
  hint: string
  rows: number
  button: string
  save: (text: string) => Promise<void>
  onShow: () => void
  onCancel: () => void
}) {
  const area = useRef<HTMLTextAreaElement>(null)
  useEffect(() => area.current!.focus(), [])
  const text = typed(field) ?? initial
  const action = useAction(async () => {
    await save(text)
    type(field, undefined)
  })
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        action.run()
      }}
    >
      <Field label={label} hint={hint}>
        {(ids) => (
          <textarea
            {...ids}
            rows={rows}
            value={text}
            required
            ref={area}
            onInput={(event) => type(field, event.currentTarget.value)}
          />
        )}
      </Field>
      <TaskError error={action.error} task={task} onShow={onShow} />
      <div class="row end">
        <button
          type="button"
          onClick={() => {
            type(field, undefined)
            onCancel()
          }}
        >
          Cancel
        </button>
        <ActionButton action={action} class="primary">
          {action.busy ? 'Saving…' : button}
        </ActionButton>
      </div>
    </form>
  )
}

/** Changes the draft of a task. */
export const DraftForm = ({ task, onChange, ...rest }: Props) => (
  <TextForm
    task={task}
    field={draftField(task)}
    initial={task.draft_output ?? ''}
    label="Draft"
    hint="It is kept here, unsaved, if you close the task."
    rows={12}
    button="Save draft"
    save={async (draft_output) => onChange(await changeTask(task, { draft_output }))}
    {...rest}
  />
)

/** Sends a task back with a comment. */
export const CommentForm = ({ task, onChange, ...rest }: Props) => (
  <TextForm
    task={task}
    field={commentField(task)}
    initial=""
    label="What should be different"
    hint="The task is scheduled again, with this comment."
    rows={4}
    button="Send back"
    save={async (review_comments) => onChange(await changeTask(task, { status: 'scheduled', review_comments }))}
    {...rest}
  />
)
