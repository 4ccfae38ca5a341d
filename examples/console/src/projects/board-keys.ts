import { useState } from 'preact/hooks'
import type { Task, TaskStatus } from './tasks.js'
import { columnOf, columns } from './tasks.js'

/** A card that is moved by keys, and the column that it is over. */
export interface Lifted {
  id: string
  over: TaskStatus
}

/** The columns as they are shown: the tasks of each, in their order. */
export type Shown = ReadonlyMap<TaskStatus, readonly Task[]>

/** The task that an arrow key, Home or End leads to from another one; undefined where there is none. Columns without tasks are passed over. */
function neighbour(shown: Shown, { id, status }: Pick<Task, 'id' | 'status'>, key: string): Task | undefined {
  const own = shown.get(status) ?? []
  const at = own.findIndex((task) => task.id === id)
  const inColumn = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: own.length - 1 }[key]
  if (inColumn !== undefined) return own[inColumn]
  const filled = columns.filter((column) => column.status === status || (shown.get(column.status)?.length ?? 0) > 0)
  const to = filled[filled.findIndex((column) => column.status === status) + (key === 'ArrowRight' ? 1 : -1)]
  const others = to && shown.get(to.status)
  return others?.[Math.min(at, others.length - 1)]
}

/**
 * The keys of cards: arrows go to other cards; Space takes a card, and then left and right choose its column, Space or Enter drop it, and Esc gives up; X
 * selects; M opens the menu. Readers only go.
 */
export function useCardKeys({
  shown,
  mayEdit,
  go,
  select,
  move,
}: {
  shown: Shown
  mayEdit: boolean
  /** Gives a task's card the focus. */
  go: (id: string) => void
  select: (id: string) => void
  move: (task: Task, status: TaskStatus) => void
}) {
  const [lifted, lift] = useState<Lifted>()
  const [said, say] = useState('')

  const onLiftedKey = (event: KeyboardEvent, task: Task, { over }: Lifted): void => {
    const at = columns.findIndex(({ status }) => status === over)
    const next = { ArrowLeft: columns[at - 1], ArrowRight: columns[at + 1] }[event.key]
    if (event.key !== 'Tab') event.preventDefault()
    if (next) {
      lift({ id: task.id, over: next.status })
      say(`Over ${next.name}.`)
    } else if (event.key === ' ' || event.key === 'Enter') {
      lift(undefined)
      say(over === task.status ? `“${task.title}” stays in ${columnOf(over).name}.` : '')
      move(task, over)
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      lift(undefined)
      say(`“${task.title}” stays in ${columnOf(task.status).name}.`)
    }
  }

  const onKeyDown = (event: KeyboardEvent): void => {
    const link = event.target as HTMLElement
    const card = link.matches('a') ? link.closest<HTMLElement>('[data-task]') : null
    const task = card && [...shown.values()].flat().find(({ id }) => id === card.dataset['task'])
    if (!task || event.ctrlKey || event.metaKey || event.altKey) return
    if (lifted) return onLiftedKey(event, task, lifted)
    const to = /^Arrow|^Home$|^End$/.test(event.key) ? neighbour(shown, task, event.key) : undefined
    if (to) go(to.id)
    else if (!mayEdit) return
    else if (event.key === ' ') {
      lift({ id: task.id, over: task.status })
      say(`“${task.title}” is taken from ${columnOf(task.status).name}. Left and right choose a column.`)
    } else if (event.key.toLowerCase() === 'x') select(task.id)
    else if (event.key.toLowerCase() === 'm') card.querySelector<HTMLElement>('[aria-haspopup]')!.click()
    else return
    event.preventDefault()
  }
  return { lifted, said, onKeyDown, giveUp: () => lift(undefined) }
}
