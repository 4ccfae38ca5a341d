import type { Act, Commit, Entry, KV, Role, User } from '@turnpike/core'
import { uuidv7 } from '@turnpike/core/helpers'
import { audit, emailId, isAdmin, userEntry } from '@turnpike/core/internal'
import type { Delivery } from '../mail/post.js'
import type { Page, Paging } from '../pages.js'
import { newestFirst } from '../pages.js'
import { linkKey, newLink } from './stored-links.js'

/** What somebody is invited with. */
export type NewInvitation = {
  email: string
  role: Role
  /** Of the balance. */
  credit_coins: number
  extra_projects: number
}

/** An invitation, as stored under `invitation/<id>` until it expires. */
export type StoredInvitation = NewInvitation &
  Delivery & {
    id: string
    /** The id of a user. */
    invited_by: string
    /** SHA-256 of the token of its link. */
    link: string
    created_at: string
    expires_at: string
  }

const invitationKey = (id: string) => ['invitation', id]
/** The id of the invitation of an e-mail. */
const ofEmailKey = (email: string) => ['invitation-of', emailId(email)]

/** The keys of the entries of an invitation. They expire together. */
const entriesOfInvitation = ({ id, email, link }: StoredInvitation): NonNullable<Commit['del']> => [
  invitationKey(id),
  ofEmailKey(email),
  linkKey(link),
]

const invitationEntry = (kv: KV, id: string): Promise<Entry<StoredInvitation> | null> =>
  kv.get<StoredInvitation>(invitationKey(id))

/** An invitation that is good, and the administrator who has invited. */
export interface Invited {
  invitation: Entry<StoredInvitation>
  admin: Entry<User>
}

/** An invitation that is open; null where there is none, or where who has invited is no administrator any more. */
export async function openInvitation(kv: KV, id: string, now: number): Promise<Invited | null> {
  const invitation = await invitationEntry(kv, id)
  const admin = invitation && (await userEntry(kv, invitation.value.invited_by))
  const isOpen = invitation && Date.parse(invitation.value.expires_at) > now
  return isOpen && isAdmin(admin?.value) ? { invitation, admin: admin! } : null
}

/** As {@link openInvitation}, for an e-mail. */
export async function invitationOf(kv: KV, email: string, now: number): Promise<Invited | null> {
  const id = (await kv.get<string>(ofEmailKey(email)))?.value
  return id === undefined ? null : openInvitation(kv, id, now)
}

/** The keys of the entries of the invitation of an e-mail; none where there is none. It ends where its e-mail gets an account. */
export async function entriesOfInvited(kv: KV, email: string): Promise<NonNullable<Commit['del']>> {
  const index = await kv.get<string>(ofEmailKey(email))
  const invitation = index && (await invitationEntry(kv, index.value))
  return invitation ? entriesOfInvitation(invitation.value) : []
}

/** The invitations that are open, newest first. */
export const listInvitations = (kv: KV, page: Paging = {}): Promise<Page<StoredInvitation>> =>
  newestFirst<StoredInvitation>(kv, ['invitation'], page)

/** Invites somebody. An earlier invitation of the same e-mail ends. @returns what is stored, and the token of its link */
export async function createInvitation(
  kv: KV,
  input: NewInvitation,
  { by, days, now, mail }: { by: string; days: number; now: number; mail: Delivery['mail'] },
): Promise<{ invitation: StoredInvitation; token: string }> {
  const expiresAt = now + days * 86_400_000
  const id = uuidv7(now)
  const { token, hash, entry } = await newLink({ kind: 'invitation', invitation_id: id, email: input.email }, expiresAt)
  const invitation: StoredInvitation = {
    id,
    ...input,
    mail,
    invited_by: by,
    link: hash,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(expiresAt).toISOString(),
  }
  for (;;) {
    const ofEmail = ofEmailKey(input.email)
    const index = await kv.get<string>(ofEmail)
    const before = index && (await invitationEntry(kv, index.value))
    const made = await kv.commit({
      check: [
        { key: ofEmail, version: index?.version ?? null },
        ...(before ? [{ key: before.key, version: before.version }] : []),
      ],
      del: before ? [before.key, linkKey(before.value.link)] : [],
      set: [
        { key: invitationKey(id), value: invitation, expiresAt },
        { key: ofEmail, value: id, expiresAt },
        entry,
        ...audit('invitation.create', id, { by, now, detail: invitation.role }),
      ],
    })
    if (made) return { invitation, token }
  }
}

/** Notes what became of the message. One that is accepted or revoked meanwhile stays so. */
export async function noteDelivery(kv: KV, invitation: StoredInvitation, delivery: Delivery): Promise<void> {
  for (;;) {
    const entry = await invitationEntry(kv, invitation.id)
    if (!entry) return
    const { key, version } = entry
    const value = { ...entry.value, ...delivery }
    const expiresAt = Date.parse(value.expires_at)
    if (await kv.commit({ check: [{ key, version }], set: [{ key, value, expiresAt }] })) return
  }
}

/** Ends an invitation. @returns false where there is none with this id */
export async function revokeInvitation(kv: KV, id: string, act: Act): Promise<boolean> {
  for (;;) {
    const entry = await invitationEntry(kv, id)
    if (!entry) return false
    const { key, version, value } = entry
    const ended = await kv.commit({
      check: [{ key, version }],
      del: entriesOfInvitation(value),
      set: audit('invitation.revoke', id, act),
    })
    if (ended) return true
  }
}
