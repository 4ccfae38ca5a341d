import { shortId, useData } from '@turnpike/ui'
import { useMemo } from 'preact/hooks'
import type { Key, UsageRow } from './answers.js'
import { read } from './api.js'

/** Most names of a kind that are read; others are shown by their ids. */
const MOST = 500

/** Names by ids. */
export interface Names {
  user: (id: string) => string
  key: (id: string) => string
  project: (id: string) => string
  /** The owner of a key; undefined where it is not known. */
  ownerOf: (key: string) => string | undefined
}

interface UserRow {
  id: string
  name: string
  email: string | null
}

/** The names of the newest users, keys and projects. Until they are read, ids. */
export function useNames(): Names {
  const { value } = useData(async (signal) => {
    const [users, keys, projects] = await Promise.all([
      read<{ data: UserRow[] }>(`users/summary?limit=${MOST}`, signal),
      read<{ data: Key[] }>(`keys?limit=${MOST}`, signal),
      read<{ data: UsageRow[] }>(`usage?by=project&limit=${MOST}`, signal),
    ])
    return {
      users: new Map(users.data.map(({ id, name, email }) => [id, email || name || id])),
      keys: new Map(keys.data.map((key) => [key.id, key])),
      projects: new Map(projects.data.map(({ id, name }) => [id, name ?? id])),
    }
  }, [])
  return useMemo(
    () => ({
      user: (id) => value?.users.get(id) ?? shortId(id),
      key: (id) => value?.keys.get(id)?.name || shortId(id),
      project: (id) => value?.projects.get(id) ?? shortId(id),
      ownerOf: (id) => value?.keys.get(id)?.user_id,
    }),
    [value],
  )
}
