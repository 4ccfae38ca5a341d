import type { User } from './users.js'

/** The roles, each of which may do what the one before it may. */
export const ROLES = ['user', 'developer', 'admin'] as const
/** One of {@link ROLES}. */
export type Role = (typeof ROLES)[number]

export const higherRole = (one: Role, other: Role): Role => (ROLES.indexOf(one) > ROLES.indexOf(other) ? one : other)

/** Whether there is such a user, and it is an administrator. */
export const isAdmin = (user: User | undefined): boolean => user?.deleted_at === null && user.role === 'admin'

/** The highest role that a user may take without an administrator: the granted one, or what the operator lets everybody be. */
export const highestOwnRole = ({ role, granted_role = role }: User, selfRole: Role): Role =>
  higherRole(granted_role, selfRole)

/** A user with another role. Whoever stops being a developer or an administrator has gateway keys that are suspended, until the role is back. */
export function withRole(user: User, role: Role, granted: Role): User {
  const { granted_role: _, keys_suspended, ...rest } = user
  const suspended = role === 'user' && (user.role !== 'user' || keys_suspended)
  return {
    ...rest,
    role,
    ...(granted !== role && { granted_role: granted }),
    ...(suspended && { keys_suspended: true }),
  }
}
