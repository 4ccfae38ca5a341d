import { nextTurn } from '../helpers/microtask.js'
import type { KV } from '../kv/kv.js'

/** Entities that are read at once. */
const AT_ONCE = 20

/** The first segment of the keys under which entities are stored. */
const kinds = { user: 'user', key: 'gwkey', session: 'session', project: 'project' }

/** What is needed of a stored entity. */
interface Stored {
  name?: string
  /** Of sessions. */
  label?: string | null
  /** Of users. */
  email?: string | null
  user_id?: string
}

/** The name of an entity, and the id of its owner; null where it has none, or is not stored. */
export interface Named {
  name: string | null
  user_id: string | null
}

/** Reads the names of entities, in the order of `ids`: of users, also deleted ones, the e-mail or the name; of sessions the label. */
export async function namesOf(kv: KV, of: keyof typeof kinds, ids: string[]): Promise<Named[]> {
  const names: Named[] = []
  // Some at a time: projects may have long descriptions.
  for (let i = 0; i < ids.length; i += AT_ONCE) {
    const entries = await kv.getMany<Stored>(ids.slice(i, i + AT_ONCE).map((id) => [kinds[of], id]))
    for (const entry of entries) {
      const { name, label, email, user_id = null } = entry?.value ?? {}
      names.push({ name: email || name || label || null, user_id })
    }
    await nextTurn()
  }
  return names
}
