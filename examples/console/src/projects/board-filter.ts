import { matches } from '@turnpike/ui'
import type { Agent, Task } from './tasks.js'
import { agentOf, columns } from './tasks.js'

/** The value of the filter by agent for tasks that nobody works on. */
export const NOBODY = 'nobody'

/** Which tasks are shown by the query of the page: `agent` (an id, or {@link NOBODY}), `approval` (`needed`, `not-needed`) and `q`, words of their titles. */
export function filterOf(query: URLSearchParams): (task: Task) => boolean {
  const agent = query.get('agent')
  const approval = query.get('approval')
  const words = query.get('q')
  return (task) =>
    (!agent || String(task.assigned_agent_id ?? NOBODY) === agent) &&
    (!approval || task.requires_user_approval === (approval === 'needed')) &&
    (!words || matches(words, [task.title]))
}

/** What the list can be sorted by. */
export const sorts = ['title', 'status', 'agent', 'changed'] as const
export type Sort = (typeof sorts)[number]

/** The order in a query: `title`, or `-title` from the last to the first. What changed last comes first, unless it says otherwise. */
export function orderOf(text: string | null): { by: Sort; down: boolean } {
  const by = sorts.find((one) => one === text?.replace(/^-/, ''))
  return by ? { by, down: text!.startsWith('-') } : { by: 'changed', down: true }
}

/** Tasks in the order of a query; equal ones stay as they come. */
export function sorted(tasks: readonly Task[], text: string | null, agents: readonly Agent[]): readonly Task[] {
  const { by, down } = orderOf(text)
  const key = {
    title: (task: Task) => task.title.toLowerCase(),
    status: (task: Task) => String(columns.findIndex(({ status }) => status === task.status)),
    agent: (task: Task) => agentOf(task, agents)?.toLowerCase() ?? '',
    changed: (task: Task) => task.updated_at,
  }[by]
  const keys = new Map(tasks.map((task) => [task, key(task)]))
  const compare = (a: Task, b: Task): number => {
    const [x, y] = [keys.get(a)!, keys.get(b)!]
    return (x < y ? -1 : x > y ? 1 : 0) * (down ? -1 : 1)
  }
  return tasks.toSorted(compare)
}
