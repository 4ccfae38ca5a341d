import type { Key } from '@turnpike/core'
import type { Task } from '../schemas.js'

/** What the index knows of a task, besides its id and its status. */
export type Indexed = Pick<Task, 'project_id' | 'assigned_agent_id' | 'by_others'>

/** The entry that finds a task by its status. */
export const indexOf = (userId: string, task: Task): { key: Key; value: Indexed } => ({
  key: ['user-tasks', userId, task.status, task.id],
  value: {
    project_id: task.project_id,
    assigned_agent_id: task.assigned_agent_id,
    ...(task.by_others && { by_others: true }),
  },
})
