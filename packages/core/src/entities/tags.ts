import type { KV } from '../kv/kv.js'
import type { UsageRecord } from '../ledger/usage-record.js'
import { revocableCache } from '../helpers/revocable-cache.js'

/** The fields of a usage record that name what it was used for, and the totals in which it counts. */
export type Tagged = Pick<
  UsageRecord,
  | 'user_id'
  | 'session_id'
  | 'conversation_id'
  | 'task_id'
  | 'project_id'
  | 'in_session'
  | 'in_conversation'
  | 'in_task'
  | 'in_project'
>

/**
 * Decides in which totals a record counts, and sets its `in_…` fields: an entity counts that exists and belongs to the record's user, or is of a
 * project that the user edits, a session only before its end. A record that names no project gets that of its task, else that of its conversation.
 * Returns a promise only if something must be read.
 */
export type Attribute = (record: Tagged) => Promise<void> | undefined

const kinds = ['session', 'conversation', 'task', 'project'] as const
type Kind = (typeof kinds)[number]

/** What is needed of a stored session, conversation, task or project. */
interface Stored {
  user_id: string
  project_id?: string
  expires_at?: string | null
  /** Of projects. */
  members?: { user_id?: string; role: string }[]
}

interface Entity {
  userId: string
  /** Of projects: the other users who may change what is in it. */
  editors: string[]
  /** Of tasks and conversations. */
  projectId: string | undefined
  /** When a session ends, in milliseconds. */
  until: number
}

const entityOf = ({ user_id, project_id, expires_at, members = [] }: Stored): Entity => ({
  userId: user_id,
  editors: members.flatMap(({ user_id, role }) => (user_id !== undefined && role === 'editor' ? user_id : [])),
  projectId: project_id,
  until: expires_at ? Date.parse(expires_at) : Infinity,
})

const idOf = (record: Tagged, kind: Kind): string => record[`${kind}_id`]

/** Whether a record names anything; most do not. */
const isTagged = ({ session_id, conversation_id, task_id, project_id }: Tagged): boolean =>
  Boolean(session_id || conversation_id || task_id || project_id)

/** Entities by their kinds and ids, such as `task/…`; null where there is none. */
type Found = Map<string, Entity | null>

/**
 * {@link Attribute} over a `KV`, which it reads at most once per record, and once more for the project of what is somebody else's. Entities are
 * cached for up to four seconds, so that a record may still count for one that another process has just deleted, or whose editor it has removed.
 */
export function attribution(kv: KV, { now = Date.now }: { now?: () => number } = {}): Attribute {
  const cache = revocableCache<Entity>(now)

  const mark = (record: Tagged, found: Found): void => {
    const own = (kind: Kind): Entity | undefined => {
      const entity = found.get(`${kind}/${idOf(record, kind)}`)
      if (!entity || now() >= entity.until) return undefined
      const { editors } = found.get(`project/${entity.projectId}`) ?? entity
      return entity.userId === record.user_id || editors.includes(record.user_id) ? entity : undefined
    }
    const [task, conversation] = [own('task'), own('conversation')]
    if (own('session')) record.in_session = true
    if (conversation) record.in_conversation = true
    if (task) record.in_task = true
    if (own('project')) record.in_project = true
    if (record.project_id !== '') return
    const projectId = task?.projectId ?? conversation?.projectId
    if (projectId === undefined) return
    record.project_id = projectId
    record.in_project = true
  }

  /** What has to be read: of what the record names, and of the projects of what is somebody else's. */
  const missingOf = (record: Tagged, found: Found): string[] => {
    const missing: string[] = []
    const find = (name: string): void => {
      if (found.has(name)) return
      const entity = cache.get(name)
      if (entity) found.set(name, entity)
      else missing.push(name)
    }
    for (const kind of kinds) if (idOf(record, kind) !== '') find(`${kind}/${idOf(record, kind)}`)
    for (const entity of found.values())
      if (entity?.projectId !== undefined && entity.userId !== record.user_id) find(`project/${entity.projectId}`)
    return missing
  }

  const read = async (names: string[], found: Found): Promise<void> => {
    const reading = kv.getMany<Stored>(names.map((name) => [name.split('/', 1)[0]!, name.slice(name.indexOf('/') + 1)]))
    const load = async (name: string, i: number): Promise<void> => {
      const entity = await cache.load(name, async () => {
        const entry = (await reading)[i]
        return entry ? entityOf(entry.value) : null
      })
      found.set(name, entity)
    }
    await Promise.all(names.map(load))
  }

  const attribute = (record: Tagged, found: Found): Promise<void> | undefined => {
    const missing = missingOf(record, found)
    if (missing.length === 0) return void mark(record, found)
    return read(missing, found).then(() => attribute(record, found))
  }
  return (record) => (isTagged(record) ? attribute(record, new Map()) : undefined)
}
