import { randomUUID } from 'node:crypto'
import type { KV } from '@turnpike/core'

/** Ids of what a user owns that requests can name. */
export interface Tags {
  project: string
  task: string
  conversation: string
}

/** Stores a project of a user with a task and a conversation, as far as usage totals depend on them. */
export async function storeTags(kv: KV, userId: string): Promise<Tags> {
  const [project, task, conversation] = [randomUUID(), randomUUID(), randomUUID()]
  await kv.commit({
    set: [
      { key: ['project', project], value: { id: project, user_id: userId } },
      { key: ['task', task], value: { id: task, user_id: userId, project_id: project } },
      { key: ['conversation', conversation], value: { id: conversation, user_id: userId, project_id: project } },
    ],
  })
  return { project, task, conversation }
}

/** Deletes them. */
export const deleteTags = (kv: KV, { project, task, conversation }: Tags): Promise<boolean> =>
  kv.commit({
    del: [
      ['project', project],
      ['task', task],
      ['conversation', conversation],
    ],
  })
