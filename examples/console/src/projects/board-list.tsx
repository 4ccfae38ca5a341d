import './board-list.css'
import { Ago, Icon, icons, route, setQuery, Status, useWindow, visible } from '@turnpike/ui'
import { useMemo, useRef } from 'preact/hooks'
import type { Sort } from './board-filter.js'
import { orderOf, sorted } from './board-filter.js'
import { MoveMenu } from './move-menu.js'
import { Avatar } from './task-avatar.js'
import type { CardActions } from './task-card.js'
import { cardId, Pick, taskLink } from './task-card.js'
import type { Task } from './tasks.js'
import { agentOf, columnOf } from './tasks.js'

const heads: readonly (readonly [Sort, string])[] = [
  ['title', 'Task'],
  ['status', 'Status'],
  ['agent', 'Agent'],
  ['changed', 'Changed'],
]

function Head() {
  const text = route.value.query.get('sort')
  const { by, down } = orderOf(text)
  return (
    <div class="task-row heads small muted" role="row">
      <span role="columnheader">
        <span class="visually-hidden">Selected</span>
      </span>
      {heads.map(([sort, name]) => (
        <span
          key={sort}
          role="columnheader"
          class={sort}
          aria-sort={sort !== by ? undefined : down ? 'descending' : 'ascending'}
        >
          <button
            type="button"
            class="link"
            onClick={() => setQuery({ sort: sort === by && !down ? `-${sort}` : sort })}
          >
            {name}
            {sort === by && <Icon icon={down ? icons.Descending : icons.Ascending} size={12} />}
          </button>
        </span>
      ))}
      <span role="columnheader" class="move">
        <span class="visually-hidden">Move</span>
      </span>
    </div>
  )
}

function Row({ task, ...actions }: { task: Task } & CardActions) {
  const { name, tone } = columnOf(task.status)
  const agent = agentOf(task, actions.agents)
  return (
    <>
      <span role="cell">
        <Pick task={task} {...actions} />
      </span>
      <span role="rowheader" class="title">
        <a id={cardId(task.id)} href={taskLink(task.id)} title={visible(task.title)}>
          {visible(task.title)}
        </a>
      </span>
      <span role="cell" class="status-cell">
        <Status tone={tone}>{name}</Status>
      </span>
      <span role="cell" class="agent">
        <Avatar name={agent} />
        {agent ?? <span class="muted">Nobody</span>}
      </span>
      <span role="cell" class="changed number muted">
        <Ago at={task.updated_at} />
      </span>
      <span role="cell" class="move">
        <MoveMenu
          tasks={[task]}
          name={`“${task.title}”`}
          busy={actions.isMoving(task.id)}
          onMove={(status) => actions.move(task, status)}
        />
      </span>
    </>
  )
}

/** Tasks below each other, in the order of the query (`sort`). */
export function TaskList({ tasks, ...actions }: { tasks: readonly Task[] } & CardActions) {
  const list = useRef<HTMLDivElement>(null)
  const order = route.value.query.get('sort')
  const { agents } = actions
  const rows = useMemo(() => sorted(tasks, order, agents), [tasks, order, agents])
  const { indexes, row } = useWindow(list, rows.length)
  return (
    <div class="task-list" role="table" aria-label="Tasks" aria-rowcount={rows.length + 1} tabIndex={0}>
      <div role="rowgroup" class="sticky">
        <Head />
      </div>
      <div ref={list} role="rowgroup" class="rows" style={{ height: `${rows.length * row}px` }}>
        {indexes.map((index) => (
          <div
            key={rows[index]!.id}
            class={`task-row ${actions.selected.has(rows[index]!.id) ? 'selected' : ''}`}
            role="row"
            data-index={index}
            aria-rowindex={index + 2}
            style={{ top: `${index * row}px` }}
          >
            <Row task={rows[index]!} {...actions} />
          </div>
        ))}
      </div>
    </div>
  )
}
