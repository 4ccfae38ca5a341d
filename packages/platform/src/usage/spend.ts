import type { UsageTotals } from '@turnpike/core'
import { SPEND_REVISIONS } from '../conventions.js'
import { getConversation } from '../conversations/stored-conversations.js'
import type { Parts } from '../parts.js'
import { projectFor } from '../projects/project-access.js'
import { revisionsOf, taskFor } from '../tasks/stored-tasks.js'
import { none, sum } from './usage-view.js'

/**
 * What projects, tasks and conversations have used: the sums of the usage records of their owner and editors that name them by X-Project-ID, X-Task-ID and
 * X-Conversation-ID.
 */
export const spendOperations = ({ kvOf, ledger, now }: Parts) => ({
  /** @throws ApiError 404 */
  project: async (userId: string, id: string): Promise<UsageTotals> =>
    ledger.totals('project', (await projectFor(kvOf(userId), userId, id)).value.id),
  /** Of the conversation of a project. @throws ApiError 404 */
  conversation: async (userId: string, projectId: string): Promise<UsageTotals> =>
    ledger.totals('conversation', (await getConversation(kvOf(userId), userId, projectId, now())).id),
  /**
   * Of a task: in all; for each revision, newest first, what was used since the one before; and since the last. These add up to all.
   * @throws ApiError 404
   */
  async task(userId: string, id: string) {
    const kv = kvOf(userId)
    const { task } = await taskFor(kv, userId, id)
    const { items } = await revisionsOf(kv, task.value, { limit: SPEND_REVISIONS })
    const total = await ledger.totals('task', task.value.id)
    return {
      total,
      since: sum(total, items[0]?.used ?? none, -1),
      revisions: items.map(({ id, used }, i) => ({ id, used: sum(used, items[i + 1]?.used ?? none, -1) })),
    }
  },
})

export type SpendOperations = ReturnType<typeof spendOperations>
