import { Icon, icons, Menu } from '@turnpike/ui'
import type { Task, TaskStatus } from './tasks.js'
import { columns } from './tasks.js'
import { useMayEdit } from './role.js'

/** Chooses another column for tasks; nothing for readers. @param isInCard whether it is reached by the `M` key of its card, in place of a tab stop of its own */
export function MoveMenu({
  tasks,
  name,
  busy = false,
  isInCard = false,
  onMove,
}: {
  tasks: readonly Task[]
  /** What is moved, for screen readers. */
  name: string
  busy?: boolean
  isInCard?: boolean
  onMove: (status: TaskStatus) => void
}) {
  if (!useMayEdit()) return null
  return (
    <Menu
      label={isInCard ? <Icon icon={busy ? icons.Busy : icons.More} /> : busy ? 'Moving…' : 'Move'}
      name={`Move ${name}`}
      busy={busy}
      hasArrow={!isInCard}
      tabIndex={isInCard ? -1 : 0}
      options={columns
        .filter(({ status }) => tasks.some((task) => task.status !== status))
        .map(({ status, name }) => [status, name])}
      onChoose={onMove}
    />
  )
}
