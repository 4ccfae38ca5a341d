import type { Schemas } from '@turnpike/client'
import { Entrance, Form, linkTo, Page, SignInFields, textOf, useAction } from '@turnpike/ui'
import { signIn } from '../turnpike.js'
import { useOptions } from './options.js'
import { ProviderButtons, ProviderProblem } from './providers.js'

type Options = Schemas['SignInOptions']

/** What somebody does who cannot sign in. */
function OtherWays({ options }: { options: Options }) {
  return (
    <div class="stack small">
      {options.passwords && (
        <p>
          {options.mail ? (
            <a href={linkTo('/forgotten')}>Forgotten your password?</a>
          ) : (
            <span class="muted">Forgotten your password? An administrator can give you a link.</span>
          )}
        </p>
      )}
      {options.sign_up === 'open' && options.passwords && options.mail && (
        <p>
          New here? <a href={linkTo('/sign-up')}>Sign up</a>
        </p>
      )}
      {options.sign_up === 'invited' && <p class="muted">New here? An administrator can invite you.</p>}
    </div>
  )
}

/** Asks for e-mail and password, or leads to an identity provider. */
export function SignIn() {
  const options = useOptions()
  const signingIn = useAction((fields: FormData) => signIn(textOf(fields, 'email'), String(fields.get('password'))))
  // What comes later would move what is there.
  if (options === undefined) return null
  const { passwords, providers } = options ?? { passwords: true, providers: [] }
  return (
    <Entrance name="Turnpike" error={signingIn.error}>
      <Page title="Sign in">
        <ProviderProblem />
        {passwords && (
          <Form action={signingIn} label="Sign in">
            <SignInFields />
          </Form>
        )}
        <ProviderButtons providers={providers} isBeside={passwords} />
        {options && <OtherWays options={options} />}
      </Page>
    </Entrance>
  )
}
