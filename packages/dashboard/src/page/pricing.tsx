import type { Column } from '@turnpike/ui'
import {
  count,
  Filter,
  Loaded,
  matches,
  NONE,
  Notice,
  numberColumn,
  Page,
  Panel,
  plural,
  route,
  setQuery,
  Table,
  usd,
  useChanges,
  useData,
  words,
  RowLink,
} from '@turnpike/ui'
import { useEffect, useState } from 'preact/hooks'
import type { Price, PricedModel, PricingAnswer } from './answers.js'
import { read } from './api.js'
import { readIfThere } from './if-there.js'
import { PriceDrawer } from './price-drawer.js'

const rate = (value: number | null): string => (value === null ? NONE : usd(value))

/** The rates of classes without a column of their own. */
const others = ({ other }: PricedModel): string =>
  Object.entries(other)
    .map(([name, value]) => `${words(name)} ${usd(value)}`)
    .join(', ')

/** What prices call a model. */
const nameOf = ({ provider, id }: PricedModel): string => `${provider}/${id}`

const columns: Column<PricedModel>[] = [
  {
    name: 'Model',
    cell: (model) => (
      <>
        <RowLink open={() => setQuery({ model: nameOf(model) })}>{model.id}</RowLink>{' '}
        {model.source === 'store' && <span class="badge accent">own price</span>}
        {!model.priced && <span class="badge amber">no price</span>}
        {model.tiers.map((tier) => (
          <p key={tier.above} class="small muted">
            above {count(tier.above)} tokens: {rate(tier.input)} in, {rate(tier.output)} out
          </p>
        ))}
      </>
    ),
    sort: ({ id }) => id,
  },
  { name: 'Provider', cell: ({ provider }) => provider, sort: ({ provider }) => provider },
  numberColumn('Input', ({ input }) => input, rate),
  numberColumn('Output', ({ output }) => output, rate),
  numberColumn('Cache read', ({ cache_read }) => cache_read, rate),
  numberColumn('Cache write', ({ cache_write }) => cache_write, rate),
  { name: 'Other', cell: (model) => others(model) || NONE },
  {
    name: 'Since',
    cell: ({ since }) => <span class="nowrap">{since ?? NONE}</span>,
    sort: ({ since }) => since ?? '',
  },
]

/** The own price of a model: by its provider, or of every one. */
const ownOf = (own: readonly Price[], name: string | undefined): Price | undefined =>
  own.find(({ model }) => model === name) ?? own.find(({ model }) => name && model === name.replace(/^[^/]*/, '*'))

/** Own prices of models that no provider has, or that cannot be used. */
function Faults({ of: own }: { of: readonly Price[] }) {
  const broken = own.filter(({ fault }) => fault !== undefined)
  if (broken.length === 0) return null
  return (
    <Notice tone="warn">
      {broken.map(({ model, fault }) => (
        <p key={model} class="break">
          {model} is left out: {fault}
        </p>
      ))}
    </Notice>
  )
}

export function Pricing() {
  const data = useData(async (signal) => {
    const [answer, own] = await Promise.all([
      read<PricingAnswer>('pricing', signal),
      readIfThere<{ prices: Price[] }>('prices', signal),
    ])
    return { ...answer, own: own?.prices }
  }, [])
  const { count: changes, notice, onChange } = useChanges()
  useEffect(() => {
    if (changes > 0) data.again()
  }, [changes])
  const [isAdding, setAdding] = useState(false)
  const { query } = route.value
  const filter = query.get('filter') ?? ''
  const opened = query.get('model') ?? undefined
  const close = (): void => {
    setAdding(false)
    setQuery({ model: undefined })
  }
  const shown = ({ models }: PricingAnswer): PricedModel[] =>
    models.filter(({ id, provider }) => matches(filter, [`${provider}/${id}`]))
  return (
    <Page
      title="Pricing"
      actions={
        data.value?.own && (
          <button type="button" class="primary" onClick={() => setAdding(true)}>
            Set a price
          </button>
        )
      }
    >
      {notice}
      <Loaded data={data}>
        {(answer) => (
          <>
            <div class="spread">
              <p class="muted">
                US dollars per million tokens; “Other” also per million characters, seconds or images.{' '}
                <span title={`Version ${answer.version}`}>
                  Prices of {answer.since ?? 'an unknown date'}, {answer.source}.
                </span>
              </p>
              <Filter value={filter} onChange={(filter) => setQuery({ filter })} />
            </div>
            <Panel title={plural(shown(answer).length, 'model')}>
              <Table
                caption="Prices of models"
                columns={columns}
                rows={shown(answer)}
                rowKey={({ id, provider }) => `${provider}/${id}`}
              />
            </Panel>
            {answer.own && <Faults of={answer.own} />}
            {answer.own && (isAdding || opened !== undefined) && (
              <PriceDrawer
                name={opened}
                model={answer.models.find((model) => nameOf(model) === opened)}
                own={ownOf(answer.own, opened)}
                names={answer.models.map(nameOf)}
                onClose={close}
                onChange={(done) => {
                  close()
                  onChange(done)
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </Page>
  )
}
