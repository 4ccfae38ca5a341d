import { content, jsonArray, Paging, requireMatch, whole } from '@turnpike/http'
import * as v from 'valibot'
import { defined } from '../given-fields.js'
import { operation } from '../operation.js'
import type { ProjectOperations } from '../projects/projects.js'
import { Flag, IdParams, Name, ProjectRole, Task, TaskRevision, TaskState, TaskStatus, Text } from '../schemas.js'
import type { TaskOperations } from './tasks.js'

/** The body of POST /api/tasks. */
export const NewTask = v.object({
  projectId: v.string(),
  title: Name,
  description: v.nullish(Text),
  assignedAgentId: v.nullish(v.pipe(v.number(), v.safeInteger())),
  requiresUserApproval: v.nullish(v.boolean()),
})

const text = v.nullish(Text)

/** The body of PATCH /api/tasks/{id}. Null clears a text. */
export const TaskPatch = v.object({
  status: v.optional(TaskStatus),
  output: text,
  draft_output: text,
  review_comments: text,
})

/** POST /api/tasks */
export const tasksCreate = (tasks: TaskOperations) =>
  operation({
    id: 'tasks.create',
    summary: 'Makes a task in a project.',
    access: 'user',
    aliases: {
      project_id: 'projectId',
      assigned_agent_id: 'assignedAgentId',
      requires_user_approval: 'requiresUserApproval',
    },
    body: NewTask,
    example: { projectId: '01900000-0000-7000-8000-000000000000', title: 'Headline' },
    output: Task,
    errors: [403, 404],
    run: (caller, { body: { projectId, title, description, assignedAgentId, requiresUserApproval } }) =>
      tasks.create(caller!.user.id, projectId, {
        title,
        description: description ?? null,
        assigned_agent_id: assignedAgentId ?? null,
        requires_user_approval: requiresUserApproval ?? false,
      }),
  })

/** The entity tag of a task, and of its status: no two changes of a task have the same time. */
const tagOf = ({ updated_at }: { updated_at: string }): string => `"${updated_at}"`

/** GET /api/tasks */
export const tasksList = (tasks: TaskOperations, projects: ProjectOperations) =>
  operation({
    id: 'tasks.list',
    summary:
      "The tasks of the caller's projects and of those that are shared with the caller, newest first: of one, or of all.",
    access: 'user',
    // A filter with another name must not be taken for none.
    query: v.strictObject({
      projectId: v.optional(v.string()),
      status: v.optional(TaskStatus),
      assignedAgentId: v.optional(whole(0, Number.MAX_SAFE_INTEGER)),
      /** Of projects in which the caller has this role at least; default `reader`: all. */
      role: v.optional(ProjectRole),
      /** Only of own projects, and only those that nobody else made, or has changed since the caller scheduled them last; default `false`. */
      own: Flag,
      ...Paging.entries,
    }),
    output: v.array(Task),
    errors: [403, 404],
    answerHeaders: ['Link'],
    version: (caller, { query: { projectId } }) =>
      projectId === undefined ? tasks.version(caller!.user.id) : projects.version(caller!.user.id, projectId, 'tasks'),
    run(caller, { query }, call) {
      const { projectId: project_id, status, assignedAgentId: assigned_agent_id, role, own } = query
      const filter = { project_id, status, assigned_agent_id, role, own: own === 'true' }
      return jsonArray(query, call, (page) => tasks.list(caller!.user.id, filter, page))
    },
  })

/** GET /api/tasks/{id} */
export const tasksGet = (tasks: TaskOperations) =>
  operation({
    id: 'tasks.get',
    summary: 'One task.',
    access: 'user',
    params: IdParams,
    output: Task,
    errors: [404],
    answerHeaders: ['ETag'],
    async run(caller, { params: { id } }, call) {
      const task = await tasks.get(caller!.user.id, id)
      call.setHeader('etag', tagOf(task))
      return task
    },
  })

/** PATCH /api/tasks/{id} */
export const tasksUpdate = (tasks: TaskOperations) =>
  operation({
    id: 'tasks.update',
    summary:
      'Changes the given fields of a task, such as to approve it. Another output makes a revision. With If-Match, only a task that is as it was read.',
    access: 'user',
    params: IdParams,
    aliases: { draftOutput: 'draft_output', reviewComments: 'review_comments' },
    body: TaskPatch,
    example: { status: 'done', output: 'A good headline' },
    output: Task,
    errors: [403, 404, 412],
    headers: ['If-Match'],
    answerHeaders: ['ETag'],
    permit: async (caller, { id }) => void (await tasks.state(caller!.user.id, id, { least: 'editor', foreign: 403 })),
    async run(caller, { params: { id }, body: { status, output, draft_output, review_comments } }, call) {
      const changed = await tasks.update(caller!.user.id, id, (task) => {
        requireMatch(call.header('if-match'), tagOf(task))
        return defined({ status, output, draft_output, review_comments })
      })
      call.setHeader('etag', tagOf(changed))
      return changed
    },
  })

/** DELETE /api/tasks/{id} */
export const tasksRemove = (tasks: TaskOperations) =>
  operation({
    id: 'tasks.remove',
    summary: 'Deletes a task with its result and its revisions.',
    access: 'user',
    params: IdParams,
    errors: [403, 404],
    run: (caller, { params: { id } }) => tasks.remove(caller!.user.id, id),
  })

/** GET /api/tasks/{id}/revisions */
export const tasksRevisions = (tasks: TaskOperations) =>
  operation({
    id: 'tasks.revisions',
    summary: 'What a task had as output, newest first; the first is what it has now, unless that was taken away.',
    access: 'user',
    params: IdParams,
    query: Paging,
    output: v.array(TaskRevision),
    errors: [404],
    answerHeaders: ['Link'],
    run: (caller, { params: { id }, query }, call) =>
      jsonArray(query, call, (page) => tasks.revisions(caller!.user.id, id, page)),
  })

/** GET /api/tasks/{id}/status */
export const tasksStatus = (tasks: TaskOperations) =>
  operation({
    id: 'tasks.status',
    summary: 'The status of a task, to be polled: with If-None-Match, it is 304 while nothing changes.',
    access: 'user',
    params: IdParams,
    output: TaskState,
    stored: true,
    errors: [404],
    async run(caller, { params: { id: given } }) {
      const state = await tasks.state(caller!.user.id, given)
      const body = JSON.stringify(state)
      return content({
        type: 'application/json; charset=utf-8',
        size: body.length,
        etag: tagOf(state),
        headers: { 'cache-control': 'private, no-cache' },
        read: () => body,
      })
    },
  })
