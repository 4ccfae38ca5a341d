import { count, Status } from '@turnpike/ui'
import { useEffect, useState } from 'preact/hooks'
import { PAGE } from '../use-pages.js'
import { cardId, TaskCard } from './task-card.js'
import type { Agent, Column, Task } from './tasks.js'

/**
 * The tasks of one status, newest first, with how many there are.
 * @param isWhole false while there may be more than `tasks`
 */
export function BoardColumn({
  column: { name, tone },
  tasks,
  isWhole,
  agents,
  onMove,
  onReload,
}: {
  column: Column
  tasks: readonly Task[]
  isWhole: boolean
  agents: readonly Agent[]
  onMove: (task: Task) => void
  onReload: () => void
}) {
  const [shown, show] = useState(PAGE)
  useEffect(() => {
    const first = tasks[shown - PAGE]
    // The button had the focus, and may be gone.
    if (shown > PAGE && first) document.getElementById(cardId(first.id))!.focus()
  }, [shown])
  return (
    <section aria-label={name}>
      <header>
        <h2>
          <Status tone={tone}>{name}</Status>
        </h2>
        <span class="small muted number">
          {count(tasks.length)}
          {!isWhole && '+'}
        </span>
      </header>
      <ul>
        {tasks.slice(0, shown).map((task) => (
          <TaskCard key={task.id} task={task} agents={agents} onMove={onMove} onReload={onReload} />
        ))}
      </ul>
      {tasks.length > shown && (
        <button type="button" class="quiet" onClick={() => show(shown + PAGE)}>
          Show more
        </button>
      )}
    </section>
  )
}
