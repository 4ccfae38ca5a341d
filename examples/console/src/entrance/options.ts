import type { Schemas } from '@turnpike/client'
import { useData } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'

/** How people get in here; undefined until it is known, null where it cannot be read. */
export function useOptions(): Schemas['SignInOptions'] | null | undefined {
  const { value, error } = useData((signal) => turnpike.get('/api/auth/options', { signal }), [])
  return value ?? (error === undefined ? undefined : null)
}
