import { Entrance, Field, Form, Page, textOf, useAction } from '@turnpike/ui'
import { signIn } from './turnpike.js'

/** Asks for e-mail and password. */
export function SignIn() {
  const signingIn = useAction((fields: FormData) => signIn(textOf(fields, 'email'), String(fields.get('password'))))
  return (
    <Entrance name="Turnpike" error={signingIn.error}>
      <Page title="Sign in">
        <Form action={signingIn} label="Sign in">
          <Field label="E-mail">
            {(ids) => <input {...ids} name="email" type="email" autocomplete="username" required />}
          </Field>
          <Field label="Password" hint="An administrator adds people; there is no sign-up.">
            {(ids) => <input {...ids} name="password" type="password" autocomplete="current-password" required />}
          </Field>
        </Form>
      </Page>
    </Entrance>
  )
}
