import { useMemo, useState } from 'preact/hooks'
import { stepText } from '../chart/ticks.js'
import { Chart } from '../components/chart.js'
import { Segmented } from '../components/controls.js'
import { Empty, Panel } from '../components/layout.js'
import { Table } from '../components/table.js'
import { percent } from '../format.js'
import { route, setQuery } from '../route.js'
import type { Step } from './periods.js'
import { timeZone } from './periods.js'
import type { Measure, UsageReport } from './report.js'
import { measures, seriesOf } from './report.js'

const COLOURS = 8

const measureNames = Object.entries(measures).map(([key, { name }]) => [key as Measure, name] as const)
const stepNames = [
  ['day', 'By day'],
  ['hour', 'By hour'],
] as const

/**
 * The usage of a period as bars by day or hour, of which the legend shows and hides parts.
 * @param title what is stacked, such as `by model`; absent where there is a single part
 * @param rest what usage in none of the parts is called
 */
export function UsageChart({ report, title, rest }: { report: UsageReport; title?: string; rest: string }) {
  const { query } = route.value
  const given = query.get('show') ?? ''
  const measure = Object.hasOwn(measures, given) ? (given as Measure) : 'cost'
  const isShort = report.times.to - report.times.from < 24 * 3_600_000
  const step: Step = query.get('step') === 'hour' || isShort ? 'hour' : 'day'
  // Hundreds of hours are drawn for whoever asks for them only.
  const [isOpen, open] = useState(false)
  const [hidden, hide] = useState<ReadonlySet<string>>(new Set())
  const { name, format } = measures[measure]
  const { starts, series } = useMemo(() => seriesOf(report, measure, step, rest), [report, measure, step, rest])
  // A part keeps its colour, whatever is shown of it: the rows are in the order of their cost.
  const colours = useMemo(() => {
    const parts = report.rows.filter(({ hours }) => hours).map(({ id, name }) => name ?? id)
    return new Map(parts.map((part, i) => [part, `--chart-${(i % COLOURS) + 1}`]))
  }, [report])
  const coloured = useMemo(
    () => series.map((one) => ({ ...one, colour: colours.get(one.name) ?? (title ? '--chart-rest' : '--chart-1') })),
    [series, colours, title],
  )
  const shown = useMemo(() => coloured.filter(({ name }) => !hidden.has(name)), [coloured, hidden])
  const all = series.reduce((sum, { total }) => sum + total, 0)
  const label = `${name} by ${step}${title ? `, ${title}` : ''}`
  const toggle = (one: string): void =>
    hide(new Set(hidden.has(one) ? [...hidden].filter((other) => other !== one) : [...hidden, one]))
  return (
    <Panel
      title={label}
      actions={
        <>
          <Segmented label="Shown" options={measureNames} value={measure} onChange={(show) => setQuery({ show })} />
          {!isShort && (
            <Segmented label="Steps" options={stepNames} value={step} onChange={(step) => setQuery({ step })} />
          )}
        </>
      }
    >
      {all === 0 ? (
        <Empty
          title={report.total.requests === 0 ? 'Nothing was used in this period' : 'Nothing of this in the period'}
        />
      ) : (
        <>
          <div class={`body charted ${title ? 'with-legend' : ''}`}>
            <Chart kind="bars" label={label} times={starts} series={shown} format={format} />
            {title && (
              <table class="legend">
                <caption class="visually-hidden">Parts: press one to hide or show it</caption>
                <tbody>
                  {coloured.map(({ name, colour, total }) => (
                    <tr key={name}>
                      <th scope="row">
                        <button
                          type="button"
                          class="link"
                          aria-pressed={!hidden.has(name)}
                          onClick={() => toggle(name)}
                        >
                          <span class="swatch" style={{ background: `var(${colour})` }} />
                          <span>{name}</span>
                        </button>
                      </th>
                      <td class="number">{format(total)}</td>
                      <td class="number muted">{percent(Math.round((total / all) * 100) / 100)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            )}
          </div>
          <details class="twin" onToggle={(event) => open(event.currentTarget.open)}>
            <summary>
              As a table <span class="small">Times in {timeZone()}</span>
            </summary>
            {isOpen && (
              <Table
                caption={label}
                columns={[
                  { name: step === 'day' ? 'Day' : 'Hour', cell: (i: number) => stepText(starts[i]!, step === 'day') },
                  ...coloured.map(({ name, values }) => ({
                    name,
                    number: true,
                    cell: (i: number) => format(values[i]!),
                  })),
                ]}
                rows={[...starts.keys()].filter((i) => series.some(({ values }) => values[i]! > 0)).toReversed()}
                rowKey={String}
              />
            )}
          </details>
        </>
      )}
    </Panel>
  )
}
