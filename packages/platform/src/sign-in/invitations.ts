import type { Act, User } from '@turnpike/core'
import { isUuid } from '@turnpike/core/helpers'
import { invalid, userIdOf } from '@turnpike/core/internal'
import { INVITATION_DAYS } from '../conventions.js'
import { forbidden } from '../errors.js'
import { invitation as invitationText } from '../mail/texts/invitation.js'
import type { Paging as PagingInput } from '../pages.js'
import type { Parts } from '../parts.js'
import type { NewInvitation as InvitationInput, StoredInvitation } from './stored-invitations.js'
import { createInvitation, listInvitations, noteDelivery, revokeInvitation } from './stored-invitations.js'

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
