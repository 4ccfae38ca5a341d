import { Field, textOf } from '@turnpike/ui'
import type { User } from '../turnpike.js'

const roles: readonly (readonly [User['role'], string])[] = [
  ['user', 'user'],
  ['developer', 'developer: also makes keys'],
  ['admin', 'admin: also manages users'],
]

/** The role that an administrator gave a user, who may have stepped down from it. */
const grantedTo = (user: User | undefined): User['role'] => user?.granted_role ?? user?.role ?? 'user'

/** The role of somebody, as a field of a form. */
export const RoleField = ({ role, hint }: { role: User['role']; hint?: string | undefined }) => (
  <Field label="Role" hint={hint}>
    {(ids) => (
      <select {...ids} name="role">
        {roles.map(([name, text]) => (
          <option key={name} value={name} selected={name === role}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

/** The names and the role of a user, as fields of a form. @param user absent for a new one */
export const UserFields = ({ user }: { user?: User }) => (
  <>
    <Field label="First name">
      {(ids) => <input {...ids} name="firstName" maxLength={200} defaultValue={user?.first_name} autocomplete="off" />}
    </Field>
    <Field label="Last name">
      {(ids) => <input {...ids} name="lastName" maxLength={200} defaultValue={user?.last_name} autocomplete="off" />}
    </Field>
    <RoleField role={grantedTo(user)} hint={user?.granted_role && `Is ${user.role} now, by their own choice.`} />
  </>
)

/** What {@link UserFields} say. A role that is given again would end the user's own choice. */
export function userOf(fields: FormData, user?: User) {
  const role = textOf(fields, 'role') as User['role']
  const names = { firstName: textOf(fields, 'firstName'), lastName: textOf(fields, 'lastName') }
  return { ...names, ...(role !== grantedTo(user) && { role }) }
}
