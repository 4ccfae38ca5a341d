import type { Role } from '@turnpike/core'
import { Email, higherRole } from '@turnpike/core/internal'
import * as v from 'valibot'

/** What a provider tells of somebody, by name. */
export type Claims = Readonly<Record<string, unknown>>

/** Which values of the claim of roles give a role. */
export type RoleValues = Partial<Record<Exclude<Role, 'user'>, readonly string[]>>

/** An e-mail that could be one of a user; undefined for anything else. */
export const emailOf = (value: unknown): string | undefined => (v.is(Email, value) ? value : undefined)

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)

/** A claim by its name, which may have dots, or by a path, such as `realm_access.roles` of Keycloak. */
function claimAt(claims: Claims, path: string): unknown {
  if (Object.hasOwn(claims, path)) return claims[path]
  return path
    .split('.')
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Claims)[name] : undefined,
      claims,
    )
}

export const hasClaim = (claims: Claims, path: string): boolean => claimAt(claims, path) !== undefined

/**
 * The highest role that the values of a claim give; `user` where there is none, so that who has left all groups is no administrator any more.
 * @param values default the roles by their own names
 */
export function roleIn(claims: Claims, path: string, values: RoleValues = {}): Role {
  const { admin = ['admin'], developer = ['developer'] } =
    Object.keys(values).length > 0 ? { admin: [], developer: [], ...values } : {}
  const given = [claimAt(claims, path)].flat()
  const roles: Role[] = given.map((value) =>
    typeof value !== 'string'
      ? 'user'
      : admin.includes(value)
        ? 'admin'
        : developer.includes(value)
          ? 'developer'
          : 'user',
  )
  return roles.reduce(higherRole, 'user')
}
