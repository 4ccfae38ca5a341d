import { ErrorNotice, Field, Page, ThemeButton, useAction } from '@turnpike/ui'
import { signIn } from './turnpike.js'

/** Asks for e-mail and password. */
export function SignIn() {
  const { run, busy, error } = useAction((form: HTMLFormElement) => {
    const fields = new FormData(form)
    return signIn(String(fields.get('email')), String(fields.get('password')))
  })
  return (
    <main class="centre">
      <Page title="Sign in">
        <form
          class="stack"
          onSubmit={(event) => {
            event.preventDefault()
            run(event.currentTarget)
          }}
        >
          <Field label="E-mail">
            {(ids) => <input {...ids} name="email" type="email" autocomplete="username" required />}
          </Field>
          <Field label="Password" hint="An administrator adds people; there is no sign-up.">
            {(ids) => <input {...ids} name="password" type="password" autocomplete="current-password" required />}
          </Field>
          {error !== undefined && <ErrorNotice error={error} />}
          <button class="primary" disabled={busy}>
            {busy ? 'Signing in…' : 'Sign in'}
          </button>
          <ThemeButton />
        </form>
      </Page>
    </main>
  )
}
