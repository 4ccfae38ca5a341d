import * as v from 'valibot'
import { Attachment, id, MemberRole, time } from './schemas.js'

/** Schemas of what is shared. */

/** Somebody whom a project is shared with. */
export const Member = v.object({
  /** Of the membership: not that of a user. */
  id,
  email: v.string(),
  role: MemberRole,
  /** Whether a user has accepted. */
  accepted: v.boolean(),
  added_at: time,
})

/** A project that its owner shares with the caller, who has not accepted yet. */
export const Share = v.object({
  /** Of the membership. */
  id,
  project_id: id,
  project_name: v.string(),
  /** The e-mail of the owner, or the name. */
  owner: v.string(),
  role: MemberRole,
  added_at: time,
})
export type Share = v.InferOutput<typeof Share>

/** A file of a message, with the URL of its bytes. */
export const AttachedFile = v.object({ ...Attachment.entries, url: v.pipe(v.string(), v.url()) })
