import { useEffect, useRef, useState } from 'preact/hooks'
import uPlot from 'uplot'
import { NONE } from '../format.js'
import { theme } from '../theme.js'
import { sameDecimals, stepText, tickText, ticksOf } from './ticks.js'

/** A line, or a part of the bars, of a {@link Plot}. */
export interface Series {
  name: string
  /** A token of the styles, such as `--accent`. */
  colour: string
  /** One for each time; null = a gap. */
  values: readonly (number | null)[]
}

export interface PlotProps {
  /** What it shows, for screen readers; whoever cannot see it reads the table beside it. */
  label: string
  /** The starts of equal hours or days, in milliseconds. */
  times: readonly number[]
  /** Of bars, the first is the lowest part. */
  series: readonly Series[]
  format: (value: number) => string
  /** Default lines. */
  kind?: 'lines' | 'bars'
}

/** The colour of a token in the present theme. */
function colourOf(token: string): string {
  const probe = document.body.appendChild(document.createElement('i'))
  probe.style.color = `var(${token})`
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const HEIGHT = 260
/** Pixels that a label of the time axis takes. */
const LABEL = 76
/** Steps of an axis of whole numbers: there is no half of a request. */
const WHOLE = Array.from({ length: 12 }, (_, i) => [1, 2, 5].map((step) => step * 10 ** i)).flat()
const DAY_MS = 24 * 3_600_000

const isByDay = (times: readonly number[]): boolean => times.length > 1 && times[1]! - times[0]! > DAY_MS / 2

/** What is drawn: lines as they are; the parts of bars on top of each other, the highest first, so that each hides what is above it in those before. */
function dataOf({ times, series, kind }: PlotProps): uPlot.AlignedData {
  const places = [...times.keys()]
  if (kind !== 'bars') return [places, ...series.map(({ values }) => [...values])]
  const sums: number[][] = []
  for (const { values } of series) {
    const below = sums.at(-1)
    sums.push(values.map((value, i) => (value ?? 0) + (below?.[i] ?? 0)))
  }
  return [places, ...sums.toReversed()]
}

/** The places at the ends of the time axis: the whole of the outer bars is seen. */
const rangeOf = ({ times: { length }, kind }: PlotProps): [number, number] =>
  kind === 'bars' ? [-0.5, length - 0.5] : [0, Math.max(1, length - 1)]

/** @param latest what is drawn, whose times may move on */
function optionsOf(
  width: number,
  latest: { current: PlotProps },
  onPlace: (place: Place | undefined) => void,
): uPlot.Options {
  const { series, format, kind } = latest.current
  const [text, line] = [colourOf('--muted'), colourOf('--line')]
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { show: false } }
  const bars = kind === 'bars' && uPlot.paths.bars!({ size: [0.76, 48], radius: 0 })
  const shown = kind === 'bars' ? series.toReversed() : series
  const isWhole = series.every(({ values }) => values.every((value) => value === null || Number.isInteger(value)))
  return {
    width,
    height: HEIGHT,
    legend: { show: false },
    padding: [8, 18, 0, 0],
    cursor: { y: false, points: { show: kind !== 'bars', size: 6 }, drag: { x: false, y: false } },
    scales: {
      x: { time: false, range: () => rangeOf(latest.current) },
      y: { range: (_, __, most) => [0, most > 0 ? most * 1.05 : 1] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 30,
        splits: ({ bbox }) => ticksOf(latest.current.times, bbox.width / devicePixelRatio / LABEL),
        values: (_, places) => places.map((place) => tickText(latest.current.times[place]!)),
      },
      {
        ...axis,
        size: 64,
        space: 40,
        ...(isWhole && { incrs: WHOLE }),
        values: (_, ticks) => sameDecimals(ticks.map(format)),
      },
    ],
    series: [
      {},
      ...shown.map(({ name, colour }, i): uPlot.Series => {
        const stroke = colourOf(colour)
        if (bars) return { label: name, fill: stroke, width: 0, paths: bars, points: { show: false } }
        const fill = i === 0 ? { fill: `color-mix(in srgb, ${stroke} 12%, transparent)` } : {}
        return { label: name, stroke, width: 1.5, ...fill }
      }),
    ],
    hooks: {
      setCursor: [
        ({ cursor: { idx, left }, over }) =>
          onPlace(
            idx == null || left == null || left < 0
              ? undefined
              : { at: idx, left, isRight: left > over.clientWidth / 2, width: over.clientWidth, from: over.offsetLeft },
          ),
      ],
    },
  }
}

/** Where the pointer is. */
interface Place {
  /** The index of the time. */
  at: number
  left: number
  isRight: boolean
  width: number
  from: number
}

/** The figures of one time, those of bars from the highest part down, without what is nothing. */
function Tip({
  place: { at, left, isRight, width, from },
  plot: { times, series, format, kind },
}: {
  place: Place
  plot: PlotProps
}) {
  const isBars = kind === 'bars'
  const rows = isBars ? series.filter(({ values }) => (values[at] ?? 0) > 0).toReversed() : series
  const total = rows.reduce((all, { values }) => all + (values[at] ?? 0), 0)
  return (
    <div
      class="chart-tip"
      aria-hidden="true"
      style={isRight ? { right: `${width - left + 16}px` } : { left: `${from + left + 12}px` }}
    >
      <p class="muted">{stepText(times[at]!, isByDay(times))}</p>
      <dl>
        {rows.map(({ name, colour, values }) => (
          <div key={name}>
            <dt>
              <span class="swatch" style={{ background: `var(${colour})` }} />
              <span>{name}</span>
            </dt>
            <dd class="number">{values[at] == null ? NONE : format(values[at])}</dd>
          </div>
        ))}
        {isBars && rows.length !== 1 && (
          <div>
            <dt>Total</dt>
            <dd class="number">{format(total)}</dd>
          </div>
        )}
      </dl>
    </div>
  )
}

/** Lines, or bars of parts, over time. */
export function Plot(props: PlotProps) {
  const { label, series, times, kind } = props
  const element = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const [place, setPlace] = useState<Place>()
  // What is drawn when the theme of the system changes is what was read last.
  const latest = useRef(props)
  latest.current = props
  const { value: chosen } = theme
  const shape = [kind, times.length, ...series.map(({ name, colour }) => `${name} ${colour}`)].join('\n')

  useEffect(() => {
    const parent = element.current!
    const draw = (): void => {
      plot.current?.destroy()
      const onPlace = (next: Place | undefined): void => setPlace((known) => (known?.at === next?.at ? known : next))
      plot.current = new uPlot(optionsOf(parent.clientWidth, latest, onPlace), dataOf(latest.current), parent)
    }
    draw()
    const size = new ResizeObserver(() => plot.current?.setSize({ width: parent.clientWidth, height: HEIGHT }))
    size.observe(parent)
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', draw)
    return () => {
      size.disconnect()
      system.removeEventListener('change', draw)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [shape, chosen])

  // New figures of the same series leave the cursor where it is.
  useEffect(() => plot.current?.setData(dataOf(props)), [times, series])
  return (
    <div class="chart">
      <div ref={element} role="img" aria-label={label} />
      {place && place.at < times.length && <Tip place={place} plot={props} />}
    </div>
  )
}
