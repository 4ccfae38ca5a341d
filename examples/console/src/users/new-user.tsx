import { NewPassword } from '../password.js'
import { Dialog, Field, Folded, Form, textOf, useAction } from '@turnpike/ui'
import { useOptions } from '../entrance/options.js'
import { turnpike } from '../turnpike.js'
import { UserFields, userOf } from './user-fields.js'
import { UserLimitFields, userLimitsIn } from './user-limits.js'

export function NewUser({ onMade, onClose }: { onMade: (done: string) => void; onClose: () => void }) {
  const options = useOptions()
  const make = useAction(async (fields: FormData) => {
    const [email, password] = [textOf(fields, 'email'), String(fields.get('password') ?? '')]
    const body = { email, ...(password && { password }), ...userOf(fields), ...userLimitsIn(fields) }
    await turnpike.post('/api/users', { body })
    onClose()
    onMade(`${email} can use Turnpike now.`)
  })
  return (
    <Dialog title="New user" form="box" onClose={onClose}>
      <Form action={make} label="Create user">
        <Field label="E-mail">
          {(ids) => <input {...ids} name="email" type="email" maxLength={254} required autofocus autocomplete="off" />}
        </Field>
        {options?.passwords !== false && (
          <NewPassword label="Password" optional="Without one, they cannot sign in by password." />
        )}
        <UserFields />
        <Folded summary="Budget and tokens per minute">
          <UserLimitFields />
        </Folded>
      </Form>
    </Dialog>
  )
}
