import { Entrance, Field, Form, Notice, Segmented, SignInFields, textOf, useAction, useData } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { emailOf, hasSession, refused, signIn, signInByToken } from './api.js'

/** Says why the page cannot be read, such as that somebody is signed in who is no administrator. */
function Why({ text }: { text: string }) {
  const { value: email } = useData(async (signal) => (hasSession() ? emailOf(signal) : undefined), [])
  return (
    <Notice tone="bad">
      {email === undefined ? (
        <p>{text}</p>
      ) : (
        <>
          <p class="break">You are signed in as {email}, who is no administrator.</p>
          <p>
            <a href="./">Back to your work</a>, or sign in as an administrator:
          </p>
        </>
      )}
    </Notice>
  )
}

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
        <Why text={refused.value} />
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
          <SignInFields />
        ) : (
          <Field label="Gateway key or ADMIN_TOKEN" hint="Kept for this tab only, until it is closed.">
            {(ids) => <input {...ids} name="token" type="password" autocomplete="off" required />}
          </Field>
        )}
      </Form>
    </Entrance>
  )
}
