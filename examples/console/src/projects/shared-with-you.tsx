import type { Schemas } from '@turnpike/client'
import { ActionButton, AgreeButton, ErrorNotice, plural, useAction, useData, visible } from '@turnpike/ui'
import { turnpike } from '../turnpike.js'

/** A project that waits for the user to accept it. */
function Offer({
  of: { id: memberId, project_id: id, project_name, owner, role },
  onAccept,
  onDecline,
}: {
  of: Schemas['Share']
  onAccept: () => void
  onDecline: () => void
}) {
  const params = { id, memberId }
  const accept = useAction(async () => {
    await turnpike.post('/api/projects/{id}/members/{memberId}/accept', { params })
    onAccept()
  })
  const decline = useAction(async () => {
    await turnpike.delete('/api/projects/{id}/members/{memberId}', { params })
    onDecline()
  })
  return (
    <li>
      <div class="spread">
        <span class="break">
          <b>{visible(project_name)}</b>
          <span class="small muted">
            {' '}
            of {owner}, as {role}
          </span>
        </span>
        <span class="row">
          <ActionButton action={decline} onClick={decline.run}>
            {decline.busy ? 'Declining…' : 'Decline'}
            <span class="visually-hidden"> {project_name}</span>
          </ActionButton>
          <AgreeButton action={accept} class="primary" onClick={accept.run}>
            {accept.busy ? 'Accepting…' : 'Accept'}
            <span class="visually-hidden"> {project_name}</span>
          </AgreeButton>
        </span>
      </div>
      <ErrorNotice error={accept.error ?? decline.error} />
    </li>
  )
}

/** The projects that others share with the user, who has not accepted yet; nothing where there are none. @param onAccept called when there is another project */
export function SharedWithYou({ onAccept }: { onAccept: () => void }) {
  const { value, again } = useData((signal) => turnpike.list('/api/account/shares', { signal }), [])
  if (!value || value.items.length === 0) return null
  const title = `${plural(value.items.length, 'project')} shared with you`
  return (
    <section class="panel shared-with-you" aria-label={title}>
      <header>
        <h2>{title}</h2>
      </header>
      <ul>
        {value.items.map((share) => (
          <Offer
            key={share.id}
            of={share}
            onAccept={() => {
              again()
              onAccept()
            }}
            onDecline={again}
          />
        ))}
      </ul>
    </section>
  )
}
