import type { Schemas } from '@turnpike/client'
import type { Column, OnChange, Tone } from '@turnpike/ui'
import {
  ActionButton,
  Ago,
  ConfirmButton,
  Dialog,
  Empty,
  ErrorNotice,
  Facts,
  Status,
  time,
  useAction,
  RowLink,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { credits } from '../units.js'
import { PagedTable, useAgain, usePages } from '../use-pages.js'

type Invitation = Schemas['Invitation']

const states: Record<Invitation['mail'], readonly [Tone, string]> = {
  sent: ['good', 'sent'],
  failed: ['bad', 'not sent'],
  none: ['off', 'link handed on'],
  pending: ['busy', 'not known'],
}

/** An invitation, which can be sent again or revoked. */
function InvitationDialog({
  of: invitation,
  onInvited,
  onChange,
  onClose,
}: {
  of: Invitation
  onInvited: (invitation: Invitation) => void
  onChange: OnChange
  onClose: () => void
}) {
  const { id, email, role, credit_coins, extra_projects, mail, mail_error, created_at, expires_at } = invitation
  const again = useAction(async () => {
    const body = { email, role, creditCoins: credit_coins, extraProjects: extra_projects }
    const made = await turnpike.post('/api/invitations', { body })
    onClose()
    onInvited(made)
  })
  const revoke = useAction(async () => {
    await turnpike.delete('/api/invitations/{id}', { params: { id } })
    onClose()
    onChange(`The invitation of ${email} is revoked.`)
  })
  const [tone, state] = states[mail]
  return (
    <Dialog title={email} form="box" onClose={onClose}>
      <Facts
        facts={[
          ['Role', role],
          ['Credits', credit_coins > 0 && credits(credit_coins)],
          ['Extra projects', extra_projects > 0 && extra_projects],
          ['Message', <Status tone={tone}>{state}</Status>],
          ['Why', mail_error !== undefined && <span class="break">{mail_error}</span>],
          ['Created', time(created_at)],
          ['End', time(expires_at)],
        ]}
      />
      <ErrorNotice error={again.error ?? revoke.error} />
      <div class="row end">
        <ActionButton action={again} onClick={again.run}>
          {again.busy ? 'Creating…' : 'Create another link'}
        </ActionButton>
        <ConfirmButton action={revoke} label="Revoke" busy="Revoking…" title="Revoke the invitation?">
          <p>
            The link of <strong class="break">{email}</strong> does not work any more.
          </p>
        </ConfirmButton>
      </div>
    </Dialog>
  )
}

/** The invitations that are open. */
export function Invitations({
  changes,
  onInvited,
  onChange,
}: {
  changes: number
  onInvited: (invitation: Invitation) => void
  onChange: OnChange
}) {
  const pages = usePages((page, signal) => turnpike.list('/api/invitations', { query: page, signal }))
  useAgain(pages, changes)
  const [openedId, open] = useState<string>()
  const opened = pages.value?.items.find(({ id }) => id === openedId)
  const columns: Column<Invitation>[] = [
    {
      name: 'E-mail',
      cell: ({ id, email }) => <RowLink open={() => open(id)}>{email}</RowLink>,
    },
    { name: 'Role', cell: ({ role }) => <span class={`badge ${role === 'admin' ? 'accent' : ''}`}>{role}</span> },
    { name: 'Message', cell: ({ mail }) => <Status tone={states[mail][0]}>{states[mail][1]}</Status> },
    { name: 'Created', number: true, cell: ({ created_at }) => <Ago at={created_at} /> },
    { name: 'Ends', number: true, cell: ({ expires_at }) => <Ago at={expires_at} /> },
  ]
  return (
    <section class="panel">
      <PagedTable
        caption="Invitations"
        columns={columns}
        pages={pages}
        name="invitation"
        empty={
          <Empty title="No invitation is open">
            <p>Whom you invite sets a name and a password by a link, which works once, for 7 days.</p>
          </Empty>
        }
      />
      {opened && (
        <InvitationDialog
          key={opened.id}
          of={opened}
          onInvited={onInvited}
          onChange={onChange}
          onClose={() => open(undefined)}
        />
      )}
    </section>
  )
}
