import {
  count,
  duration,
  Empty,
  linkTo,
  Loaded,
  Notice,
  Page,
  Panel,
  percent,
  plural,
  route,
  setQuery,
  useChanges,
  useData,
  useNew,
  RowLink,
} from '@turnpike/ui'
import { useEffect } from 'preact/hooks'
import { AddProvider } from './add-provider.js'
import type { ProviderType } from './answers.js'
import { send } from './api.js'
import { readIfThere } from './if-there.js'
import { hoursOf, PeriodChoice } from './period.js'
import { ProviderDrawer } from './provider-drawer.js'
import type { Row } from './provider-facts.js'
import { Health, isUsed, kindOf, loadOf, readRows, sources } from './provider-facts.js'
import { TestProvider } from './provider-test.js'

/** The kinds of providers that can be added; none where the gateway takes no providers while it runs. */
const readTypes = async (signal: AbortSignal): Promise<ProviderType[]> =>
  (await readIfThere<{ types: ProviderType[] }>('providers/types', signal))?.types ?? []

const Figures = ({ metrics }: Row) => (
  <dl class="mini number">
    <div>
      <dt>Calls</dt>
      <dd>{count(metrics?.requests ?? 0)}</dd>
    </div>
    <div>
      <dt>Errors</dt>
      <dd>{percent(metrics?.error_rate ?? 0)}</dd>
    </div>
    <div>
      <dt>Median</dt>
      <dd>{duration(metrics?.latency_ms.p50)}</dd>
    </div>
    <div>
      <dt>First token</dt>
      <dd>{duration(metrics?.first_token_ms.p50)}</dd>
    </div>
  </dl>
)

/** A provider in the list; it is opened by any place of it. */
function ProviderItem({ of: row, types, onDone }: { of: Row; types: readonly ProviderType[]; onDone: () => void }) {
  const { state } = row
  const { id, entry, source, key_end: end } = state
  const parts = [
    kindOf(state, types),
    source && sources[source],
    end !== undefined && `key …${end}`,
    ...loadOf(state),
    isUsed(state) && plural(state.models, 'model'),
  ].filter((part) => part !== false && part !== undefined)
  const canTest = isUsed(state) || (state.status === 'disabled' && entry !== undefined)
  return (
    <li class="item">
      <div>
        <RowLink class="name" open={() => setQuery({ id: row.key })}>
          {id}
        </RowLink>
        <p class="small muted break">{parts.join(' · ')}</p>
      </div>
      <div>
        <Health {...row} />
      </div>
      <Figures {...row} />
      {canTest && <TestProvider id={entry ?? id} name={id} onDone={onDone} />}
    </li>
  )
}

export function Providers() {
  const hours = hoursOf('24')
  const data = useData((signal) => readRows(hours, signal), [hours], 5_000)
  const types = useData(readTypes, [])
  const health = useData(
    async (signal) => (await send('health', { signal })).json() as Promise<{ simulated: boolean }>,
    [],
  )
  const { count: changes, notice, onChange } = useChanges()
  useEffect(() => {
    if (changes === 0) return
    data.again()
    health.again()
  }, [changes])
  const [isAdding, setAdding] = useNew('Add a provider')
  const known = types.value ?? []
  const canAdd = known.length > 0
  const openedKey = route.value.query.get('id')
  const opened = data.value?.find(({ key }) => key === openedKey)
  const addButton = (
    <button type="button" class="primary" onClick={() => setAdding(true)}>
      Add provider
    </button>
  )
  return (
    <Page
      title="Providers"
      actions={
        <>
          <PeriodChoice value={hours} />
          {canAdd && addButton}
        </>
      }
    >
      {notice}
      {health.value?.simulated && (
        <Notice tone="warn">
          <p>Answers are made up until a provider with a key is there: no model is asked.</p>
        </Notice>
      )}
      <Loaded data={data}>
        {(rows) => (
          <Panel title={plural(rows.length, 'provider')}>
            {rows.length === 0 ? (
              <Empty title="No provider yet">
                <p>A provider answers the requests: a service such as OpenAI, or a server of your own.</p>
                {canAdd && addButton}
              </Empty>
            ) : (
              <ul class="items" aria-label="Providers">
                {rows.map((row) => (
                  <ProviderItem key={row.key} of={row} types={known} onDone={data.again} />
                ))}
              </ul>
            )}
          </Panel>
        )}
      </Loaded>
      <p class="small muted">
        A test reads the list of models and costs nothing. <a href={linkTo('/admin/routing')}>Routing</a> shows which
        provider a request goes to.
      </p>
      {isAdding && (
        <AddProvider
          types={known}
          onClose={() => setAdding(false)}
          onAdded={({ id }) => {
            setAdding(false)
            onChange(`${id} is added, and used from the next request on.`)
          }}
        />
      )}
      {opened && (
        <ProviderDrawer
          key={opened.key}
          of={opened}
          types={known}
          hours={hours}
          onChange={onChange}
          onClose={() => setQuery({ id: undefined })}
        />
      )}
    </Page>
  )
}
