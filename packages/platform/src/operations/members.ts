import type { User } from '@turnpike/core'
import { Email } from '@turnpike/core/internal'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import type { Person } from '../entities/members.js'
import { acceptShare, listMembers, listShares, removeMember, setMember } from '../entities/members.js'
import type { Paging as PagingInput } from '../entities/pages.js'
import type { Member as StoredMember } from '../entities/project-access.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { IdParams, MemberRole, Project } from '../schemas.js'
import { Member, Share } from '../schemas-members.js'

const memberView = ({ id, email, role, user_id, added_at }: StoredMember): v.InferOutput<typeof Member> => ({
  id,
  email,
  role,
  accepted: user_id !== undefined,
  added_at,
})

/** What can be done with the members of projects, without HTTP. None of it asks whether there is a user with an e-mail, so that nobody learns it. */
export function memberOperations({ kv, dataBytes: bytes, logged, now }: Parts) {
  return {
    /** The members of a project and who is invited, the first first: all for its owner, only themselves for members. @throws ApiError 404 */
    async list(userId: string, projectId: string) {
      return (await listMembers(kv, userId, projectId)).map(memberView)
    },
    /**
     * Invites somebody by e-mail, or changes the role of a member.
     * @throws ApiError 404; 403 for others than the owner, and for too many; 400 for the owner's own e-mail
     */
    async set(owner: Person, projectId: string, member: { email: string; role: MemberRole }) {
      const set = (by: string | undefined) => setMember(kv, owner, projectId, member, { bytes, now: now(), by })
      return memberView(await logged('project.share', owner.id, set))
    },
    /** Removes a member or an invitation: by the owner, or by whom it is for. @throws ApiError 404, 403 for members who remove another */
    async remove(person: Person, projectId: string, memberId: string): Promise<void> {
      const remove = (by: string | undefined) => removeMember(kv, person, projectId, memberId, { now: now(), by })
      await logged('project.unshare', person.id, remove)
    },
    /** What waits for a user, newest first. */
    shares: (person: Person, page: PagingInput = {}) => listShares(kv, person, page),
    /** Makes a user who is invited a member. @throws ApiError 404 for others, 403 where too many projects are shared with the user */
    accept: (person: Person, projectId: string, memberId: string) =>
      logged('project.join', person.id, (by) => acceptShare(kv, person, projectId, memberId, { now: now(), by })),
  }
}

export type MemberOperations = ReturnType<typeof memberOperations>

/** The body of PUT /api/projects/{id}/members. */
export const NewMember = v.object({ email: Email, role: MemberRole })

/** The parameters of a path of a member. */
const MemberParams = v.object({ id: v.string(), memberId: v.string() })

const personOf = (caller: { user: User } | null): Person => caller!.user

/** GET /api/projects/{id}/members */
export const membersList = (members: MemberOperations) =>
  operation({
    id: 'members.list',
    summary: 'Whom a project is shared with: all for its owner, only themselves for members.',
    access: 'user',
    params: IdParams,
    output: v.array(Member),
    errors: [404],
    run: (caller, { params: { id } }) => members.list(caller!.user.id, id),
  })

/** PUT /api/projects/{id}/members */
export const membersSet = (members: MemberOperations) =>
  operation({
    id: 'members.set',
    summary:
      'Shares a project with whoever has an e-mail, now or later, once they accept; or changes the role of a member.',
    access: 'user',
    params: IdParams,
    body: NewMember,
    example: { email: 'ada@example.org', role: 'editor' },
    output: Member,
    errors: [403, 404],
    run: (caller, { params: { id }, body }) => members.set(personOf(caller), id, body),
  })

/** DELETE /api/projects/{id}/members/{memberId} */
export const membersRemove = (members: MemberOperations) =>
  operation({
    id: 'members.remove',
    summary: 'Ends what is shared with somebody, by the owner; or leaves a project, or declines it.',
    access: 'user',
    params: MemberParams,
    errors: [403, 404],
    run: (caller, { params: { id, memberId } }) => members.remove(personOf(caller), id, memberId),
  })

/** POST /api/projects/{id}/members/{memberId}/accept */
export const membersAccept = (members: MemberOperations) =>
  operation({
    id: 'members.accept',
    summary: 'Accepts a project that is shared with the caller.',
    access: 'user',
    params: MemberParams,
    output: Project,
    errors: [403, 404],
    run: (caller, { params: { id, memberId } }) => members.accept(personOf(caller), id, memberId),
  })

/** GET /api/account/shares */
export const membersShares = (members: MemberOperations) =>
  operation({
    id: 'members.shares',
    summary: 'The projects that others share with the caller, who has not accepted yet, newest first.',
    access: 'user',
    query: Paging,
    output: v.array(Share),
    answerHeaders: ['Link'],
    run: (caller, { query }, call) => jsonArray(query, call, (page) => members.shares(personOf(caller), page)),
  })
