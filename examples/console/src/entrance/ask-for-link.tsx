import { Announcement, Entrance, Field, Form, linkTo, Page, textOf, useAction } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { useOptions } from './options.js'

/** Asks for the e-mail to which a link is sent. @param sent what is said then */
function AskForLink({
  title,
  text,
  label,
  sent,
  send,
}: {
  title: string
  text: string
  label: string
  sent: (email: string) => string
  send: (email: string) => Promise<unknown>
}) {
  const [email, setEmail] = useState<string>()
  const asking = useAction(async (fields: FormData) => {
    const given = textOf(fields, 'email')
    await send(given)
    setEmail(given)
  })
  return (
    <Entrance name="Turnpike" error={asking.error}>
      <Page title={title}>
        {email === undefined ? (
          <>
            <p class="muted">{text}</p>
            <Form action={asking} label={label}>
              <Field label="E-mail">
                {(ids) => <input {...ids} name="email" type="email" autocomplete="username" maxLength={254} required />}
              </Field>
            </Form>
          </>
        ) : (
          <Announcement>
            <p class="break">{sent(email)}</p>
          </Announcement>
        )}
        <p class="small">
          <a href={linkTo('/')}>Back to the sign-in</a>
        </p>
      </Page>
    </Entrance>
  )
}

/** For whoever has forgotten the password. */
export const Forgotten = () => (
  <AskForLink
    title="Forgotten password"
    text="A link to set a new password is sent to your e-mail."
    label="Send the link"
    sent={(email) =>
      `If somebody with the e-mail ${email} signs in here with a password, a link is on its way. It works once, for 30 minutes.`
    }
    send={(email) => turnpike.post('/api/auth/forgotten', { body: { email } })}
  />
)

/** For whoever has no account yet. */
export function SignUp() {
  const domains = useOptions()?.sign_up_domains ?? []
  return (
    <AskForLink
      title="Sign up"
      text={`A link to make your account is sent to your e-mail${domains.length > 0 ? `, which is one of ${domains.join(' or ')}` : ''}.`}
      label="Send the link"
      sent={(email) => `A message to ${email} is on its way. Its link works once, for 24 hours.`}
      send={(email) => turnpike.post('/api/auth/sign-up', { body: { email } })}
    />
  )
}
