import { Field, Notice, Segmented, ThemeButton } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { refused, signIn, signInByToken } from './data.js'

/** Asks for the credentials of an administrator. */
export function SignIn() {
  const [by, setBy] = useState<'password' | 'token'>('password')
  const [error, setError] = useState('')
  const [busy, setBusy] = useState(false)
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault()
    const fields = new FormData(event.target as HTMLFormElement)
    const field = (name: string): string => String(fields.get(name) ?? '')
    setBusy(true)
    try {
      await (by === 'token' ? signInByToken(field('token').trim()) : signIn(field('email'), field('password')))
    } catch (thrown) {
      setError((thrown as Error).message)
    }
    setBusy(false)
  }
  const said = error || refused.value
  return (
    <main class="centre">
      <form class="stack" onSubmit={(event) => void submit(event as SubmitEvent)}>
        <h1>Turnpike administration</h1>
        {said ? (
          <Notice tone="bad">
            <p>{said}</p>
          </Notice>
        ) : (
          <p class="muted">For administrators of this gateway.</p>
        )}
        <Segmented
          label="Sign in by"
          options={[
            ['password', 'Password'],
            ['token', 'Key or token'],
          ]}
          value={by}
          onChange={(value) => {
            setBy(value)
            setError('')
          }}
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
        <button class="primary" disabled={busy}>
          {busy ? 'Signing in…' : 'Sign in'}
        </button>
        <ThemeButton />
      </form>
    </main>
  )
}
