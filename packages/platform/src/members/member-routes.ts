import type { User } from '@turnpike/core'
import { Email } from '@turnpike/core/internal'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { operation } from '../operation.js'
import { Member, Share } from '../schemas-members.js'
import { IdParams, MemberRole, Project } from '../schemas.js'
import type { MemberOperations } from './members.js'
import type { Person } from './stored-members.js'

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
    run: (caller, { params: { id }, body }, { again }) => members.set(personOf(caller), id, body, again),
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
