import type { Act, Key, KV } from '@turnpike/core'
import { ApiError, entriesOf, getUser } from '@turnpike/core'
import {
  beginErasure,
  endErasure,
  eraseAuditDetails,
  eraseBelow,
  eraseKeys,
  erasures,
  eraseSessions,
  eraseUsageTexts,
} from '@turnpike/core/internal'
import { ERASURE_S } from '../conventions.js'
import type { FileOperations } from '../files/files.js'
import { eraseMember, eraseShares } from '../members/stored-members.js'
import type { Parts } from '../parts.js'
import { finishPurges } from '../projects/purges.js'
import { deleteProject } from '../projects/stored-projects.js'
import { eraseIdentities } from '../single-sign-on/identities.js'
import type { TokenOperations } from '../tokens/tokens.js'

/** What is left of a user once all else is removed: counters, and entries that nothing counts. */
const leftOf = (userId: string): Key[] => [
  ['password', userId],
  ['balance', userId],
  ['last-used', 'user', userId],
  ...['project-changes', 'user-changes', 'user-tasks', 'project-slots', 'file-space', 'owned'].map((kind) => [
    kind,
    userId,
  ]),
]

async function removeProjects(kv: KV, userId: string): Promise<void> {
  for await (const { key } of entriesOf(kv, ['user-projects', userId]))
    try {
      await deleteProject(kv, userId, key[2]!)
    } catch (error) {
      // Another process was faster.
      if (!ApiError.is(error) || error.status !== 404) throw error
    }
  // Those of conversations that were cleared, and of projects that were deleted before.
  await finishPurges(kv)
}

/** What is not stored below its user: failed requests, which the gateway keeps for seven days, and links that set the password. */
async function removeNaming(kv: KV, userId: string): Promise<void> {
  for (const kind of ['failed-request', 'link'])
    for await (const { key, value } of entriesOf<{ user_id?: string }>(kv, [kind]))
      if (value.user_id === userId) await kv.commit({ del: [key] })
}

/** Removes users who were deleted, with all that is theirs. */
export function erasureOperations(
  { kv, keys, sessions, now }: Parts,
  { tokens, files }: { tokens: TokenOperations; files: FileOperations | undefined },
) {
  /** Removes what there is of a user. Each part is found until it is gone, so that this can be begun again after a crash. */
  const removeAll = async (userId: string): Promise<void> => {
    await sessions?.signOutUser(userId)
    await eraseIdentities(kv, userId)
    await tokens.revokeAll(userId)
    await eraseKeys(kv, keys, userId)
    await files?.removeAll(userId)
    await eraseMember(kv, userId)
    await removeProjects(kv, userId)
    await eraseSessions(kv, userId)
    await eraseBelow(kv, leftOf(userId))
    await eraseUsageTexts(kv, userId)
    await removeNaming(kv, userId)
    await eraseAuditDetails(kv, userId)
  }

  return {
    /**
     * Removes a user who was deleted: the account, and all that is the user's. The e-mail is free again; the id is not. Usage records and their sums
     * stay, as do entries of the audit log, by the id alone.
     * @returns false if there never was such a user; true also where it was done before
     * @throws ApiError 400 for a user who is not deleted
     */
    async erase(id: string, act: Act = {}): Promise<boolean> {
      const user = await getUser(kv, id, { deleted: true })
      // The e-mail is not known any more once it has begun; who is deleted accepts nothing.
      if (user?.email && user.deleted_at !== null) await eraseShares(kv, user.email)
      if (!(await beginErasure(kv, id, { now: now(), ...act }))) return false
      await removeAll(id)
      return true
    },

    /**
     * Goes on with erasures that a crash cut off, and removes what requests have written that were running when they began. Call it when a
     * process starts, and from time to time.
     * @returns how many there were
     */
    async finish(): Promise<number> {
      let count = 0
      for await (const { userId, since } of erasures(kv)) {
        await removeAll(userId)
        if (since <= now() - ERASURE_S * 1_000) await endErasure(kv, userId)
        count++
      }
      return count
    },
  }
}

export type ErasureOperations = ReturnType<typeof erasureOperations>
