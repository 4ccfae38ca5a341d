import { Dialog, Field, Form, textOf, useAction } from '@turnpike/ui'
import type { User } from '../turnpike.js'
import { turnpike } from '../turnpike.js'

const roles: readonly (readonly [User['role'], string])[] = [
  ['user', 'user'],
  ['developer', 'developer: also makes keys'],
  ['admin', 'admin: also manages users'],
]

/** Names and role, as fields of a form. */
export const PersonFields = ({ user }: { user?: User }) => (
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

/** What {@link PersonFields} say. */
export const personOf = (fields: FormData) => ({
  firstName: textOf(fields, 'firstName'),
  lastName: textOf(fields, 'lastName'),
  role: textOf(fields, 'role') as User['role'],
})

export function NewUser({ onMade, onClose }: { onMade: (done: string) => void; onClose: () => void }) {
  const make = useAction(async (fields: FormData) => {
    const [email, password] = [textOf(fields, 'email'), String(fields.get('password'))]
    await turnpike.post('/api/users', { body: { email, ...(password && { password }), ...personOf(fields) } })
    onClose()
    onMade(`${email} can use Turnpike now.`)
  })
  return (
    <Dialog title="New user" form="box" onClose={onClose}>
      <Form action={make} label="Make user">
        <Field label="E-mail">
          {(ids) => <input {...ids} name="email" type="email" maxLength={254} required autofocus autocomplete="off" />}
        </Field>
        <Field label="Password" hint="At least 8 characters. Without one, they cannot sign in by password.">
          {(ids) => (
            <input {...ids} name="password" type="password" minLength={8} maxLength={256} autocomplete="new-password" />
          )}
        </Field>
        <PersonFields />
      </Form>
    </Dialog>
  )
}
