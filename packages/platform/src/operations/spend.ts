import type { UsageTotals } from '@turnpike/core'
import { charactersOf } from '../characters.js'
import { SPEND_REVISIONS } from '../conventions.js'
import { getConversation } from '../entities/conversations.js'
import { projectFor } from '../entities/project-access.js'
import { revisionsOf, taskFor } from '../entities/tasks.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { IdParams } from '../schemas.js'
import { none, sum, usageView } from '../usage.js'
import { Spend, TaskSpend } from '../usage-schemas.js'

/**
 * What projects, tasks and conversations have used: the sums of the usage records of their owner and editors that name them by X-Project-ID, X-Task-ID and
 * X-Conversation-ID.
 */
export const spendOperations = ({ kv, ledger, countRead, now }: Parts) => ({
  /** @throws ApiError 404 */
  project: async (userId: string, id: string): Promise<UsageTotals> =>
    ledger.totals('project', (await projectFor(kv, userId, id)).value.id),
  /** Of the conversation of a project. @throws ApiError 404 */
  conversation: async (userId: string, projectId: string): Promise<UsageTotals> =>
    ledger.totals('conversation', (await getConversation(kv, userId, projectId, now())).id),
  /**
   * Of a task: in all; for each revision, newest first, what was used since the one before; and since the last. These add up to all.
   * @throws ApiError 404
   */
  async task(userId: string, id: string) {
    const { task } = await taskFor(kv, userId, id)
    const { items } = await revisionsOf(kv, task.value, { limit: SPEND_REVISIONS })
    await countRead(userId, charactersOf([task.value, items]))
    const total = await ledger.totals('task', task.value.id)
    return {
      total,
      since: sum(total, items[0]?.used ?? none, -1),
      revisions: items.map(({ id, used }, i) => ({ id, used: sum(used, items[i + 1]?.used ?? none, -1) })),
    }
  },
})

export type SpendOperations = ReturnType<typeof spendOperations>

/** GET /api/projects/{id}/spend */
export const projectsSpend = (spend: SpendOperations) =>
  operation({
    id: 'projects.spend',
    summary:
      'What the gateway requests of a project have used (X-Project-ID), those of its tasks and its conversation included.',
    access: 'user',
    params: IdParams,
    output: Spend,
    errors: [404],
    run: async (caller, { params: { id } }) => usageView(await spend.project(caller!.user.id, id)),
  })

/** GET /api/projects/{id}/conversation/spend */
export const conversationSpend = (spend: SpendOperations) =>
  operation({
    id: 'conversations.spend',
    summary: 'What the gateway requests of the conversation of a project have used (X-Conversation-ID).',
    access: 'user',
    params: IdParams,
    output: Spend,
    errors: [404],
    run: async (caller, { params: { id } }) => usageView(await spend.conversation(caller!.user.id, id)),
  })

/** GET /api/tasks/{id}/spend */
export const tasksSpend = (spend: SpendOperations) =>
  operation({
    id: 'tasks.spend',
    summary:
      'What the gateway requests of a task have used (X-Task-ID): in all, for each revision, and since the last one.',
    access: 'user',
    params: IdParams,
    output: TaskSpend,
    errors: [404],
    async run(caller, { params: { id } }) {
      const { total, revisions, since } = await spend.task(caller!.user.id, id)
      return {
        ...usageView(total),
        revisions: revisions.map(({ id, used }) => ({ id, ...usageView(used) })),
        since: usageView(since),
      }
    },
  })
