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
 * Decides in which totals a record counts, and sets its `in_…` fields: an entity counts that exists and belongs to the record's user, a
 * session only before its end. A record that names no project gets that of its task, else that of its conversation.
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
}

interface Entity {
  userId: string
  projectId: string | undefined
  /** When a session ends, in milliseconds. */
  until: number
}

const entityOf = ({ user_id, project_id, expires_at }: Stored): Entity => ({
  userId: user_id,
  projectId: project_id,
  until: expires_at ? Date.parse(expires_at) : Infinity,
})

const idOf = (record: Tagged, kind: Kind): string => record[`${kind}_id`]

/**
 * {@link Attribute} over a `KV`, which it reads at most once per record. Entities are cached for up to four seconds, so that a record may
 * still count for one that another process has just deleted.
 */
export function attribution(kv: KV, { now = Date.now }: { now?: () => number } = {}): Attribute {
  const cache = revocableCache<Entity>(now)

  const mark = (record: Tagged, found: Partial<Record<Kind, Entity>>): void => {
    const own = (kind: Kind): Entity | undefined => {
      const entity = found[kind]
      return entity?.userId === record.user_id && now() < entity.until ? entity : undefined
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

  const read = async (record: Tagged, found: Partial<Record<Kind, Entity>>, missing: Kind[]): Promise<void> => {
    const reading = kv.getMany<Stored>(missing.map((kind) => [kind, idOf(record, kind)]))
    const load = async (kind: Kind, i: number): Promise<void> => {
      const entity = await cache.load(`${kind}/${idOf(record, kind)}`, async () => {
        const entry = (await reading)[i]
        return entry ? entityOf(entry.value) : null
      })
      if (entity) found[kind] = entity
    }
    await Promise.all(missing.map(load))
    mark(record, found)
  }

  return (record) => {
    const { session_id, conversation_id, task_id, project_id } = record
    if (session_id === '' && conversation_id === '' && task_id === '' && project_id === '') return undefined
    const found: Partial<Record<Kind, Entity>> = {}
    const missing: Kind[] = []
    for (const kind of kinds) {
      const id = idOf(record, kind)
      if (id === '') continue
      const entity = cache.get(`${kind}/${id}`)
      if (entity) found[kind] = entity
      else missing.push(kind)
    }
    return missing.length > 0 ? read(record, found, missing) : void mark(record, found)
  }
}
