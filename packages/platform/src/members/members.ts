import type { Act } from '@turnpike/core'
import * as v from 'valibot'
import type { Paging as PagingInput } from '../pages.js'
import type { Parts } from '../parts.js'
import type { Member as StoredMember } from '../projects/project-access.js'
import { Member } from '../schemas-members.js'
import { MemberRole } from '../schemas.js'
import type { Person } from './stored-members.js'
import { acceptShare, listMembers, listShares, removeMember, setMember } from './stored-members.js'

const memberView = ({ id, email, role, user_id, added_at }: StoredMember): v.InferOutput<typeof Member> => ({
  id,
  email,
  role,
  accepted: user_id !== undefined,
  added_at,
})

/** What can be done with the members of projects, without HTTP. None of it asks whether there is a user with an e-mail, so that nobody learns it. */
export function memberOperations({ kvOf, dataBytes: bytes, logged, now }: Parts) {
  return {
    /** The members of a project and who is invited, the first first: all for its owner, only themselves for members. @throws ApiError 404 */
    async list(userId: string, projectId: string) {
      return (await listMembers(kvOf(userId), userId, projectId)).map(memberView)
    },
    /**
     * Invites somebody by e-mail, or changes the role of a member.
     * @param again as of an {@link Act}
     * @throws ApiError 404; 403 for others than the owner, and for too many; 400 for the owner's own e-mail
     */
    async set(owner: Person, projectId: string, member: { email: string; role: MemberRole }, again?: Act['again']) {
      const set = (by: string | undefined) =>
        setMember(kvOf(owner.id), owner, projectId, member, { bytes, now: now(), by, again })
      return memberView(await logged('project.share', owner.id, set))
    },
    /** Removes a member or an invitation: by the owner, or by whom it is for. @throws ApiError 404, 403 for members who remove another */
    async remove(person: Person, projectId: string, memberId: string): Promise<void> {
      const remove = (by: string | undefined) =>
        removeMember(kvOf(person.id), person, projectId, memberId, { now: now(), by })
      await logged('project.unshare', person.id, remove)
    },
    /** What waits for a user, newest first. */
    shares: (person: Person, page: PagingInput = {}) => listShares(kvOf(person.id), person, page),
    /** Makes a user who is invited a member. @throws ApiError 404 for others, 403 where too many projects are shared with the user */
    accept: (person: Person, projectId: string, memberId: string) =>
      logged('project.join', person.id, (by) =>
        acceptShare(kvOf(person.id), person, projectId, memberId, { now: now(), by }),
      ),
  }
}

export type MemberOperations = ReturnType<typeof memberOperations>
