import './task-card.css'
import { Ago, Icon, icons, linkTo, route, visible } from '@turnpike/ui'
import { MoveMenu } from './move-menu.js'
import { useIsOwner, useMayEdit } from './role.js'
import { Avatar } from './task-avatar.js'
import type { Agent, Task, TaskStatus } from './tasks.js'
import { agentOf } from './tasks.js'

/** The id of the link to a task on the board. */
export const cardId = (taskId: string): string => `task-${taskId}`

/** The link that opens a task beside what is shown. */
export const taskLink = (taskId: string): string =>
  linkTo(route.value.path, { ...Object.fromEntries(route.value.query), task: taskId })

/** What cards and rows of tasks do. */
export interface CardActions {
  agents: readonly Agent[]
  /** Ids of the tasks that are selected. */
  selected: ReadonlySet<string>
  /** Selects a task, or no more. */
  select: (id: string) => void
  move: (task: Task, status: TaskStatus) => void
  /** Whether the platform is moving it. */
  isMoving: (id: string) => boolean
}

/** Selects a task; nothing for readers. It is no tab stop: the X key of the card does the same. */
export const Pick = ({ task, selected, select }: { task: Task } & CardActions) =>
  useMayEdit() && (
    <input
      type="checkbox"
      class="pick"
      tabIndex={-1}
      aria-label={`Select “${task.title}”`}
      checked={selected.has(task.id)}
      onChange={() => select(task.id)}
    />
  )

/** A task on the board. All of it opens the task; its title is the tab stop. @param isTaken whether it is being moved by hand */
export function TaskCard({ task, isTaken, ...actions }: { task: Task; isTaken: boolean } & CardActions) {
  const { agents, selected, move, isMoving } = actions
  const agent = agentOf(task, agents)
  const [isOwner, mayEdit] = [useIsOwner(), useMayEdit()]
  return (
    <article class={`card ${selected.has(task.id) ? 'selected' : ''} ${isTaken ? 'taken' : ''}`} data-task={task.id}>
      <Pick task={task} {...actions} />
      <a
        id={cardId(task.id)}
        class="break clamp"
        href={taskLink(task.id)}
        draggable={false}
        title={visible(task.title)}
        aria-keyshortcuts={mayEdit ? 'Space X M' : undefined}
      >
        {visible(task.title)}
      </a>
      <div class="card-foot small muted">
        <Avatar name={agent} />
        <span class="card-agent">{agent ?? 'Nobody'}</span>
        {task.requires_user_approval && task.status !== 'done' && (
          <span class="approval" title={mayEdit ? 'Needs your approval' : 'Needs approval'}>
            <Icon icon={icons.Approval} size={14} />
            <span class="visually-hidden">needs {mayEdit && 'your '}approval</span>
          </span>
        )}
        {isOwner && task.by_others && <span title="Another member has made or changed it">by others</span>}
        <span class="number nowrap">
          <Ago at={task.updated_at} />
        </span>
        <MoveMenu
          tasks={[task]}
          name={`“${task.title}”`}
          busy={isMoving(task.id)}
          isInCard
          onMove={(status) => move(task, status)}
        />
      </div>
    </article>
  )
}
