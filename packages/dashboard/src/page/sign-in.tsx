import { Entrance, Field, Form, Notice, Segmented, textOf, useAction } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { refused, signIn, signInByToken } from './api.js'

/** Asks for the credentials of an administrator. */
export function SignIn() {
  const [by, setBy] = useState<'password' | 'token'>('password')
  const action = useAction((fields: FormData) =>
    by === 'token'
      ? signInByToken(textOf(fields, 'token'))
      : signIn(textOf(fields, 'email'), String(fields.get('password'))),
  )
  return (
    <Entrance name="Turnpike" error={action.error}>
      <h1>Turnpike administration</h1>
      {refused.value && action.error === undefined ? (
        <Notice tone="bad">
          <p>{refused.value}</p>
        </Notice>
      ) : (
        <p class="muted">For administrators of this gateway.</p>
      )}
      <Form action={action} label="Sign in">
        <Segmented
          label="Sign in by"
          options={[
            ['password', 'Password'],
            ['token', 'Key or token'],
          ]}
          value={by}
          onChange={setBy}
        />
        {by === 'password' ? (
          <>
            <Field label="E-mail">
              {(ids) => <input {...ids} name="email" type="email" autocomplete="username" required />}
            </Field>
            <Field label="Password">
              {(ids) => <input {...ids} name="password" type="password" autocomplete="current-password" required />}
            </Field>
          </>
        ) : (
          <Field label="Gateway key or ADMIN_TOKEN" hint="Kept for this tab only, until it is closed.">
            {(ids) => <input {...ids} name="token" type="password" autocomplete="off" required />}
          </Field>
        )}
      </Form>
    </Entrance>
  )
}
