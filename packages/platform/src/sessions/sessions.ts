import { createSession, getSession, listSessions } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import type { Parts } from '../parts.js'

/** What users can do with their gateway sessions, without HTTP. */
export function sessionOperations({ kv, kvOf, planLimits, dataBytes, now }: Parts) {
  return {
    /** @throws ApiError 403 where the plan has no more sessions, or no space for its data */
    create: (userId: string, input?: Parameters<typeof createSession>[2]) =>
      createSession(kv, userId, { atMost: planLimits.sessions, bytesAtMost: dataBytes, ...input }, now()),
    list: (userId: string, page?: Parameters<typeof listSessions>[2]) => listSessions(kvOf(userId), userId, page),
    /** A session of the user; null if there is none with this id. */
    async get(userId: string, id: string) {
      const session = isUuid(id) ? await getSession(kv, id) : null
      return session?.user_id === userId ? session : null
    },
  }
}

export type SessionOperations = ReturnType<typeof sessionOperations>
