import type { Schemas } from '@turnpike/client'
import { ActionButton, ErrorNotice, Field, Folded, Form, Notice, Panel, useAction } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { useOptions } from './entrance/options.js'
import type { User } from './turnpike.js'
import { account, turnpike } from './turnpike.js'
import { LinkToHandOn } from './link-to-hand-on.js'

/** A password as it was typed, with the spaces around it. */
export const passwordIn = (fields: FormData, name: string): string => fields.get(name) as string

/** An action of a form with passwords, and the form's key: it is empty again once the action has succeeded. */
function usePasswords(send: (fields: FormData) => Promise<unknown>) {
  const [key, setKey] = useState(0)
  const action = useAction(async (fields: FormData) => {
    await send(fields)
    setKey((key) => key + 1)
  })
  return { key, action }
}

/** A field for a new password. @param props.optional what there is without one; absent = it is required */
export const NewPassword = ({ label, optional = '' }: { label: string; optional?: string }) => (
  <Field label={label} hint={`8 characters at least. ${optional}`.trim()}>
    {(ids) => (
      <input
        {...ids}
        name="password"
        type="password"
        minLength={8}
        maxLength={256}
        autocomplete="new-password"
        required={!optional}
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

/** Sends a user a link by which they set their password. */
function PasswordLink({ user: { id, email } }: { user: User }) {
  const [sent, setSent] = useState<Schemas['SentLink']>()
  const send = useAction(async () => setSent(await turnpike.post('/api/users/{id}/password-link', { params: { id } })))
  return (
    <>
      <ErrorNotice error={send.error} />
      {sent?.url !== undefined && (
        <LinkToHandOn to={email} url={sent.url} error={sent.mail_error} onDone={() => setSent(undefined)} />
      )}
      {sent?.mail === 'sent' && <Notice>The link is sent. It works once, for 30 minutes.</Notice>}
      <div class="spread">
        <p class="muted small">By a link, they set one themselves.</p>
        <ActionButton action={send} onClick={send.run}>
          {send.busy ? 'Sending…' : 'Send a link'}
        </ActionButton>
      </div>
    </>
  )
}

/** Gives a user another password. */
export function UserPassword({ user }: { user: User }) {
  const options = useOptions()
  const { key, action } = usePasswords((fields) =>
    turnpike.put('/api/users/{id}/password', {
      params: { id: user.id },
      body: { password: passwordIn(fields, 'password') },
    }),
  )
  if (options?.passwords === false) return null
  return (
    <Folded summary="Password">
      {user.email !== '' && <PasswordLink user={user} />}
      <Form key={key} action={action} label="Set password" done="Set. They are signed out everywhere.">
        <NewPassword label="New password" />
      </Form>
    </Folded>
  )
}
