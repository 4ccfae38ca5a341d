import type { BlobStore, Key, KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import { countEntries, verifyOwned } from '@turnpike/core/internal'
import type { Conversation, RunningReply } from '../conversations/stored-conversations.js'
import type { StoredProject } from '../projects/project-access.js'
import type { Purge } from '../projects/purges.js'
import { purgedBy } from '../projects/purges.js'
import { inProject, tasksKey } from '../projects/stored-projects.js'
import { verifyIdentities } from '../single-sign-on/identities.js'
import type { StoredTask } from '../tasks/stored-tasks.js'
import type { Indexed } from '../tasks/task-index.js'
import { indexOf } from '../tasks/task-index.js'
import { verifyBytes } from './verify-bytes.js'
import { miscounted } from './verify-counters.js'
import { verifyFiles } from './verify-files.js'
import { verifyInvitations } from './verify-invitations.js'
import { verifyMembers } from './verify-members.js'
import { verifySignIns } from './verify-sign-ins.js'

/** Checks that the count of the projects and agents of each user, and of what is shared with them, is right. */
async function* verifySlots(kv: KV): AsyncGenerator<string> {
  const taken = async function* (): AsyncGenerator<[string, Record<string, number>]> {
    for await (const { value } of entriesOf<StoredProject>(kv, ['project'])) {
      yield [value.user_id, { projects: 1, agents: value.agents }]
      for (const { user_id } of value.members ?? []) if (user_id !== undefined) yield [user_id, { shared: 1 }]
    }
  }
  for await (const [userId] of miscounted(kv, 'project-slots', taken()))
    yield `The projects or agents of user ${userId}, or what is shared with them, are miscounted`
}

/** Checks that the tasks of projects and of their users are counted right, as far as they are counted. */
async function* verifyTasks(kv: KV): AsyncGenerator<string> {
  const ofUsers: [string, { tasks: number }][] = []
  for await (const { value: project } of entriesOf<StoredProject>(kv, ['project'])) {
    const counted = (await kv.get<{ tasks: number }>(tasksKey(project.id)))?.value
    if (!counted) continue
    ofUsers.push([project.user_id, counted])
    if (counted.tasks !== (await countEntries(kv, inProject(project.id, 'task'))))
      yield `The tasks of project ${project.id} are miscounted`
  }
  for await (const [userId, { tasks }] of miscounted(kv, 'owned', ofUsers))
    if (tasks) yield `The tasks of user ${userId} are miscounted`
}

/** Checks that the replies that are being written are counted right. */
async function* verifyReplies(kv: KV): AsyncGenerator<string> {
  const running = async function* (): AsyncGenerator<[string, { replies: number }]> {
    for await (const { value } of entriesOf<RunningReply>(kv, ['reply'])) yield [value.user_id, { replies: 1 }]
  }
  for await (const [userId, { replies }] of miscounted(kv, 'owned', running()))
    if (replies) yield `The running replies of user ${userId} are miscounted`
}

/** What an entry below `in-project` needs to be found, or to belong to something: the value of another entry, as far as it is told. */
function neededBy(key: Key, value: unknown): { key: Key; is: (value: never) => boolean; problem: string } {
  const [, project, kind, id, ...rest] = key as [string, string, string, string, ...string[]]
  if (kind === 'task-count') return { key: ['project', project], is: () => true, problem: `Project ${project} is gone` }
  const isOfProject = (owner: { project_id: string }) => owner.project_id === project
  if (kind === 'task') return { key: ['task', id], is: isOfProject, problem: `Task ${id} is not found by its id` }
  if (kind === 'conversation') {
    const { id } = value as Conversation
    return { key: ['conversation', id], is: isOfProject, problem: `Conversation ${id} is not found by its id` }
  }
  if (kind === 'message')
    return {
      key: ['in-project', project, 'conversation'],
      is: ({ thread }: Conversation) => thread === id,
      problem: `Message ${rest[0]} is in no conversation`,
    }
  if (kind === 'reply')
    return {
      key: ['reply', id],
      is: ({ conversation }: RunningReply) => isOfProject(conversation),
      problem: `A part of reply ${id} was left behind`,
    }
  const taskId = kind === 'revision' ? id : (value as string)
  return {
    key: ['in-project', project, 'task', taskId],
    is: ({ result }: StoredTask) => kind === 'revision' || result === id,
    problem: kind === 'revision' ? `Revision ${rest[0]} is of no task` : `Result ${id} is not that of task ${taskId}`,
  }
}

/** Checks that what belongs to projects has its project, and that it is found, unless its deletion is under way. */
async function* verifyChildren(kv: KV): AsyncGenerator<string> {
  const purges: Key[] = []
  for await (const { value } of entriesOf<Purge['value']>(kv, ['purge'])) purges.push(purgedBy(value).prefix)
  const isPurged = (key: Key): boolean => purges.some((prefix) => prefix.every((segment, i) => key[i] === segment))

  for await (const { key, value } of entriesOf<unknown>(kv, ['in-project'])) {
    if (isPurged(key)) continue
    const needed = neededBy(key, value)
    const [project, other] = await kv.getMany<StoredProject>([['project', key[1]!], needed.key])
    if (!project) yield `${key.slice(2).join(' ')} is in project ${key[1]}, which is not there`
    if (!other || !needed.is(other.value as never)) yield needed.problem
    if (project && key[2] === 'task') {
      const index = indexOf(project.value.user_id, value as StoredTask)
      const found = await kv.get<Indexed>(index.key)
      if (!found) yield `Task ${key[3]} is not found by its status`
      else if (found.value.by_others !== index.value.by_others)
        yield `Task ${key[3]} has instructions of others where its list has none, or the other way round`
    }
  }
  for await (const { key, value } of entriesOf<{ project_id: string }>(kv, ['user-tasks'])) {
    const [, , status, id] = key
    const child = inProject(value.project_id, 'task', id!)
    if (!isPurged(child) && (await kv.get<StoredTask>(child))?.value.status !== status)
      yield `Task ${id} is not ${status}, as the list of its user has it`
  }
  for (const kind of ['task', 'conversation'])
    for await (const { key, value } of entriesOf<{ user_id: string; project_id: string }>(kv, [kind])) {
      const { user_id, project_id } = value
      const child = ['in-project', project_id, kind, ...(kind === 'task' ? [key[1]!] : [])]
      const [project, found] = await kv.getMany<{ user_id?: string; id: string }>([['project', project_id], child])
      if (isPurged(child)) continue
      if (found?.value.id !== key[1]) yield `${kind} ${key[1]} is not in its project`
      if (project?.value.user_id !== user_id) yield `${kind} ${key[1]} is said to be of user ${user_id}`
    }
}

/**
 * Reads a whole store and checks the redundant data of the platform, as `verifyStore` of `@turnpike/core` does that of users, keys and usage.
 * No commit may happen meanwhile.
 * @param options.blobs where the bytes of files are; without it, these are not looked for
 * @returns one sentence per inconsistency
 * @example for await (const problem of verifyPlatform(kv)) console.error(problem)
 */
export async function* verifyPlatform(kv: KV, { blobs }: { blobs?: BlobStore } = {}): AsyncGenerator<string> {
  yield* verifySignIns(kv)
  yield* verifyInvitations(kv)
  yield* verifyIdentities(kv)
  yield* verifyOwned(kv, 'Project', 'project', 'user-projects')
  yield* verifyOwned(kv, 'Token', 'token', 'user-tokens')
  yield* verifyMembers(kv)
  yield* verifySlots(kv)
  yield* verifyTasks(kv)
  yield* verifyReplies(kv)
  yield* verifyChildren(kv)
  yield* verifyFiles(kv, blobs)
  yield* verifyBytes(kv)
}
