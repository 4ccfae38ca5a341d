import type { KV } from '@turnpike/core'
import { entriesOf } from '@turnpike/core'
import { emailId } from '@turnpike/core/internal'
import type { StoredInvitation } from '../sign-in/stored-invitations.js'
import type { StoredLink } from '../sign-in/stored-links.js'

/** Checks that invitations are found by their e-mails and links, and that what leads to one is its own. */
export async function* verifyInvitations(kv: KV): AsyncGenerator<string> {
  for await (const { value } of entriesOf<StoredInvitation>(kv, ['invitation'])) {
    const { id, email, link } = value
    const [ofEmail, ofLink] = await kv.getMany<unknown>([
      ['invitation-of', emailId(email)],
      ['link', link],
    ])
    if (ofEmail?.value !== id) yield `Invitation ${id} is not found by its e-mail`
    if ((ofLink?.value as { invitation_id?: string } | undefined)?.invitation_id !== id)
      yield `Invitation ${id} is not found by its link`
  }
  for await (const { value: id } of entriesOf<string>(kv, ['invitation-of']))
    if (!(await kv.get(['invitation', id]))) yield `An e-mail leads to invitation ${id}, which is not there`
  for await (const { key, value } of entriesOf<StoredLink>(kv, ['link']))
    if (value.kind === 'invitation') {
      const invitation = (await kv.get<StoredInvitation>(['invitation', value.invitation_id]))?.value
      if (invitation?.link !== key[1]) yield `A link leads to invitation ${value.invitation_id}, whose link it is not`
    }
}
