import { Filter, Icon, icons, plural, route, Segmented, setQuery } from '@turnpike/ui'
import { NOBODY } from './board-filter.js'
import { MoveMenu } from './move-menu.js'
import type { Agent, Task, TaskStatus } from './tasks.js'

const Choice = ({
  label,
  name,
  options,
}: {
  label: string
  /** The field of the query. */
  name: string
  options: readonly (readonly [string, string])[]
}) => (
  <select
    aria-label={label}
    value={route.value.query.get(name) ?? ''}
    onChange={(event) => setQuery({ [name]: event.currentTarget.value })}
  >
    {options.map(([value, text]) => (
      <option key={value} value={value}>
        {text}
      </option>
    ))}
  </select>
)

/** The filters and views of the board, which are kept in the address, and the button for a new task, where the user may make one. */
export const BoardTools = ({ agents, onNew }: { agents: readonly Agent[]; onNew: (() => void) | undefined }) => (
  <div class="board-tools">
    <Filter value={route.value.query.get('q') ?? ''} hint="Search titles" onChange={(q) => setQuery({ q })} />
    <Choice
      label="Agent"
      name="agent"
      options={[['', 'All agents'], ...agents.map(({ id, name }) => [String(id), name] as const), [NOBODY, 'Nobody']]}
    />
    <Choice
      label="Approval"
      name="approval"
      options={[
        ['', 'Any approval'],
        ['needed', 'Needs approval'],
        ['not-needed', 'Needs none'],
      ]}
    />
    <span class="grow" />
    <Segmented
      label="View"
      options={[
        ['board', 'Board'],
        ['list', 'List'],
      ]}
      value={route.value.query.get('view') === 'list' ? 'list' : 'board'}
      onChange={(view) => setQuery({ view: view === 'list' ? view : undefined })}
    />
    {onNew && (
      <button type="button" class="primary" onClick={onNew}>
        <Icon icon={icons.New} />
        New task
      </button>
    )}
  </div>
)

/** What can be done with the tasks that are selected. */
export const Selected = ({
  tasks,
  onMove,
  onClear,
}: {
  tasks: readonly Task[]
  onMove: (status: TaskStatus) => void
  onClear: () => void
}) => (
  <div class="selected-tasks" role="toolbar" aria-label="Selected tasks">
    <b class="number nowrap">{plural(tasks.length, 'task')}</b>
    <MoveMenu tasks={tasks} name="the selected tasks" onMove={onMove} />
    <button type="button" class="quiet" aria-label="Clear the selection" onClick={onClear}>
      <Icon icon={icons.Close} />
    </button>
  </div>
)
