import type { ComponentChildren } from 'preact'
import { Bar } from '../components/figures.js'
import type { Column } from '../components/table.js'
import { numberColumn } from '../components/table.js'
import { count, plural, usd } from '../format.js'
import type { UsageReport, UsageRow } from './report.js'
import { change } from './report.js'

/**
 * The columns of a table of usage, by what it is told apart.
 * @param name of the first one
 * @param cell what the first one shows
 * @param cost in all, of which a bar shows the share
 * @param earlier the cost of each row in the period before; absent = it is not compared
 */
export function usageColumns<Row extends UsageRow>({
  name,
  cell,
  cost,
  earlier,
}: {
  name: string
  cell: (row: Row) => ComponentChildren
  cost: number
  earlier?: UsageReport['earlier'] | undefined
}): Column<Row>[] {
  return [
    { name, cell, sort: (one) => one.name ?? one.id },
    {
      name: 'Cost',
      number: true,
      cell: (one) => (
        <>
          {usd(one.cost_usd)}
          {one.unpriced > 0 && <p class="small muted">{plural(one.unpriced, 'request')} without a price</p>}
          <Bar share={cost > 0 ? one.cost_usd / cost : 0} />
        </>
      ),
      sort: (one) => one.cost_usd,
    },
    ...(earlier
      ? [
          {
            name: 'Change',
            number: true,
            cell: (one: Row) => <span class="muted">{change(one.cost_usd, earlier.get(one.id) ?? 0) ?? ''}</span>,
            sort: (one: Row) => one.cost_usd - (earlier.get(one.id) ?? 0),
          },
        ]
      : []),
    numberColumn('Requests', (one) => one.requests, count),
    numberColumn('Tokens in', (one) => one.prompt_tokens, count),
    numberColumn('Tokens out', (one) => one.completion_tokens, count),
  ]
}
