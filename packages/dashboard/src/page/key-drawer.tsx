import type { GatewaySchemas } from '@turnpike/client'
import {
  BudgetUse,
  ConfirmButton,
  Dialog,
  ErrorNotice,
  Facts,
  KeyForm,
  KeyLimitFacts,
  linkTo,
  refusalOf,
  Status,
  time,
  useAction,
  useData,
} from '@turnpike/ui'
import type { Key } from './answers.js'
import { hasSession, send } from './api.js'

/** A form for what can be changed of a key, for administrators who are signed in at the platform. */
function ChangeKey({ of: key, onChange }: { of: Key; onChange: () => void }) {
  const models = useData(async (signal) => {
    const response = await send('api/gateway/v1/models', { signal })
    const { data } = (await response.json()) as GatewaySchemas['ModelList']
    return [...new Set(data.map(({ id }) => id))]
  }, [])
  const save = async (body: object): Promise<void> => {
    await send(`api/keys/${key.id}`, { method: 'PATCH', body })
    onChange()
  }
  return <KeyForm of={key} models={models.value ?? []} save={save} />
}

/** A key with what administrators can do. @param onChange is given what was done with it, if it cannot be changed any more */
export function KeyDrawer({
  of: key,
  onChange,
  onClose,
}: {
  of: Key
  onChange: (done?: string) => void
  onClose: () => void
}) {
  const revoke = useAction(async () => {
    await send(`admin/keys/${key.id}`, { method: 'DELETE' })
    onClose()
    onChange(`The key “${key.name}” is revoked.`)
  })
  const refusal = refusalOf(key)
  const owner = key.user ?? key.user_id
  return (
    <Dialog title={key.name || 'Key without a name'} onClose={onClose}>
      <Facts
        facts={[
          ['Owner', <a href={linkTo('/admin/usage', { by: 'user', id: key.user_id })}>{owner}</a>],
          ['State', <Status tone={refusal ? 'off' : 'good'}>{refusal ?? 'active'}</Status>],
          ['Created', time(key.created_at)],
          ['Last used', key.last_used_at === null ? 'never' : time(key.last_used_at)],
          ['Rotated', key.rotated_at !== undefined && time(key.rotated_at)],
          ['Usage', <a href={linkTo('/admin/usage', { by: 'key', id: key.id })}>by hour</a>],
          ['Ends in', key.key_end !== undefined && <span class="mono">{key.key_end}</span>],
          ['Id', <span class="mono">{key.id}</span>],
        ]}
      />
      {key.budget && <BudgetUse budget={key.budget} used={key.budget_used_usd} />}
      {hasSession() && !key.revoked ? <ChangeKey of={key} onChange={onChange} /> : <KeyLimitFacts of={key} />}
      {!key.revoked && (
        <div class="stack zone">
          <ErrorNotice error={revoke.error} />
          <div class="row end">
            <ConfirmButton action={revoke} label="Revoke" busy="Revoking…" title="Revoke the key?">
              <p>
                Programs that use <strong class="break">{key.name}</strong> of {owner} are refused from then on. What it
                used stays in the list.
              </p>
            </ConfirmButton>
          </div>
        </div>
      )}
    </Dialog>
  )
}
