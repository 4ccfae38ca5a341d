import { Entrance, Form, linkTo, Page, SignInFields, textOf, useAction } from '@turnpike/ui'
import { signIn } from '../turnpike.js'
import { useOptions } from './options.js'

/** What somebody does who cannot sign in. */
function OtherWays() {
  const options = useOptions()
  if (!options) return null
  return (
    <div class="stack small">
      <p>
        {options.mail ? (
          <a href={linkTo('/forgotten')}>Forgotten your password?</a>
        ) : (
          <span class="muted">Forgotten your password? An administrator can give you a link.</span>
        )}
      </p>
      {options.sign_up === 'open' && (
        <p>
          New here? <a href={linkTo('/sign-up')}>Sign up</a>
        </p>
      )}
      {options.sign_up === 'invited' && <p class="muted">New here? An administrator can invite you.</p>}
    </div>
  )
}

/** Asks for e-mail and password. */
export function SignIn() {
  const signingIn = useAction((fields: FormData) => signIn(textOf(fields, 'email'), String(fields.get('password'))))
  return (
    <Entrance name="Turnpike" error={signingIn.error}>
      <Page title="Sign in">
        <Form action={signingIn} label="Sign in">
          <SignInFields />
        </Form>
        <OtherWays />
      </Page>
    </Entrance>
  )
}
