import { Ago, Copy, Dialog, Loaded, Panel, Status, useData } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { useEffect, useRef, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { Approval } from './approval.js'
import { MoveMenu } from './move-menu.js'
import { Revisions } from './revisions.js'
import { TaskChanged, TaskError } from './task-changed.js'
import type { Agent, Task } from './tasks.js'
import { agentOf, columnOf, newest } from './tasks.js'

/** How often it is asked whether somebody else has changed the task. */
const POLL_MS = 5_000

const Text = ({ title, text }: { title: string; text: string | null }) =>
  text === null ? null : (
    <Panel title={title}>
      <div class="body">
        <Markdown text={text} />
      </div>
    </Panel>
  )

/** Says that the task was changed by somebody else. It is not shown at once, so that nobody approves what they have not read. */
function Watch({ task, onShow }: { task: Task; onShow: () => void }) {
  const state = useData(
    (signal) => turnpike.get('/api/tasks/{id}/status', { params: { id: task.id }, signal }),
    [task.id],
    POLL_MS,
  )
  if (!state.value || state.value.updated_at <= task.updated_at) return null
  return <TaskChanged task={state.value} onAction={onShow} />
}

function Content({
  task,
  agents,
  onChange,
  onShow,
}: {
  task: Task
  agents: readonly Agent[]
  onChange: (task: Task) => void
  onShow: () => void
}) {
  const { name, tone } = columnOf(task.status)
  const [error, setError] = useState<unknown>()
  const [message, setMessage] = useState('')
  const status = useRef<HTMLDivElement>(null)
  const changed = (next: Task): void => {
    setMessage(next.status === task.status ? 'Saved.' : `It is now “${columnOf(next.status).name}”.`)
    onChange(next)
    // What had the focus may be gone.
    status.current!.focus()
  }
  const show = (): void => {
    status.current!.focus()
    onShow()
  }
  const { output, draft_output: draft } = task
  const isDrafted = draft !== null && draft !== output
  return (
    <>
      <div class="spread">
        <div ref={status} class="row" tabIndex={-1}>
          <Status tone={tone}>{name}</Status>
          <span class="small muted" role="status">
            {message}
          </span>
        </div>
        <div class="row">
          <Copy text={task.id} label="Copy id" class="quiet" />
          <MoveMenu task={task} onMove={changed} onError={setError} />
        </div>
      </div>
      <TaskError error={error} task={task} onShow={show} />
      <Watch task={task} onShow={show} />
      <p class="small muted">
        {agentOf(task, agents) ?? 'No agent'} ·{' '}
        {task.requires_user_approval ? 'needs your approval' : 'needs no approval'} · made <Ago at={task.created_at} />{' '}
        · changed <Ago at={task.updated_at} />
      </p>
      {task.description !== null && <Markdown text={task.description} />}
      <Text title="Your comment" text={task.review_comments} />
      {(isDrafted || task.status !== 'done') && (
        <Approval task={task} onChange={changed} onShow={show} onCancel={() => status.current!.focus()} />
      )}
      {!isDrafted && <Text title="Output" text={output} />}
      <Revisions task={task} />
    </>
  )
}

/** A task, and all that can be done with it. @param onChange called with the task when it has been changed here */
export function TaskDrawer({
  id,
  agents,
  onChange,
  onClose,
}: {
  id: string
  agents: readonly Agent[]
  onChange: (task: Task) => void
  onClose: () => void
}) {
  const data = useData((signal) => turnpike.get('/api/tasks/{id}', { params: { id }, signal }), [id])
  const [own, setOwn] = useState<Task>()
  const { value } = data
  const shown = value && newest(value, own)
  useEffect(() => {
    if (value) onChange(value)
  }, [value])
  return (
    <Dialog title={shown?.title ?? 'Task'} form="drawer wide" onClose={onClose}>
      <Loaded data={{ ...data, value: shown }}>
        {(task) => (
          <Content
            task={task}
            agents={agents}
            onChange={(next) => {
              setOwn(next)
              onChange(next)
            }}
            onShow={data.again}
          />
        )}
      </Loaded>
    </Dialog>
  )
}
