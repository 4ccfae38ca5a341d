import { Field, Folded, Form, Panel, useAction } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { User } from './turnpike.js'
import { account, turnpike } from './turnpike.js'

/** A password as it was typed, with the spaces around it. */
const passwordIn = (fields: FormData, name: string): string => fields.get(name) as string

/** An action of a form with passwords, and the form's key: it is empty again once the action has succeeded. */
function usePasswords(send: (fields: FormData) => Promise<unknown>) {
  const [key, setKey] = useState(0)
  const action = useAction(async (fields: FormData) => {
    await send(fields)
    setKey((key) => key + 1)
  })
  return { key, action }
}

const NewPassword = ({ label }: { label: string }) => (
  <Field label={label} hint="8 characters at least.">
    {(ids) => (
      <input
        {...ids}
        name="password"
        type="password"
        minLength={8}
        maxLength={256}
        autocomplete="new-password"
        required
      />
    )}
  </Field>
)

/** Changes the password of the user who is signed in. */
export function OwnPassword() {
  const { key, action } = usePasswords((fields) => {
    const body = { current: passwordIn(fields, 'current'), password: passwordIn(fields, 'password') }
    return turnpike.put('/api/account/password', { body })
  })
  return (
    <Panel title="Password">
      <div class="body">
        <Form key={key} action={action} label="Change password" done="Changed. You are signed in here only.">
          {/* By which password managers know whose password it is. */}
          <input type="email" autocomplete="username" value={account.value!.email} readOnly hidden />
          <Field label="Current password">
            {(ids) => <input {...ids} name="current" type="password" autocomplete="current-password" required />}
          </Field>
          <NewPassword label="New password" />
        </Form>
      </div>
    </Panel>
  )
}

/** Gives a user another password. */
export function UserPassword({ user }: { user: User }) {
  const { key, action } = usePasswords((fields) =>
    turnpike.put('/api/users/{id}/password', {
      params: { id: user.id },
      body: { password: passwordIn(fields, 'password') },
    }),
  )
  return (
    <Folded summary="Password">
      <Form key={key} action={action} label="Set password" done="Set. They are signed out everywhere.">
        <NewPassword label="New password" />
      </Form>
    </Folded>
  )
}
