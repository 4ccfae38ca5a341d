import type { Act, User } from '@turnpike/core'
import { Email, invalid, isUuid, userIdOf } from '@turnpike/core/internal'
import { jsonArray, Paging } from '@turnpike/http'
import * as v from 'valibot'
import { INVITATION_DAYS, MAX_BALANCE } from '../conventions.js'
import type { NewInvitation as InvitationInput, StoredInvitation } from '../entities/invitations.js'
import { createInvitation, listInvitations, noteDelivery, revokeInvitation } from '../entities/invitations.js'
import type { Paging as PagingInput } from '../entities/pages.js'
import { forbidden, notFound } from '../errors.js'
import { invitation as invitationText } from '../mail/texts/invitation.js'
import { operation } from '../operation.js'
import type { Parts } from '../parts.js'
import { IdParams, Role, viewOf } from '../schemas.js'
import { Invitation } from '../schemas-people.js'

/** A user as others are told of them. */
const nameOf = ({ first_name, last_name, email }: User): string => {
  const name = `${first_name} ${last_name}`.trim()
  return name && email ? `${name} (${email})` : name || email || 'An administrator'
}

/** What can be done with invitations, without HTTP. */
export function invitationOperations({ kv, post, links, signUp, now }: Parts) {
  return {
    /**
     * Invites somebody, and sends the link. An earlier invitation of the e-mail ends.
     * @returns with the link to hand on, where it was not sent
     * @throws ApiError 403 where nobody signs up, 400 where the e-mail is taken
     */
    async create(input: InvitationInput, by: User): Promise<StoredInvitation & { url?: string }> {
      if (signUp.mode === 'closed') throw forbidden('Nobody signs up here (SIGN_UP)')
      if ((await userIdOf(kv, input.email)) !== null) throw invalid('The e-mail is taken', { field: 'email' })
      const act = { by: by.id, days: INVITATION_DAYS, now: now() }
      const mail = post.isThere ? 'pending' : 'none'
      const { invitation, token } = await createInvitation(kv, input, { ...act, mail })
      const url = links.urlOf(token)
      if (mail === 'none') return { ...invitation, url }
      const text = invitationText({ place: links.place, url, days: INVITATION_DAYS, by: nameOf(by) })
      const delivery = await post.send(invitation.email, text)
      await noteDelivery(kv, invitation, delivery)
      return { ...invitation, ...delivery, ...(delivery.mail !== 'sent' && { url }) }
    },
    /** A page of the invitations that are open, newest first. */
    list: (page?: PagingInput) => listInvitations(kv, page),
    /** Ends an invitation. False if there is none with this id. */
    revoke: async (id: string, act: Act = {}): Promise<boolean> =>
      isUuid(id) && revokeInvitation(kv, id, { now: now(), ...act }),
  }
}

export type InvitationOperations = ReturnType<typeof invitationOperations>

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
