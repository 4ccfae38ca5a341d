import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { NONE } from '../format.js'
import { Ascending, Descending } from '../icons.js'
import { useRowsInView } from '../rows-in-view.js'
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
  /** Whether it is left out until somebody chooses it ({@link useColumns}). */
  hidden?: boolean
}

/** A column of figures, which it can be sorted by; what has none comes last. */
export const numberColumn = <Row, Value extends number | null | undefined>(
  name: string,
  of: (row: Row) => Value,
  format: (value: Value) => string,
): Column<Row> => ({ name, number: true, cell: (row) => format(of(row)), sort: (row) => of(row) ?? -1 })

/** The button of a row, which the whole row presses. @param class further classes; default none */
export const RowLink = ({
  class: more = '',
  open,
  children,
}: {
  class?: string
  open: () => void
  children: ComponentChildren
}) => (
  <button type="button" class={`link row-link ${more}`} onClick={open}>
    {children}
  </button>
)

/** From how many rows on the table scrolls by itself, below its head, and only rows in view are drawn. */
const [SCROLLS, MANY] = [25, 200]
/** From how many columns on a row is a card on a phone. */
const WIDE = 4

/** What of a row takes the focus. */
const CONTROL = '.row-link, a, button'

const steps: Record<string, number> = {
  ArrowDown: 1,
  ArrowUp: -1,
  j: 1,
  k: -1,
  PageDown: 10,
  PageUp: -10,
  Home: -Infinity,
  End: Infinity,
}

/** Rows in the order of a column, the greatest first where it is `down`. */
function sortedBy<Row>(rows: readonly Row[], of: (row: Row) => number | string, down: boolean): readonly Row[] {
  // Each is asked once: a sort compares it many times.
  const keyed = rows.map((row) => [of(row), row] as const)
  const sign = down ? -1 : 1
  return keyed.toSorted(([a], [b]) => (a < b ? -sign : a > b ? sign : 0)).map(([, row]) => row)
}

/**
 * A table. The first column names its row. The arrow keys, j and k go from the link or button of a row to that of the next. On a phone, the rows of a wide table are cards.
 * @param caption what it shows, for screen readers
 * @param sorted index of the column that the rows are sorted by at first, the greatest first; default: as they come
 * @param current the key of the row that is open; default none
 * @param oneLine whether each row is one line, whose cells are cut where they are too long; so are more than 200 rows
 * @param order is given the rows in the order that they are shown in
 */
export function Table<Row>({
  caption,
  columns,
  rows,
  rowKey,
  sorted,
  current,
  oneLine = false,
  order: ordered,
}: {
  caption: string
  columns: readonly Column<Row>[]
  rows: readonly Row[]
  rowKey: (row: Row) => string
  sorted?: number
  current?: string | undefined
  oneLine?: boolean
  order?: { current: readonly Row[] }
}) {
  const place = useRef<HTMLDivElement>(null)
  const [order, setOrder] = useState(sorted === undefined ? undefined : { column: columns[sorted]?.name, down: true })
  const by = columns.find(({ name }) => name === order?.column)?.sort
  const inOrder = useMemo(() => (by ? sortedBy(rows, by, order!.down) : rows), [rows, order, by === undefined])
  if (ordered) ordered.current = inOrder
  const many = inOrder.length > MANY
  const { from, to, before, after, show } = useRowsInView(place, inOrder.length, !many)
  const [goal, setGoal] = useState<number>()
  // Before the next key: it is for the row that has the focus.
  useLayoutEffect(() => {
    if (goal === undefined) return
    place.current!.querySelector(`tr[data-index="${goal}"]`)?.querySelector<HTMLElement>(CONTROL)?.focus()
    setGoal(undefined)
  }, [goal])

  const onKeyDown = (event: KeyboardEvent): void => {
    const step = steps[event.key]
    const at = (event.target as Element).closest<HTMLElement>('tr[data-index]')?.dataset['index']
    const isOther = event.altKey || event.ctrlKey || event.metaKey || event.shiftKey
    if (step === undefined || at === undefined || isOther || (event.target as Element).matches('input, select')) return
    event.preventDefault()
    const next = Math.min(inOrder.length - 1, Math.max(0, Number(at) + step))
    show(next)
    setGoal(next)
  }
  const turn = (name: string): void => setOrder({ column: name, down: order?.column === name ? !order.down : true })
  const direction = (name: string): 'ascending' | 'descending' | undefined =>
    order?.column === name ? (order.down ? 'descending' : 'ascending') : undefined

  const tall = inOrder.length > SCROLLS
  return (
    <div
      ref={place}
      class={`scroll ${tall ? 'tall' : ''} ${many || oneLine ? 'even' : ''}`}
      tabIndex={0}
      role="region"
      aria-label={caption}
    >
      {/* The roles hold where the rows are laid out as cards. */}
      <table
        role="table"
        class={columns.length >= WIDE ? 'cards' : ''}
        aria-rowcount={many ? inOrder.length + 1 : undefined}
      >
        <caption class="visually-hidden">{caption}</caption>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map(({ name, number, sort }) => (
              <th key={name} role="columnheader" scope="col" class={number ? 'number' : ''} aria-sort={direction(name)}>
                {sort ? (
                  <button type="button" onClick={() => turn(name)}>
                    {name}
                    {order?.column === name && <Icon icon={order.down ? Descending : Ascending} size={12} />}
                  </button>
                ) : (
                  name
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup" onKeyDown={onKeyDown}>
          {before > 0 && <Gap height={before} />}
          {inOrder.slice(from, to).map((row, i) => (
            <tr
              key={rowKey(row)}
              role="row"
              data-index={from + i}
              aria-rowindex={many ? from + i + 2 : undefined}
              aria-current={current !== undefined && current === rowKey(row) ? 'true' : undefined}
            >
              {columns.map(({ name, number, cell }, j) => {
                const content = cell(row)
                const classes = `${number ? 'number' : ''} ${content === NONE ? 'none' : ''}`.trim()
                const shared = { key: name, class: classes, 'data-name': name }
                return j === 0 ? (
                  <th {...shared} role="rowheader" scope="row">
                    {content}
                  </th>
                ) : (
                  <td {...shared} role="cell">
                    {content}
                  </td>
                )
              })}
            </tr>
          ))}
          {after > 0 && <Gap height={after} />}
        </tbody>
      </table>
    </div>
  )
}

/** The room of rows that are not drawn. */
const Gap = ({ height }: { height: number }) => (
  <tr role="presentation" class="gap">
    <td role="presentation" style={{ height: `${height}px` }} />
  </tr>
)
