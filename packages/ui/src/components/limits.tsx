/** The fields of limits, and how much of a budget is used. @module */
import type { ComponentChildren } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { usd } from '../format.js'
import type { Budget, EndUserRules } from '../key-limits.js'
import { localTime, modelsIn } from '../key-limits.js'
import { Close } from '../icons.js'
import { Check, Field } from './controls.js'
import { Bar } from './figures.js'
import { Icon } from './icon.js'

const spans = { '': 'in all', month: 'this month', day: 'today' } as const

/** From this share on, a bar warns. */
const NEARLY = 0.8

interface BudgetUseProps {
  budget: Budget
  /** US dollars; absent = 0. */
  used: number | undefined
}

/** How much of a budget is used, as a bar that warns of its end; the figures stand beside it. */
export function BudgetBar({ budget, used = 0 }: BudgetUseProps) {
  const share = budget.usd > 0 ? used / budget.usd : 1
  return <Bar share={share} tone={share >= 1 ? 'danger' : share >= NEARLY ? 'amber' : ''} />
}

/** How much of a budget is used in its period: `$3.20 of $5.00 used today`. */
export const budgetUse = ({ budget, used = 0 }: BudgetUseProps): string =>
  `${usd(used)} of ${usd(budget.usd)} used ${spans[budget.per ?? '']}`

/** What is left of a budget: `$1.80`. */
export const budgetRest = ({ budget, used = 0 }: BudgetUseProps): string => usd(Math.max(0, budget.usd - used))

/** How much of a budget is used, and what is left. */
export const BudgetUse = (props: BudgetUseProps) => (
  <div class="number">
    <div class="spread small">
      <span>{budgetUse(props)}</span>
      <span class="muted">{budgetRest(props)} left</span>
    </div>
    <BudgetBar {...props} />
  </div>
)

/** A limit that is a whole number from 1 on. @param hint what an empty field means */
export const LimitField = ({
  label,
  name,
  value,
  most,
  hint,
  required = false,
}: {
  label: string
  name: string
  value: number | undefined
  most: number
  hint?: string | undefined
  required?: boolean
}) => (
  <Field label={label} name={name} hint={hint}>
    {(ids) => <input {...ids} type="number" min={1} max={most} step={1} defaultValue={value} required={required} />}
  </Field>
)

/** The time at which something ends, as `endIn` reads it. @param hint what happens then, and without one */
export const EndField = ({ value, hint }: { value?: string | undefined; hint: string }) => (
  <Field label="End" name="expiresAt" hint={hint}>
    {(ids) => (
      <input {...ids} type="datetime-local" defaultValue={value === undefined ? undefined : localTime(value)} />
    )}
  </Field>
)

/** Most requests and tokens a minute, as the API takes them. */
export const MOST_REQUESTS = 1_000_000
const MOST_TOKENS = 1_000_000_000

export const TokenLimitField = ({ value }: { value: number | undefined }) => (
  <LimitField label="Tokens per minute" name="tokenLimit" value={value} most={MOST_TOKENS} hint="Empty: no limit." />
)

/** A budget: the fields `<name>.usd` and `<name>.per`. @param of whose it is, as a part of the labels, such as ` of each` */
export const BudgetFields = ({
  budget,
  name = 'budget',
  of = '',
  hint = 'Empty: no limit.',
}: {
  budget: Budget | undefined
  name?: string
  of?: string
  hint?: string
}) => (
  <div class="numbers">
    <Field label={`Budget${of} in US dollars`} name={`${name}.usd`} hint={hint}>
      {(ids) => <input {...ids} type="number" min={0} max={1_000_000} step="any" defaultValue={budget?.usd} />}
    </Field>
    <Field label={`The budget${of} is for`} name={`${name}.per`}>
      {(ids) => (
        <select {...ids}>
          {(
            [
              ['', 'all time'],
              ['month', 'each month (UTC)'],
              ['day', 'each day (UTC)'],
            ] as const
          ).map(([per, text]) => (
            <option key={per} value={per} selected={per === (budget?.per ?? '')}>
              {text}
            </option>
          ))}
        </select>
      )}
    </Field>
  </div>
)

/** Models and groups: those that are chosen, which can be taken away, and a field that adds one. @param known suggestions */
export function ModelsField({
  models = [],
  known,
}: {
  models: readonly string[] | undefined
  known: readonly string[]
}) {
  const [chosen, choose] = useState(models)
  const [typed, type] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const listId = useId()
  const add = (names: readonly string[]): void => {
    choose([...new Set([...chosen, ...names])])
    type('')
  }
  return (
    <Field
      label="Models"
      name="models"
      hint="Ids or groups of models; Enter or a comma adds one. Without any, all are allowed."
    >
      {(ids) => (
        <>
          {chosen.length > 0 && (
            <ul class="row chips" aria-label="Allowed">
              {chosen.map((model) => (
                <li key={model}>
                  <input type="hidden" name="models" value={model} />
                  <button
                    type="button"
                    aria-label={`Remove ${model}`}
                    onClick={() => {
                      choose(chosen.filter((one) => one !== model))
                      field.current!.focus()
                    }}
                  >
                    {model}
                    <Icon icon={Close} size={14} />
                  </button>
                </li>
              ))}
            </ul>
          )}
          <input
            {...ids}
            ref={field}
            list={listId}
            value={typed}
            autocomplete="off"
            onInput={(event) => {
              const { value } = event.currentTarget
              // A suggestion that is chosen is added at once; what is typed, by a comma after it.
              if (event.inputType === 'insertReplacementText' && known.includes(value)) add([value])
              else if (value.endsWith(',')) add(modelsIn(value))
              else type(value)
            }}
            onKeyDown={(event) => {
              if (event.key !== 'Enter' || typed === '') return
              event.preventDefault()
              add(modelsIn(typed))
            }}
          />
          <datalist id={listId}>
            {known
              .filter((id) => !chosen.includes(id))
              .map((id) => (
                <option key={id} value={id} />
              ))}
          </datalist>
        </>
      )}
    </Field>
  )
}

/** What the end users of a key may have each. */
export function EndUserFields({ rules }: { rules: EndUserRules | undefined }) {
  const [isOn, setOn] = useState(rules !== undefined)
  const [isRequired, setRequired] = useState(rules?.required === true)
  return (
    <Group legend="End users">
      <p class="small muted">
        For an application whose requests name the person as <code>user</code>: each is counted, and may have limits.
      </p>
      <Check label="Tell end users apart" name="endUsers" checked={isOn} onChange={setOn} />
      {isOn && (
        <>
          <Check
            label="Refuse requests without one"
            name="endUsers.required"
            checked={isRequired}
            onChange={setRequired}
          />
          <BudgetFields budget={rules?.budget} name="endUsers.budget" of=" of each" />
          <LimitField
            label="Requests per minute of each"
            name="endUsers.rate_limit"
            value={rules?.rate_limit}
            most={MOST_REQUESTS}
            hint="Empty: as many as the key."
          />
        </>
      )}
    </Group>
  )
}

/** Fields that belong together. */
const Group = ({ legend, children }: { legend: string; children: ComponentChildren }) => (
  <fieldset>
    <legend>{legend}</legend>
    <div class="stack">{children}</div>
  </fieldset>
)
