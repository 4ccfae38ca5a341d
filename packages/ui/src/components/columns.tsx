import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { Check } from './controls.js'
import { Popover } from './popover.js'
import type { Column } from './table.js'

/** The names of the columns that were chosen. */
function stored(key: string): string[] | undefined {
  try {
    const text = localStorage.getItem(key)
    return text === null ? undefined : text.split('\n')
  } catch {
    // Storage may be forbidden.
    return undefined
  }
}

/**
 * The columns of a table that somebody has chosen, which the browser keeps, and the menu to choose them by. The first is always shown.
 * @param key what they are kept under
 */
export function useColumns<Row>(
  key: string,
  columns: readonly Column<Row>[],
): { columns: readonly Column<Row>[]; menu: VNode } {
  const [chosen, setChosen] = useState(() => stored(key))
  const isShown = ({ name, hidden }: Column<Row>, i: number): boolean =>
    i === 0 || (chosen ? chosen.includes(name) : !hidden)
  const shown = columns.filter(isShown)
  const change = (column: Column<Row>, on: boolean): void => {
    const names = columns.filter((one) => (one === column ? on : shown.includes(one))).map(({ name }) => name)
    setChosen(names)
    try {
      localStorage.setItem(key, names.join('\n'))
    } catch {
      // As above.
    }
  }
  return {
    columns: shown,
    menu: (
      <Popover name="Columns">
        <fieldset>
          <legend class="visually-hidden">Columns that are shown</legend>
          {columns.slice(1).map((column) => (
            <Check
              key={column.name}
              label={column.name}
              checked={shown.includes(column)}
              onChange={(on) => change(column, on)}
            />
          ))}
        </fieldset>
      </Popover>
    ),
  }
}
