/** The entries by which a shared project is found. Each is written in the commit that changes the members of its project. @module */
import type { Commit, Key, KV } from '@turnpike/core'
import { counting, emailId } from '@turnpike/core/internal'
import type { Member, StoredProject } from '../projects/project-access.js'
import type { MemberRole } from '../schemas.js'

/** The counter of the projects and agents of a user, and of the projects that are shared with the user, which every change of a project writes. */
export const slotsKey = (userId: string): Key => ['project-slots', userId]

/** The projects that are shared with a user, and those that wait for whoever has an e-mail. */
export const sharedKey = (userId: string): Key => ['user-shared', userId]
export const offeredKey = (email: string): Key => ['shared-with', emailId(email)]

/** What is known of a shared project before it is read. */
export type Found = {
  /** The owner. */
  user_id: string
  /** That of the member. */
  role: MemberRole
}

/** The entry by which a member, or whoever is invited, finds a project. */
export const entryOfMember = (
  { id, user_id }: Pick<StoredProject, 'id' | 'user_id'>,
  { role, ...member }: Member,
): { key: Key; value: Found } => ({
  key: [...(member.user_id === undefined ? offeredKey(member.email) : sharedKey(member.user_id)), id],
  value: { user_id, role },
})

/** What a commit deletes, and takes off counters, with the members of a project. */
export async function ofMembers(
  kv: KV,
  project: Pick<StoredProject, 'id' | 'user_id' | 'members'>,
): Promise<{ entries: { key: Key; value: Found }[]; counts: Required<Pick<Commit, 'check' | 'sum'>>[] }> {
  const { members = [] } = project
  const users = members.flatMap(({ user_id }) => user_id ?? [])
  return {
    entries: members.map((member) => entryOfMember(project, member)),
    counts: await Promise.all(users.map((userId) => counting(kv, slotsKey(userId), { shared: -1 }))),
  }
}
