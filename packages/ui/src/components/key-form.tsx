import { count, time } from '../format.js'
import type { KeyBody, KeySettings } from '../key-limits.js'
import { keyBodyOf, keyIn } from '../key-limits.js'
import { useSave } from '../use-save.js'
import { Field } from './controls.js'
import { Folded, Form } from './form.js'
import { Facts } from './layout.js'
import {
  BudgetFields,
  EndField,
  EndUserFields,
  LimitField,
  ModelsField,
  MOST_REQUESTS,
  TokenLimitField,
} from './limits.js'

/** The requests a minute of a key, where no others are asked for. */
const RATE_LIMIT = 60

interface KeyFieldsProps {
  /** Absent for a new one. */
  of?: KeySettings
  /** The requests a minute that it may have; undefined while that is not known. */
  fastest?: number | undefined
  /** Models and groups that there are. */
  models: readonly string[]
}

/** The fields of a gateway key, as `keyIn` reads them; of a new one, most are folded. */
export function KeyFields({ of: key, fastest, models }: KeyFieldsProps) {
  const more = (
    <>
      <TokenLimitField value={key?.token_limit} />
      <BudgetFields budget={key?.budget} />
      <ModelsField models={key?.models} known={models} />
      <EndField
        value={key?.expires_at}
        hint={
          key?.rotated_at === undefined
            ? 'The key is refused after it. Without one, it never ends.'
            : 'The key was rotated, so that it can only end sooner.'
        }
      />
      <EndUserFields rules={key?.end_users} />
    </>
  )
  return (
    <>
      <Field label="Name" name="name" hint="What it is for, such as laptop.">
        {(ids) => <input {...ids} maxLength={200} required autofocus={!key} defaultValue={key?.name} />}
      </Field>
      <LimitField
        label="Requests per minute"
        name="rateLimit"
        value={key?.rate_limit ?? Math.min(RATE_LIMIT, fastest ?? RATE_LIMIT)}
        // One that is faster already can stay so.
        most={Math.max(fastest ?? MOST_REQUESTS, key?.rate_limit ?? 0)}
        hint={fastest === undefined ? undefined : `At most ${count(fastest)}.`}
        required
      />
      {key ? more : <Folded summary="Budget, models, end and more">{more}</Folded>}
    </>
  )
}

/** The limits of a key that cannot be changed. */
export const KeyLimitFacts = ({ of: key }: { of: KeySettings }) => (
  <Facts
    facts={[
      ['Requests per minute', count(key.rate_limit)],
      ['Tokens per minute', key.token_limit !== undefined && count(key.token_limit)],
      ['Models', key.models?.join(', ')],
      ['End', key.expires_at !== undefined && time(key.expires_at)],
      ['End users', key.end_users && (key.end_users.required ? 'each request names one' : 'are told apart')],
    ]}
  />
)

/** Changes a gateway key. @param save is given what has changed, if anything has */
export function KeyForm({
  of: key,
  save,
  ...props
}: KeyFieldsProps & {
  of: KeySettings
  save: (changes: Partial<KeyBody>) => Promise<unknown>
}) {
  const action = useSave(keyBodyOf(key), keyIn, save)
  return (
    <Form action={action} label="Save" done="Saved.">
      <KeyFields of={key} {...props} />
    </Form>
  )
}
