import './board.css'
import { count, Empty, Loaded, route, setQuery, Status, toast, useNew } from '@turnpike/ui'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { useWhole } from '../use-pages.js'
import type { Wanted } from './board-column.js'
import { BoardColumn } from './board-column.js'
import { useDrag } from './board-drag.js'
import { filterOf } from './board-filter.js'
import { useCardKeys } from './board-keys.js'
import { TaskList } from './board-list.js'
import { BoardTools, Selected } from './board-tools.js'
import { NewTask } from './new-task.js'
import { useMayEdit } from './role.js'
import type { CardActions } from './task-card.js'
import { useMoves } from './task-moves.js'
import type { Agent, Task, TaskStatus } from './tasks.js'
import type { Changed } from './tasks.js'
import { columns, merged } from './tasks.js'

/** How often it is asked whether tasks have changed, such as by agents. Where none has, by the version of the list, that is all that is answered. */
const POLL_MS = 2_000

/** How many tasks are read at a time. All are, because a task that waits for approval may be an old one. */
const PER_READ = 200

/** The column that a phone shows: the one of the query, else the one that waits for the user, if anything does. */
function currentColumn(tasks: ReadonlyMap<TaskStatus, readonly Task[]>): TaskStatus {
  const chosen = columns.find(({ status }) => status === route.value.query.get('column'))
  return chosen?.status ?? (tasks.get('waiting_approval')!.length > 0 ? 'waiting_approval' : 'scheduled')
}

/** The columns of tasks. Their cards are moved by hand, by keys, or by their menus. */
function Columns({
  tasks,
  isWhole,
  wanted,
  onFocused,
  go,
  quickAdd,
  move,
  ...actions
}: {
  tasks: readonly Task[]
  isWhole: boolean
  wanted: Wanted | undefined
  onFocused: () => void
  go: (id: string) => void
  quickAdd: (title: string) => Promise<unknown>
  /** Moves a task, and with it the others that are selected, if it is. */
  move: (task: Task, status: TaskStatus) => void
} & CardActions) {
  const root = useRef<HTMLDivElement>(null)
  const ghost = useRef<HTMLDivElement>(null)
  const shown = useMemo(
    () => new Map(columns.map(({ status }) => [status, tasks.filter((task) => task.status === status)])),
    [tasks],
  )
  const { selected, select } = actions
  const taskOf = (id: string): Task | undefined => tasks.find((task) => task.id === id)
  const mayEdit = useMayEdit()
  const drag = useDrag(mayEdit, root, ghost, (id, status) => {
    const task = taskOf(id)
    if (task) move(task, status)
  })
  const keys = useCardKeys({ shown, mayEdit, go, select, move })
  const held = drag ?? keys.lifted
  const taken = new Set(held && (selected.has(held.id) ? selected : [held.id]))
  const current = currentColumn(shown)
  return (
    <div ref={root} class={`board-root ${drag ? 'dragging' : ''}`} onKeyDown={keys.onKeyDown} onFocusOut={keys.giveUp}>
      <div class="column-switch" role="group" aria-label="Column">
        {columns.map(({ status, short, tone }) => (
          <button
            key={status}
            type="button"
            data-status={status}
            class={held?.over === status ? 'held-over' : ''}
            aria-pressed={status === current}
            onClick={() => setQuery({ column: status })}
          >
            <Status tone={tone}>{count(shown.get(status)!.length)}</Status> <span class="small">{short}</span>
          </button>
        ))}
      </div>
      <div class="board" role="region" aria-label="Task board">
        {columns.map((column) => (
          <BoardColumn
            key={column.status}
            column={column}
            tasks={shown.get(column.status)!}
            isWhole={isWhole}
            isCurrent={column.status === current}
            isOver={held?.over === column.status}
            taken={taken}
            wanted={wanted}
            onFocused={onFocused}
            quickAdd={mayEdit && column.status === 'scheduled' ? quickAdd : undefined}
            move={move}
            {...actions}
          />
        ))}
      </div>
      <p class="board-keys small muted">
        <kbd>↑</kbd> <kbd>↓</kbd> <kbd>←</kbd> <kbd>→</kbd> go to a card · <kbd>Enter</kbd> opens it
        {mayEdit && (
          <>
            {' '}
            · <kbd>Space</kbd> takes it, <kbd>←</kbd> <kbd>→</kbd> and <kbd>Space</kbd> move it · <kbd>X</kbd> selects ·{' '}
            <kbd>M</kbd> menu
          </>
        )}
      </p>
      <p class="visually-hidden" role="status" aria-live="assertive">
        {keys.said}
      </p>
      {drag && (
        <div ref={ghost} class="ghost" aria-hidden="true">
          {taskOf(drag.id)?.title}
          {taken.size > 1 && <b class="badge accent">{taken.size}</b>}
        </div>
      )}
    </div>
  )
}

