import type { Schemas } from '@turnpike/client'
import { useData } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'

/** How people get in here; undefined until it is known, and where it cannot be read. */
export const useOptions = (): Schemas['SignInOptions'] | undefined =>
  useData((signal) => turnpike.get('/api/auth/options', { signal }), []).value
