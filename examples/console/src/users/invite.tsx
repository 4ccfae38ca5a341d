import type { Schemas } from '@turnpike/client'
import { Dialog, Field, Folded, Form, numberIn, textOf, useAction } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'
import { RoleField } from './user-fields.js'

/** Invites somebody by e-mail. */
export function Invite({
  onInvited,
  onClose,
}: {
  onInvited: (invitation: Schemas['Invitation']) => void
  onClose: () => void
}) {
  const invite = useAction(async (fields: FormData) => {
    const role = textOf(fields, 'role') as Schemas['Invitation']['role']
    const amounts = { creditCoins: numberIn(fields, 'creditCoins'), extraProjects: numberIn(fields, 'extraProjects') }
    const invitation = await turnpike.post('/api/invitations', {
      body: { email: textOf(fields, 'email'), role, ...amounts },
    })
    onClose()
    onInvited(invitation)
  })
  return (
    <Dialog title="Invite" form="box" onClose={onClose}>
      <Form action={invite} label="Invite">
        <p class="muted">They set their name and a password by a link, which works once, for 7 days.</p>
        <Field label="E-mail">
          {(ids) => <input {...ids} name="email" type="email" maxLength={254} required autofocus autocomplete="off" />}
        </Field>
        <RoleField role="user" />
        <Folded summary="Credits and projects">
          <Field label="Credits" hint="Each is 1,000 tokens.">
            {(ids) => <input {...ids} name="creditCoins" type="number" min={0} step={1} />}
          </Field>
          <Field label="Extra projects" hint="Beyond those of the plan.">
            {(ids) => <input {...ids} name="extraProjects" type="number" min={0} step={1} />}
          </Field>
        </Folded>
      </Form>
    </Dialog>
  )
}
