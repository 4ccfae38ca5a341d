import type { OnChange } from '@turnpike/ui'
import {
  ActionButton,
  ConfirmButton,
  count,
  Dialog,
  duration,
  ErrorNotice,
  Facts,
  Folded,
  Form,
  Notice,
  percent,
  plural,
  time,
  useAction,
  useData,
} from '@turnpike/ui'
import type { PricingAnswer, Provider, ProviderType } from './answers.js'
import { read, send } from './api.js'
import { dependentsOf } from './dependents.js'
import { ProviderFields } from './provider-fields.js'
import type { Row } from './provider-facts.js'
import { Health, isUsed, kindOf, loadOf, places, sources } from './provider-facts.js'
import { askedOf, settingsIn } from './provider-settings.js'
import { TestProvider } from './provider-test.js'

interface StoredProps {
  state: Provider
  entry: string
  onChange: OnChange
}

/** Changes the settings of a provider in the store. */
function ChangeProvider({ state, entry, type, onChange }: StoredProps & { type: ProviderType }) {
  const { settings: given = {}, has_key: hasKey = false, key_end: end } = state
  // A server of one's own, which may need no key.
  const asked = askedOf(type, given, type.base_url === undefined && given['baseURL'] !== undefined)
  const save = useAction(async (fields: FormData) => {
    const said = settingsIn(fields, asked)
    const changed = Object.entries(said).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(given[name] ?? null),
    )
    if (changed.length > 0)
      await send(`admin/providers/${entry}`, { method: 'PATCH', body: Object.fromEntries(changed) })
    onChange()
  })
  return (
    <section class="stack" aria-label="Settings">
      <h3>Settings</h3>
      <Form action={save} label="Save" done="Saved. It is used from the next request on.">
        <ProviderFields asked={asked} given={given} kept={{ hasKey, end }} />
      </Form>
    </section>
  )
}

/** Takes a provider of the store out of use or back, and deletes it. */
function Leave({ state, entry, onChange, onDeleted }: StoredProps & { onDeleted: (done: string) => void }) {
  const { id, status } = state
  const path = `admin/providers/${entry}`
  const isDisabled = status === 'disabled'
  const toggle = useAction(async () => {
    await send(path, { method: 'PATCH', body: { disabled: isDisabled ? null : true } })
    onChange()
  })
  const remove = useAction(async () => {
    await send(path, { method: 'DELETE' })
    onDeleted(`${id} is deleted.`)
  })
  const dependents = useData(() => dependentsOf(id), [id])
  return (
    <div class="stack zone">
      <ErrorNotice error={toggle.error ?? remove.error} />
      <div class="row end">
        {status !== 'broken' && (
          <ActionButton action={toggle} onClick={toggle.run}>
            {isDisabled ? 'Enable' : 'Disable'}
          </ActionButton>
        )}
        <ConfirmButton action={remove} label="Delete" busy="Deleting…" title={`Delete ${id}?`}>
          <p>
            Requests that it serves end well; new ones go to the other providers. Its key is removed from the store.
          </p>
          {dependents.value && dependents.value.length > 0 && (
            <>
              <p>These name it, and find its models no more:</p>
              <ul class="bullets">
                {dependents.value.map((one) => (
                  <li key={one} class="break">
                    {one}
                  </li>
                ))}
              </ul>
            </>
          )}
        </ConfirmButton>
      </div>
    </div>
  )
}

/** The models that a provider has. */
function Models({ id, models }: { id: string; models: number }) {
  const data = useData((signal) => read<PricingAnswer>('pricing', signal), [models])
  const own = data.value?.models.filter(({ provider }) => provider === id) ?? []
  if (own.length === 0) return null
  return (
    <Folded summary={plural(own.length, 'model')}>
      <ul class="columns-of-names mono">
        {own.map((model) => (
          <li key={model.id} class="break">
            {model.id}
          </li>
        ))}
      </ul>
    </Folded>
  )
}

/** A provider with what can be done with it. */
export function ProviderDrawer({
  of: row,
  types,
  hours,
  onChange,
  onClose,
}: {
  of: Row
  types: readonly ProviderType[]
  hours: string
  onChange: OnChange
  onClose: () => void
}) {
  const { state, metrics } = row
  const { id, entry, source, status, learnt = [] } = state
  const type = types.find((one) => one.type === state.type)
  // Those of the configuration that are disabled cannot be named.
  const canTest = status !== 'broken' && (status !== 'disabled' || entry !== undefined)
  return (
    <Dialog title={id} onClose={onClose}>
      <Facts
        facts={[
          ['State', <Health {...row} />],
          ['Kind', kindOf(state, types)],
          ['Configured', source && sources[source]],
          ['Key', state.key_end !== undefined && <span class="mono">…{state.key_end}</span>],
          ['Part of the load', loadOf(state).join(', ') || false],
          ['Can do', isUsed(state) && state.tasks.join(', ')],
          [
            `Calls in ${hours} h`,
            metrics ? `${count(metrics.requests)}, of which ${percent(metrics.error_rate)} failed` : 'none',
          ],
          [
            'Time',
            metrics?.latency_ms.p50 != null &&
              `half within ${duration(metrics.latency_ms.p50)}, 95 % within ${duration(metrics.latency_ms.p95)}`,
          ],
          [
            'Left out',
            learnt.length > 0 &&
              learnt.map(({ model, field, until }) => `${field} of ${model} until ${time(until)}`).join('; '),
          ],
        ]}
      />
      {canTest && <TestProvider id={entry ?? id} name={id} onDone={onChange} />}
      {isUsed(state) && <Models id={id} models={state.models} />}
      {entry === undefined ? (
        source !== undefined && source !== 'store' && <Notice>{places[source]}</Notice>
      ) : (
        <>
          {type && state.settings && <ChangeProvider state={state} entry={entry} type={type} onChange={onChange} />}
          <Leave
            state={state}
            entry={entry}
            onChange={onChange}
            onDeleted={(done) => {
              onClose()
              onChange(done)
            }}
          />
        </>
      )}
    </Dialog>
  )
}
