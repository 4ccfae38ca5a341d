import type { VNode } from 'preact'
import { useState } from 'preact/hooks'
import { store, stored } from '../stored.js'
import { Check } from './controls.js'
import { Popover } from './popover.js'
import type { Column } from './table.js'

/**
 * The columns of a table that somebody has chosen, which the browser keeps, and the menu to choose them by. The first is always shown.
 * @param key what they are kept under
 */
export function useColumns<Row>(
  key: string,
  columns: readonly Column<Row>[],
): { columns: readonly Column<Row>[]; menu: VNode } {
  const [chosen, setChosen] = useState(() => stored(key)?.split('\n'))
  const isShown = ({ name, hidden }: Column<Row>, i: number): boolean =>
    i === 0 || (chosen ? chosen.includes(name) : !hidden)
  const shown = columns.filter(isShown)
  const change = (column: Column<Row>, on: boolean): void => {
    const names = columns.filter((one) => (one === column ? on : shown.includes(one))).map(({ name }) => name)
    setChosen(names)
    store(key, names.join('\n'))
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
