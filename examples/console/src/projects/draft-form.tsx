import { ActionButton, Confirm, Field, useAction } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { useIsOwner, useMayBeOfOthers } from './role.js'
import { TaskChanged, TaskError } from './task-changed.js'
import type { Task } from './tasks.js'
import { ChangedMeanwhile, changeTask, commentField, draftField } from './tasks.js'
import { setUnsent, unsentOf } from './unsent.js'

/** What forms that change a task need. */
export interface TaskFormProps {
  task: Task
  onChange: (task: Task) => void
  /** Called when the task is to be read again, because it was changed meanwhile. */
  onShow: () => void
  /** Called when the form was closed without a change. */
  onCancel: () => void
}

/** A form of one text that is kept until it has been saved or given up. */
function TextForm({
  task,
  field,
  label,
  hint,
  rows,
  button,
  current,
  question,
  save,
  onChange,
  onShow,
  onCancel,
}: TaskFormProps & {
  field: string
  label: string
  hint: string
  rows: number
  button: string
  /** What is there now, in place of which the text is saved; shown where somebody else has changed it. */
  current?: ComponentChildren
  /** What is asked before it is saved; absent = nothing. */
  question?: { title: string; text: ComponentChildren } | false
  /** Makes the change of the task. */
  save: (text: string) => Parameters<typeof changeTask>[1]
}) {
  const area = useRef<HTMLTextAreaElement>(null)
  const [isAsking, ask] = useState(false)
  useEffect(() => area.current!.focus(), [])
  const { text, version } = unsentOf(field) ?? { text: '', version: task.updated_at }
  const action = useAction(async () => {
    onChange(await changeTask({ id: task.id, updated_at: version! }, save(text)))
    const unsent = unsentOf(field)
    if (unsent?.text === text) setUnsent(field, undefined)
    // Something else was typed meanwhile.
    else area.current?.focus()
  })
  return (
    <form
      class="stack"
      onSubmit={(event) => {
        event.preventDefault()
        if (question) ask(true)
        else action.run()
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
            onInput={(event) => setUnsent(field, { text: event.currentTarget.value, version })}
          />
        )}
      </Field>
      {version! < task.updated_at && (
        <TaskChanged
          task={task}
          action="Go on with my text"
          onAction={() => {
            setUnsent(field, { text, version: task.updated_at })
            area.current!.focus()
          }}
        >
          <p>
            {action.error instanceof ChangedMeanwhile && 'Nothing of yours was saved. '}
            You began to type before that.
          </p>
          {current}
        </TaskChanged>
      )}
      <TaskError error={action.error} task={task} onShow={onShow} />
      {question && isAsking && (
        <Confirm title={question.title} action={button} onConfirm={action.run} onClose={() => ask(false)}>
          {question.text}
        </Confirm>
      )}
      <div class="row end">
        <button
          type="button"
          onClick={() => {
            setUnsent(field, undefined)
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
export const DraftForm = (props: TaskFormProps) => (
  <TextForm
    field={draftField(props.task.id)}
    label="Draft"
    hint="It is kept here, unsaved, if you close the task."
    rows={12}
    button="Save draft"
    current={
      props.task.draft_output !== null && (
        <details open={useMayBeOfOthers(props.task)}>
          <summary>The draft is now</summary>
          <Markdown text={props.task.draft_output} showsAll />
        </details>
      )
    }
    save={(draft_output) => ({ draft_output })}
    {...props}
  />
)

/** Sends a task back with a comment. Asks before agents get what others have written. */
export const CommentForm = (props: TaskFormProps) => (
  <TextForm
    field={commentField(props.task.id)}
    label="What should be different"
    hint="The task is scheduled again, with this comment."
    rows={4}
    button="Send back"
    question={
      useIsOwner() &&
      props.task.by_others === true && {
        title: 'Schedule what others have written?',
        text: (
          <p>
            Another member has made or changed this task. Once you send it back, your agents do what is written there:
            read its description first.
          </p>
        ),
      }
    }
    save={(review_comments) => ({ status: 'scheduled', review_comments })}
    {...props}
  />
)
