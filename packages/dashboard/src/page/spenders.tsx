import type { Column } from '@turnpike/ui'
import { Bar, count, linkTo, Loaded, Panel, Table, usd, useData } from '@turnpike/ui'
import type { UsageRow } from './answers.js'
import { read } from './api.js'

/** How many are shown of each kind. */
const SHOWN = 5

/** How many are read at a time, and how often at most: somebody may have made many keys. */
const [PER_READ, READS] = [500, 40]

/** Who is compared: the parameter `by`, the heading, and the field that requests are filtered by. */
const kinds = [
  ['user', 'Users'],
  ['key', 'Keys'],
  ['model', 'Models'],
] as const

/** What is shown of an id: models have their provider in it. */
const requestsOf = (by: (typeof kinds)[number][0], id: string, hours: string): string =>
  linkTo(
    '/admin/requests',
    by === 'model'
      ? { provider: id.split('/', 1)[0], model: id.slice(id.indexOf('/') + 1), hours }
      : { [by]: id, hours },
  )

function Top({ by, name, hours }: { by: (typeof kinds)[number][0]; name: string; hours: string }) {
  const data = useData(
    async (signal) => {
      const rows: UsageRow[] = []
      let after = ''
      for (let i = 0; i < READS; i++) {
        const page = `usage?by=${by}&hours=${hours}&limit=${PER_READ}${after}`
        const { data, next } = await read<{ data: UsageRow[]; next?: string }>(page, signal)
        rows.push(...data)
        if (next === undefined) break
        after = `&after=${encodeURIComponent(next)}`
      }
      return rows.toSorted((a, b) => b.cost_usd - a.cost_usd || b.requests - a.requests)
    },
    [by, hours],
  )
  const all = data.value?.reduce((sum, one) => sum + one.cost_usd, 0) ?? 0
  const columns: Column<UsageRow>[] = [
    { name, cell: (one) => <a href={requestsOf(by, one.id, hours)}>{one.name ?? one.id}</a> },
    { name: 'Requests', number: true, cell: (one) => count(one.requests) },
    {
      name: 'Cost',
      number: true,
      cell: (one) => (
        <>
          {usd(one.cost_usd)}
          <Bar share={all > 0 ? one.cost_usd / all : 0} tone="amber" />
        </>
      ),
    },
  ]
  return (
    <Panel title={`Top ${name.toLowerCase()}`} actions={<a href={linkTo('/admin/usage', { by, hours })}>All</a>}>
      <Loaded data={data}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="loading">Nobody in this period.</p>
          ) : (
            <Table
              caption={`Top ${name.toLowerCase()}`}
              columns={columns}
              rows={rows.slice(0, SHOWN)}
              rowKey={({ id }) => id}
            />
          )
        }
      </Loaded>
    </Panel>
  )
}

/** Who spent most in a period. */
export const Spenders = ({ hours }: { hours: string }) => (
  <div class="thirds">
    {kinds.map(([by, name]) => (
      <Top key={by} by={by} name={name} hours={hours} />
    ))}
  </div>
)
