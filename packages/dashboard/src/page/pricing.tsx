import type { Column } from '@turnpike/ui'
import {
  count,
  Filter,
  Loaded,
  matches,
  NONE,
  numberColumn,
  Page,
  Panel,
  plural,
  route,
  setQuery,
  Table,
  usd,
  useData,
  words,
} from '@turnpike/ui'
import type { PricedModel, PricingAnswer } from './answers.js'
import { read } from './api.js'

const rate = (value: number | null): string => (value === null ? NONE : usd(value))

/** The rates of classes without a column of their own. */
const others = ({ other }: PricedModel): string =>
  Object.entries(other)
    .map(([name, value]) => `${words(name)} ${usd(value)}`)
    .join(', ')

const columns: Column<PricedModel>[] = [
  {
    name: 'Model',
    cell: (model) => (
      <>
        {model.id}
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
    cell: ({ since, source }) => (since === null ? NONE : `${since}, ${source}`),
    sort: ({ since }) => since ?? '',
  },
]

export function Pricing() {
  const data = useData((signal) => read<PricingAnswer>('pricing', signal), [])
  const filter = route.value.query.get('filter') ?? ''
  const shown = ({ models }: PricingAnswer): PricedModel[] =>
    models.filter(({ id, provider }) => matches(filter, [`${provider}/${id}`]))
  return (
    <Page title="Pricing">
      <Loaded data={data}>
        {(answer) => (
          <>
            <div class="spread">
              <p class="muted">
                US dollars per million tokens; in “other”, also per million characters, seconds or images. Table of{' '}
                {answer.since ?? 'an unknown date'}, {answer.source}, version {answer.version}.
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
          </>
        )}
      </Loaded>
    </Page>
  )
}