/** The tasks of a project in columns by their status, or as a list. */
export function Board({
  projectId,
  agents,
  changed,
  onChange,
}: {
  projectId: string
  agents: readonly Agent[]
  changed: Changed
  onChange: (task: Task) => void
}) {
  const data = useWhole<Task>(
    (page, signal, known) => turnpike.list('/api/tasks', { query: { projectId, ...page }, signal, known }),
    { limit: PER_READ, everyMs: POLL_MS },
  )
  const mayEdit = useMayEdit()
  const [isAsked, setMaking] = useNew(mayEdit ? 'New task' : undefined)
  const isMaking = isAsked && mayEdit
  const [wanted, want] = useState<Wanted>()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  const { pending, move, question } = useMoves({ onMove: onChange, onReload: data.again })
  const { query } = route.value
  const { value } = data
  const all = useMemo(() => (value ? merged(projectId, value.items, changed) : []), [value, changed])
  const tasks = useMemo(
    () => all.filter(filterOf(query)).map((task) => (pending[task.id] ? { ...task, status: pending[task.id]! } : task)),
    [all, pending, query],
  )
  const moved = useRef<string | undefined>(undefined)
  useEffect(() => {
    // Its card is in another column now, as another element.
    if (moved.current !== undefined && document.activeElement === document.body) want({ id: moved.current })
    if (Object.keys(pending).length === 0) moved.current = undefined
  }, [pending])
  const chosen = tasks.filter(({ id }) => selected.has(id))
  const moveAll = (moved: readonly Task[], status: TaskStatus): void => {
    // As they are, not as they are drawn.
    const ids = new Set(moved.map(({ id }) => id))
    move(
      all.filter(({ id }) => ids.has(id)),
      status,
    )
    setSelected(new Set())
  }
  const actions: CardActions = {
    agents,
    selected,
    select: (id) =>
      setSelected((ids) => (ids.has(id) ? new Set([...ids].filter((one) => one !== id)) : new Set([...ids, id]))),
    move: (task, status) => {
      moved.current = task.id
      moveAll(selected.has(task.id) ? chosen : [task], status)
    },
    isMoving: (id) => pending[id] !== undefined,
  }
  const quickAdd = async (title: string): Promise<void> => {
    const assignedAgentId = Number(query.get('agent')) || agents[0]?.id || null
    const body = { projectId, title, requiresUserApproval: true, assignedAgentId }
    onChange(await turnpike.post('/api/tasks', { body }))
  }
  return (
    <>
      <BoardTools agents={agents} onNew={mayEdit ? () => setMaking(true) : undefined} />
      <Loaded data={data}>
        {({ next }) =>
          all.length === 0 ? (
            <section class="panel">
              <Empty title="No tasks yet">
                {mayEdit && (
                  <>
                    <p>Say what is to be done, and an agent of the team works on it. You approve what it makes.</p>
                    <button type="button" class="primary" onClick={() => setMaking(true)}>
                      Make the first task
                    </button>
                  </>
                )}
              </Empty>
            </section>
          ) : query.get('view') === 'list' ? (
            <TaskList tasks={tasks} {...actions} />
          ) : (
            <Columns
              tasks={tasks}
              isWhole={next === undefined}
              wanted={wanted}
              onFocused={() => want(undefined)}
              go={(id) => want({ id })}
              quickAdd={quickAdd}
              {...actions}
            />
          )
        }
      </Loaded>
      {chosen.length > 0 && (
        <Selected tasks={chosen} onMove={(status) => moveAll(chosen, status)} onClear={() => setSelected(new Set())} />
      )}
      {question}
      {isMaking && (
        <NewTask
          projectId={projectId}
          agents={agents}
          onClose={() => setMaking(false)}
          onMade={(task) => {
            onChange(task)
            toast(`“${task.title}” is created.`)
          }}
        />
      )}
    </>
  )
}
