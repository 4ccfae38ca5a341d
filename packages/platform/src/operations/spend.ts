import type { UsageTotals } from '@turnpike/core'
import { nextTurn } from '@turnpike/core/internal'
import { SPEND_PAGES, SPEND_REVISIONS } from '../conventions.js'
import { getConversation } from '../entities/conversations.js'
import { ownProject } from '../entities/projects.js'
import type { StoredRevision } from '../entities/tasks.js'
import { getTask, listRevisions } from '../entities/tasks.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { IdParams, Spend, TaskSpend } from '../schemas.js'
import { none, sum, usageView } from '../usage.js'

/** What a task had used at its newest revisions, as far as few pages reach. Their outputs, which may be large, are not kept. */
async function newestUsed(
  { kv, countRead }: Parts,
  userId: string,
  taskId: string,
): Promise<Pick<StoredRevision, 'id' | 'used'>[]> {
  const newest: Pick<StoredRevision, 'id' | 'used'>[] = []
  let after: string | undefined
  for (let page = 1; ; page++) {
    const { items, next } = await listRevisions(kv, userId, taskId, { limit: SPEND_REVISIONS - newest.length, after })
    for (const { id, used } of items) newest.push({ id, used })
    countRead(
      userId,
      items.reduce((all, { output }) => all + output.length, 0),
    )
    if (next === undefined || newest.length === SPEND_REVISIONS || page === SPEND_PAGES) return newest
    after = next
    await nextTurn()
  }
}

/**
 * What projects, tasks and conversations have used: the sums of the usage records of their owner that name them by X-Project-ID, X-Task-ID and
 * X-Conversation-ID.
 */
export const spendOperations = (parts: Parts) => {
  const { kv, ledger, now } = parts
  return {
    /** @throws ApiError 404 */
    project: async (userId: string, id: string): Promise<UsageTotals> =>
      ledger.totals('project', (await ownProject(kv, userId, id)).value.id),
    /** Of the conversation of a project. @throws ApiError 404 */
    conversation: async (userId: string, projectId: string): Promise<UsageTotals> =>
      ledger.totals('conversation', (await getConversation(kv, userId, projectId, now())).id),
    /**
     * Of a task: in all; for each revision, newest first, what was used since the one before; and since the last. These add up to all.
     * @throws ApiError 404
     */
    async task(userId: string, id: string) {
      const [{ id: taskId }, revisions] = await Promise.all([getTask(kv, userId, id), newestUsed(parts, userId, id)])
      const total = await ledger.totals('task', taskId)
      return {
        total,
        since: sum(total, revisions[0]?.used ?? none, -1),
        revisions: revisions.map(({ id, used }, i) => ({ id, used: sum(used, revisions[i + 1]?.used ?? none, -1) })),
      }
    },
  }
}

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
