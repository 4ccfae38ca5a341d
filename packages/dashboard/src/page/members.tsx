import { Icon, icons } from '@turnpike/ui'
import { useId, useRef, useState } from 'preact/hooks'
import type { Group } from './answers.js'

/** A model of a group while it is edited. */
interface Member {
  key: number
  model: string
  weight: string
}

let made = 0
const memberOf = (model = '', weight = ''): Member => ({ key: ++made, model, weight })

/** What the fields of {@link Members} say. */
export function membersIn(form: FormData): Group['models'] {
  const weights = form.getAll('weight').map(String)
  return form.getAll('model').flatMap((given, i) => {
    const model = String(given).trim()
    const weight = weights[i]!.trim()
    if (model === '') return []
    return [weight === '' ? model : { model, weight: Number(weight) }]
  })
}

/** The models of a group in their order, which are moved by buttons. @param names suggestions */
export function Members({ models, names }: { models: Group['models']; names: readonly string[] }) {
  const [members, setMembers] = useState(() => {
    const all = models.map((one) => (typeof one === 'string' ? memberOf(one) : memberOf(one.model, String(one.weight))))
    return all.length > 0 ? all : [memberOf(), memberOf()]
  })
  const list = useRef<HTMLOListElement>(null)
  const listId = useId()
  const move = (from: number, to: number): void => {
    const moved = members.toSpliced(from, 1).toSpliced(to, 0, members[from]!)
    setMembers(moved)
  }
  const set = (at: number, fields: Partial<Member>): void =>
    setMembers(members.with(at, { ...members[at]!, ...fields }))
  return (
    <fieldset>
      <legend>Models, in order of preference</legend>
      <p class="small muted">Those with weights that follow one another share the calls by them.</p>
      <ol ref={list} class="members">
        {members.map(({ key, model, weight }, i) => (
          <li key={key}>
            <input
              name="model"
              aria-label={`Model ${i + 1}`}
              placeholder="provider/model"
              list={listId}
              value={model}
              autocomplete="off"
              onInput={(event) => set(i, { model: event.currentTarget.value })}
            />
            <input
              name="weight"
              type="number"
              aria-label={`Weight of model ${i + 1}`}
              placeholder="weight"
              min={0}
              step="any"
              value={weight}
              onInput={(event) => set(i, { weight: event.currentTarget.value })}
            />
            <button
              type="button"
              class="quiet"
              aria-label={`Move model ${i + 1} up`}
              aria-disabled={i === 0}
              onClick={() => i > 0 && move(i, i - 1)}
            >
              <Icon icon={icons.Ascending} />
            </button>
            <button
              type="button"
              class="quiet"
              aria-label={`Remove model ${i + 1}`}
              onClick={() => {
                setMembers(members.toSpliced(i, 1))
                list.current!.querySelector('input')?.focus()
              }}
            >
              <Icon icon={icons.Close} />
            </button>
          </li>
        ))}
      </ol>
      <datalist id={listId}>
        {names.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <button type="button" onClick={() => setMembers([...members, memberOf()])}>
        Add model
      </button>
    </fieldset>
  )
}
