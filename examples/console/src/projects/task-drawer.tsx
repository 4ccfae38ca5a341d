import {
  Ago,
  AgreeButton,
  ConfirmButton,
  Copy,
  Dialog,
  Empty,
  ErrorNotice,
  Icon,
  icons,
  Loaded,
  Notice,
  Panel,
  Status,
  toast,
  useAction,
  useData,
  visible,
} from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { useEffect, useRef, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { AgentRun, isRunHere } from './agent-run.js'
import { Approval } from './approval.js'
import { MoveMenu } from './move-menu.js'
import { Revisions } from './revisions.js'
import { useIsOwner, useMayBeOfOthers, useMayEdit } from './role.js'
import { Avatar } from './task-avatar.js'
import { TaskChanged, TaskError } from './task-changed.js'
import { useMoves } from './task-moves.js'
import { NextWaiting } from './task-waiting.js'
import type { Agent, Task } from './tasks.js'
import { agentOf, changeTask, columnOf, isDrafted, newest } from './tasks.js'

/** How often it is asked whether somebody else has changed the task. */
const POLL_MS = 5_000

const Text = ({ title, text }: { title: string; text: string | null }) =>
  text === null ? null : (
    <Panel title={title}>
      <div class="body">
        <Markdown text={text} showsAll />
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

/** Says that another member has written in the task, which workers leave alone then, and takes it over. */
function OfOthers({ task, onChange, onShow }: { task: Task; onChange: (task: Task) => void; onShow: () => void }) {
  const take = useAction(async () => onChange(await changeTask(task, { status: 'scheduled' })))
  if (!task.by_others) return null
  const isScheduled = task.status === 'scheduled'
  return (
    <Notice>
      <p>
        Another member has made or changed this task. Agents that work for you leave it alone until you{' '}
        {isScheduled ? 'let them do it' : 'schedule it'}.
      </p>
      {isScheduled && (
        <AgreeButton action={take} onClick={take.run}>
          {take.busy ? 'Saving…' : 'I have read it: let agents do it'}
        </AgreeButton>
      )}
      <TaskError error={take.error} task={task} onShow={onShow} />
    </Notice>
  )
}

/** Who works on the task, whether somebody has to approve it, and since when. */
const About = ({ task, agents }: { task: Task; agents: readonly Agent[] }) => {
  const agent = agentOf(task, agents)
  const mayEdit = useMayEdit()
  const isToApprove = task.requires_user_approval && task.status !== 'done' && task.status !== 'waiting_approval'
  return (
    <p class="about small muted">
      <span>
        <Avatar name={agent} />
        {agent ?? 'Nobody'}
      </span>
      {isToApprove && (
        <span>
          <Icon icon={icons.Approval} size={14} />
          {mayEdit ? 'Needs your approval' : 'Needs approval'}
        </span>
      )}
      <span>
        Created <Ago at={task.created_at} />
      </span>
      <span>
        Changed <Ago at={task.updated_at} />
      </span>
    </p>
  )
}

function Content({
  task,
  agents,
  onChange,
  onDelete,
  onShow,
}: {
  task: Task
  agents: readonly Agent[]
  onChange: (task: Task) => void
  onDelete: () => void
  onShow: () => void
}) {
  const { name, tone } = columnOf(task.status)
  const [message, setMessage] = useState('')
  const status = useRef<HTMLDivElement>(null)
  /** @param told what is said of it here, where nothing else does */
  const changed = (next: Task, told = ''): void => {
    setMessage(told)
    onChange(next)
    // What had the focus may be gone.
    status.current?.focus()
  }
  const show = (): void => {
    status.current!.focus()
    onShow()
  }
  const isOwner = useIsOwner()
  const isOfOthers = useMayBeOfOthers(task)
  const remove = useAction(async () => {
    await turnpike.delete('/api/tasks/{id}', { params: { id: task.id } })
    toast(`“${task.title}” is deleted.`)
    onDelete()
  })
  const moves = useMoves({ onMove: (next) => changed(next), onReload: show })
  const approved = (next: Task): void => {
    changed(next)
    const undo = (): void => {
      changeTask(next, { status: task.status, output: task.output }).then(
        (undone) => changed(undone),
        ({ message }: Error) => toast(`The approval stands. ${message}`, { tone: 'bad' }),
      )
    }
    toast(`“${task.title}” is approved.`, { action: { label: 'Undo', run: undo } })
  }
  const isDone = task.status === 'done'
  const approval = (
    <Approval
      task={task}
      agent={agentOf(task, agents)}
      onChange={(next) =>
        changed(next, next.status === task.status ? 'Saved.' : `It is now “${columnOf(next.status).name}”.`)
      }
      onApprove={approved}
      onShow={show}
      onCancel={() => status.current!.focus()}
    />
  )
  const output = (!isDrafted(task) || isDone || isOfOthers) && <Text title="Output" text={task.output} />
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
          {isOwner && !isRunHere(task) && (
            <ConfirmButton action={remove} label="Delete" busy="Deleting…" title="Delete the task?" class="quiet">
              <p class="break">
                “{visible(task.title)}” will be gone, with its output and its revisions. Nobody can take that back.
              </p>
            </ConfirmButton>
          )}
          <MoveMenu
            tasks={[task]}
            name={`“${task.title}”`}
            busy={moves.pending[task.id] !== undefined}
            onMove={(status) => moves.move([task], status)}
          />
        </div>
      </div>
      <ErrorNotice error={remove.error} />
      {!isRunHere(task) && <Watch task={task} onShow={show} />}
      <About task={task} agents={agents} />
      {isOwner && <OfOthers task={task} onChange={(next) => changed(next, 'It is yours now.')} onShow={show} />}
      {task.status === 'scheduled' && <Text title="Comment" text={task.review_comments} />}
      <AgentRun task={task} onChange={onChange} />
      {isDone ? (output ?? <Empty title="It is done, without an output" />) : !isRunHere(task) && approval}
      {!isDone && output}
      <Text title="Description" text={task.description} />
      {task.status !== 'scheduled' && <Text title="Comment" text={task.review_comments} />}
      <Revisions task={task} />
      {isDone && <NextWaiting task={task} />}
      {moves.question}
    </>
  )
}

/** A task, and all that can be done with it. @param onChange called with the task when it has been changed here */
export function TaskDrawer({
  id,
  agents,
  onChange,
  onDelete,
  onClose,
}: {
  id: string
  agents: readonly Agent[]
  onChange: (task: Task) => void
  onDelete: () => void
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
    <Dialog title={visible(shown?.title ?? 'Task')} form="drawer wide" onClose={onClose}>
      <Loaded data={{ ...data, value: shown }}>
        {(task) => (
          <Content
            task={task}
            agents={agents}
            onChange={(next) => {
              setOwn(next)
              onChange(next)
            }}
            onDelete={() => {
              onDelete()
              onClose()
            }}
            onShow={data.again}
          />
        )}
      </Loaded>
    </Dialog>
  )
}
