import type { KV } from '../kv/kv.js'

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
  const entries = await kv.getMany<Stored>(ids.map((id) => [kinds[of], id]))
  return entries.map((entry) => {
    const { name, label, email, user_id = null } = entry?.value ?? {}
    return { name: email || name || label || null, user_id }
  })
}
