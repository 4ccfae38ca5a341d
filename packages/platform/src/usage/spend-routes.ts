import { operation } from '../operation.js'
import { IdParams } from '../schemas.js'
import type { SpendOperations } from './spend.js'
import { Spend, TaskSpend } from './usage-schemas.js'
import { usageView } from './usage-view.js'

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
