import { Check, Field, Folded } from '@turnpike/ui'
import { useState } from 'preact/hooks'
import type { ProviderType } from './answers.js'
import type { Asked, Settings } from './provider-settings.js'
import { awsFields, pairsText } from './provider-settings.js'

/** What a secret's field says of the one that is stored. */
interface Kept {
  hasKey: boolean
  end?: string | undefined
}

const accountLabels: Record<(typeof awsFields)[number], string> = {
  accessKeyId: 'Access key id',
  secretAccessKey: 'Secret access key',
  sessionToken: 'Session token',
}

/** The parts of Amazon's credentials, in place of a key. */
const AccountFields = ({ name }: { name: string }) => (
  <>
    {awsFields.map((part) => (
      <Field key={part} label={accountLabels[part]} name={`${name}.${part}`}>
        {(ids) => <input {...ids} type="password" autocomplete="off" />}
      </Field>
    ))}
  </>
)

function Flag({ name, label, checked }: { name: string; label: string; checked: boolean }) {
  const [isOn, setOn] = useState(checked)
  return <Check name={name} label={label} checked={isOn} onChange={setOn} />
}

function SettingInput({ of: asked, value, kept }: { of: Asked; value: unknown; kept: Kept | undefined }) {
  const { name, kind, label, hint, required, secret } = asked
  if (kind === 'account') return <AccountFields name={name} />
  if (kind === 'flag') return <Flag name={name} label={label} checked={value === true} />
  const isKept = kind === 'secret' && kept?.hasKey === true
  const keptHint =
    kept?.end === undefined ? 'Empty: the stored one stays.' : `Empty: the one that ends in ${kept.end} stays.`
  return (
    <Field label={label} name={name} hint={isKept ? keptHint : hint}>
      {(ids) => {
        const given = { ...ids, required: required && !isKept, autocomplete: 'off', spellcheck: false }
        switch (kind) {
          case 'secret':
            return name === 'credentials' ? (
              <textarea {...given} rows={4} class="mono" />
            ) : (
              <input {...given} type="password" autocomplete="new-password" />
            )
          case 'pairs':
            return <textarea {...given} rows={2} class="mono" defaultValue={secret ? '' : pairsText(value)} />
          case 'number':
            return <input {...given} type="number" min={0} step={1} defaultValue={value as number} />
          case 'share':
            return <input {...given} type="number" min={0} step="any" defaultValue={value as number} />
          case 'address':
            return <input {...given} type="url" placeholder="https://" defaultValue={value as string} />
          default:
            return <input {...given} defaultValue={Array.isArray(value) ? value.join(', ') : (value as string)} />
        }
      }}
    </Field>
  )
}

/** The fields of a provider. @param given its settings, where there are some already */
export function ProviderFields({
  asked,
  given = {},
  kept,
}: {
  asked: readonly Asked[]
  given?: Settings
  kept?: Kept
}) {
  const inputs = (folded: boolean) =>
    asked
      .filter(({ isFolded = false }) => isFolded === folded)
      .map((one) => <SettingInput key={one.name} of={one} value={given[one.name]} kept={kept} />)
  return (
    <>
      {inputs(false)}
      <Folded summary="Name, limits, times and more">
        <div class="numbers">{inputs(true)}</div>
      </Folded>
    </>
  )
}

/** What a provider has at first, before anybody has typed. */
export const presetSettings = ({ local, base_url }: ProviderType): Settings => (local ? { baseURL: base_url } : {})
