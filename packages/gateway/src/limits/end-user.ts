import type { ApiError, EndUser, Need } from '@turnpike/core'
import { END_USER_LENGTH, endUserId, invalid, isEndUserId } from '@turnpike/core/internal'
import type { Call } from '@turnpike/http'
import type { UserCaller } from '../caller.js'
import { refuseOver } from '../caller.js'
import type { UpstreamOptions } from '../upstream/upstream-request.js'

const wrongUser = (problem: string): ApiError => invalid(`user ${problem}`, { field: 'user' })

/** What a request calls its end user: by the header that the operator names, else by the body's `user`. Undefined where it is blank. */
export function calledEndUser(
  header: string | undefined,
  request: Need['request'],
  call: Pick<Call, 'header'>,
): unknown {
  const id = (header !== undefined && call.header(header)) || request.user
  return id == null || (typeof id === 'string' && id.trim() === '') ? undefined : id
}

/** Who asks, as routers tell callers apart: the user, and the end user of a key that has them. */
export function callerOfNeed(
  { endUserHeader }: UpstreamOptions,
  { key, user }: UserCaller,
  { request }: Need,
  call: Call,
): string[] {
  const id = key?.end_users && calledEndUser(endUserHeader, request, call)
  return typeof id === 'string' ? [user.id, `${key!.id} ${id}`] : [user.id]
}

/**
 * The end user of a request with a key that tells them apart: of the header that the operator names, else of the body's `user`.
 * @throws ApiError 400 for what is no id, and for none where the key requires one; 403 where the key has as many as it may
 */
export function endUserOf(
  { keys, endUserHeader: header }: UpstreamOptions,
  { key }: UserCaller,
  { request }: Need,
  call: Call,
): Promise<EndUser> | EndUser | undefined {
  if (!key?.end_users) return undefined
  const id = calledEndUser(header, request, call)
  if (id === undefined) {
    if (key.end_users.required) throw wrongUser('is required by this key: the id of the end user')
    return undefined
  }
  if (!isEndUserId(id))
    throw wrongUser(`must be a text of at most ${END_USER_LENGTH} characters, without control characters`)
  return keys.endUsers.find(key, id)
}

/**
 * Counts a request of an end user as the calls that it makes. What is refused is given back to the key, for its other end users.
 * @throws ApiError 429 where a minute has no room for them
 */
export async function countEndUser(
  { rateLimiter, giveBack }: UpstreamOptions,
  caller: UserCaller,
  endUser: EndUser,
  calls: number,
): Promise<void> {
  const perMinute = endUser.rate_limit ?? caller.key!.end_users!.rate_limit
  if (perMinute === undefined) return
  const limit = await rateLimiter.consume(`end user ${endUserId(endUser)}`, perMinute, calls)
  if (!limit.ok) await giveBack(caller, calls)
  refuseOver(limit, `This end user is limited to ${perMinute} requests per minute`)
}
