import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { Ascending, Descending } from '../icons.js'
import { Icon } from './icon.js'

/** A column of a {@link Table}. */
export interface Column<Row> {
  name: string
  /** What a cell shows. */
  cell: (row: Row) => ComponentChildren
  /** Whether it holds figures, which stand at the right. */
  number?: boolean
  /** What the rows are sorted by when the column's head is pressed; absent = they cannot be. */
  sort?: (row: Row) => number | string
}

/** A column of figures, which it can be sorted by; what has none comes last. */
export const numberColumn = <Row, Value extends number | null | undefined>(
  name: string,
  of: (row: Row) => Value,
  format: (value: Value) => string,
): Column<Row> => ({ name, number: true, cell: (row) => format(of(row)), sort: (row) => of(row) ?? -1 })

/**
 * A table. The first column names its row.
 * @param caption what it shows, for screen readers
 * @param sorted index of the column that the rows are sorted by at first, the greatest first; default: as they come
 * @param most most rows that are shown; default 200
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  sorted,
  most = 200,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  sorted?: number
  most?: number
}) {
  const [order, setOrder] = useState(sorted === undefined ? undefined : { column: sorted, down: true })
  const by = order && columns[order.column]?.sort
  const inOrder = by
    ? rows.toSorted((a, b) => {
        const [x, y] = [by(a), by(b)]
        return (x < y ? -1 : x > y ? 1 : 0) * (order.down ? -1 : 1)
      })
    : rows
  const ordered = (i: number): 'ascending' | 'descending' | undefined =>
    order?.column === i ? (order.down ? 'descending' : 'ascending') : undefined
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={caption}>
        <table>
          <caption class="visually-hidden">{caption}</caption>
          <thead>
            <tr>
              {columns.map(({ name, number, sort }, i) => (
                <th key={name} scope="col" class={number ? 'number' : ''} aria-sort={ordered(i)}>
                  {sort ? (
                    <button
                      type="button"
                      onClick={() => setOrder({ column: i, down: order?.column === i ? !order.down : true })}
                    >
                      {name}
                      {order?.column === i && <Icon icon={order.down ? Descending : Ascending} size={12} />}
                    </button>
                  ) : (
                    name
                  )}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {inOrder.slice(0, most).map((row) => (
              <tr key={rowKey(row)}>
                {columns.map(({ name, number, cell }, i) =>
                  i === 0 ? (
                    <th key={name} scope="row" class={number ? 'number' : ''}>
                      {cell(row)}
                    </th>
                  ) : (
                    <td key={name} class={number ? 'number' : ''}>
                      {cell(row)}
                    </td>
                  ),
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > most && (
        <p class="loading small">
          The first {most} of {rows.length} rows.
        </p>
      )}
    </>
  )
}
