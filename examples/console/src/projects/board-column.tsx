import { count, Icon, icons, Status, useWindow } from '@turnpike/ui'
import { useEffect, useRef, useState } from 'preact/hooks'
import { QuickAdd } from './board-quick-add.js'
import type { CardActions } from './task-card.js'
import { cardId, TaskCard } from './task-card.js'
import type { Column, Task } from './tasks.js'

/** A task whose card is to have the focus. */
export interface Wanted {
  id: string
}

/** The tasks of one status, newest first, with how many there are. */
export function BoardColumn({
  column: { name, tone, status },
  tasks,
  isWhole,
  isCurrent,
  isOver,
  taken,
  wanted,
  onFocused,
  quickAdd,
  ...actions
}: {
  column: Column
  tasks: readonly Task[]
  /** False while there may be more than `tasks`. */
  isWhole: boolean
  /** Whether a phone shows it. */
  isCurrent: boolean
  /** Whether a card is held over it. */
  isOver: boolean
  /** Ids of the cards that are moved by hand. */
  taken: ReadonlySet<string>
  wanted: Wanted | undefined
  /** Called once its card has the focus. */
  onFocused: () => void
  /** Makes a task of a title; absent where new tasks do not begin here. */
  quickAdd?: ((title: string) => Promise<unknown>) | undefined
} & CardActions) {
  const list = useRef<HTMLUListElement>(null)
  const adds = useRef<HTMLButtonElement>(null)
  const [isAdding, setAdding] = useState(false)
  const at = wanted ? tasks.findIndex(({ id }) => id === wanted.id) : -1
  const { indexes, row } = useWindow(list, tasks.length, at)
  useEffect(() => {
    if (at < 0) return
    document.getElementById(cardId(wanted!.id))?.focus()
    onFocused()
  }, [wanted])
  return (
    <section
      aria-label={name}
      data-status={status}
      class={`${isOver ? 'held-over' : ''} ${isCurrent ? 'current' : ''}`}
    >
      <header>
        <h2>
          <Status tone={tone}>{name}</Status>
        </h2>
        <span class="small muted number">
          {count(tasks.length)}
          {!isWhole && '+'}
        </span>
        {quickAdd && (
          <button
            ref={adds}
            type="button"
            class="quiet"
            aria-label={`Add a task to ${name}`}
            aria-expanded={isAdding}
            onClick={() => setAdding(!isAdding)}
          >
            <Icon icon={icons.New} />
          </button>
        )}
      </header>
      {isAdding && (
        <QuickAdd
          add={quickAdd!}
          onClose={() => {
            setAdding(false)
            adds.current!.focus()
          }}
        />
      )}
      <div class="column-cards">
        {tasks.length === 0 && isWhole && <p class="small muted">{isOver ? 'Drop it here' : 'No tasks'}</p>}
        <ul ref={list} style={{ height: `${tasks.length * row}px` }}>
          {indexes.map((index) => {
            const task = tasks[index]!
            return (
              <li
                key={task.id}
                data-index={index}
                aria-setsize={tasks.length}
                aria-posinset={index + 1}
                style={{ top: `${index * row}px` }}
              >
                <TaskCard task={task} isTaken={taken.has(task.id)} {...actions} />
              </li>
            )
          })}
        </ul>
      </div>
    </section>
  )
}
