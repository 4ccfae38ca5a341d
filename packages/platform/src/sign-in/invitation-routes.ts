import { Email } from '@turnpike/core/internal'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { MAX_BALANCE } from '../conventions.js'
import { notFound } from '../errors.js'
import { operation } from '../operation.js'
import { Invitation } from '../schemas-people.js'
import { IdParams, Role, viewOf } from '../schemas.js'
import type { InvitationOperations } from './invitations.js'

const invitationView = viewOf(Invitation)

const amount = v.nullish(v.pipe(v.number(), v.integer(), v.minValue(0), v.maxValue(MAX_BALANCE)))

/** The body of POST /api/invitations. */
export const NewInvitation = v.object({
  email: Email,
  /** Default `user`. */
  role: v.nullish(Role),
  /** Of the balance that the person begins with. */
  creditCoins: amount,
  extraProjects: amount,
})

/** POST /api/invitations */
export const invitationsCreate = (invitations: InvitationOperations) =>
  operation({
    id: 'invitations.create',
    summary:
      'Invites somebody by e-mail; where no e-mail is sent, the link is in the answer. An earlier invitation of the e-mail ends.',
    access: 'admin',
    aliases: { credit_coins: 'creditCoins', extra_projects: 'extraProjects' },
    body: NewInvitation,
    example: { email: 'ada@example.org', role: 'developer', creditCoins: 100 },
    output: Invitation,
    async run(caller, { body: { email, role, creditCoins, extraProjects } }) {
      const given = { role: role ?? 'user', credit_coins: creditCoins ?? 0, extra_projects: extraProjects ?? 0 }
      return invitationView(await invitations.create({ email, ...given }, caller!.user))
    },
  })

/** GET /api/invitations */
export const invitationsList = (invitations: InvitationOperations) =>
  operation({
    id: 'invitations.list',
    summary: 'The invitations that are open, newest first.',
    access: 'admin',
    query: Paging,
    output: v.array(Invitation),
    answerHeaders: ['Link'],
    run: (_, { query }, call) =>
      jsonArray(query, call, async (page) => {
        const { items, next } = await invitations.list(page)
        return { items: items.map(invitationView), next }
      }),
  })

/** DELETE /api/invitations/{id} */
export const invitationsRevoke = (invitations: InvitationOperations) =>
  operation({
    id: 'invitations.revoke',
    summary: 'Ends an invitation at once.',
    access: 'admin',
    params: IdParams,
    errors: [404],
    async run(caller, { params: { id } }) {
      if (!(await invitations.revoke(id, { by: caller!.user.id }))) throw notFound('invitation')
    },
  })
