import { Field, textOf } from '@turnpike/ui'
import type { User } from '../turnpike.js'

const roles: readonly (readonly [User['role'], string])[] = [
  ['user', 'user'],
  ['developer', 'developer: also makes keys'],
  ['admin', 'admin: also manages users'],
]

/** The names and the role of a user, as fields of a form. @param user absent for a new one */
export const UserFields = ({ user }: { user?: User }) => (
  <>
    <Field label="First name">
      {(ids) => <input {...ids} name="firstName" maxLength={200} defaultValue={user?.first_name} autocomplete="off" />}
    </Field>
    <Field label="Last name">
      {(ids) => <input {...ids} name="lastName" maxLength={200} defaultValue={user?.last_name} autocomplete="off" />}
    </Field>
    <Field label="Role">
      {(ids) => (
        <select {...ids} name="role">
          {roles.map(([role, text]) => (
            <option key={role} value={role} selected={role === (user?.role ?? 'user')}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  </>
)

/** What {@link UserFields} say. */
export const userOf = (fields: FormData) => ({
  firstName: textOf(fields, 'firstName'),
  lastName: textOf(fields, 'lastName'),
  role: textOf(fields, 'role') as User['role'],
})
