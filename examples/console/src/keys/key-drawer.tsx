import type { OnChange } from '@turnpike/ui'
import {
  BudgetUse,
  ConfirmButton,
  count,
  Dialog,
  ErrorNotice,
  Facts,
  KeyForm,
  KeyLimitFacts,
  NONE,
  plural,
  refusalOf,
  Status,
  time,
  usd,
  useAction,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { EndUsers } from './end-users.js'
import type { Key, KeyUsage } from './keys.js'
import type { MadeKey } from './new-key.js'
import { RotateKey } from './rotate-key.js'

/** A key with what its owner can do. @param used what it has used, as far as that is known */
export function KeyDrawer({
  of: key,
  used,
  fastest,
  models,
  onChange,
  onRotated,
  onClose,
}: {
  of: Key
  used: KeyUsage | undefined
  fastest: number | undefined
  models: readonly string[]
  onChange: OnChange
  onRotated: (made: MadeKey) => void
  onClose: () => void
}) {
  const params = { id: key.id }
  const [isRotating, setRotating] = useState(false)
  const revoke = useAction(async () => {
    await turnpike.delete('/api/keys/{id}', { params })
    onClose()
    onChange(`${key.name} is revoked.`)
  })
  const refusal = refusalOf(key)
  return (
    <Dialog title={key.name} onClose={onClose}>
      <Facts
        facts={[
          ['State', <Status tone={refusal ? 'off' : 'good'}>{refusal ?? 'active'}</Status>],
          ['Created', time(key.created_at)],
          ['Last used', key.last_used_at ? time(key.last_used_at) : NONE],
          ['Rotated', key.rotated_at !== undefined && time(key.rotated_at)],
          [
            'Used',
            used && `${plural(used.requests, 'request')}, ${count(used.total_tokens)} tokens, ${usd(used.cost_usd)}`,
          ],
          ['Ends in', key.key_end !== undefined && <span class="mono">{key.key_end}</span>],
          ['Id', <span class="mono">{key.id}</span>],
        ]}
      />
      {key.budget && <BudgetUse budget={key.budget} used={key.budget_used_usd} />}
      {key.revoked ? (
        <KeyLimitFacts of={key} />
      ) : (
        <KeyForm
          of={key}
          fastest={fastest}
          models={models}
          save={async (body) => {
            await turnpike.patch('/api/keys/{id}', { params, body })
            onChange()
          }}
        />
      )}
      <EndUsers of={key} />
      {!key.revoked && (
        <div class="stack zone">
          <ErrorNotice error={revoke.error} />
          <div class="row end">
            {!refusal && key.rotated_at === undefined && (
              <button type="button" onClick={() => setRotating(true)}>
                Rotate
              </button>
            )}
            <ConfirmButton action={revoke} label="Revoke" busy="Revoking…" title="Revoke the key?">
              <p>
                Programs that use <strong class="break">{key.name}</strong> are refused from then on. What it used stays
                in the list.
              </p>
            </ConfirmButton>
          </div>
        </div>
      )}
      {isRotating && (
        <RotateKey
          of={key}
          onClose={() => setRotating(false)}
          onMade={(made) => {
            onClose()
            onRotated(made)
          }}
        />
      )}
    </Dialog>
  )
}
