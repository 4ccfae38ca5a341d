import { NONE, theme } from '@turnpike/ui'
import { useEffect, useRef } from 'preact/hooks'
import uPlot from 'uplot'

/** A line of a {@link Chart}. */
export interface Line {
  name: string
  /** A token of the styles, such as `--accent`. */
  colour: string
  values: (number | null)[]
}

/** The colour of a token in the present theme. */
function colourOf(token: string): string {
  const probe = document.body.appendChild(document.createElement('i'))
  probe.style.color = `var(${token})`
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}

const HEIGHT = 220
const DAY = 86_400

/** A point of the time axis: the hour or, at midnight and where the steps are days, the day. */
function timeText(at: number, step: number): string {
  const date = new Date(at * 1000)
  const isDay = step >= DAY || date.getHours() + date.getMinutes() === 0
  return isDay
    ? date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
    : date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

function optionsOf(width: number, lines: Line[], format: (value: number) => string): uPlot.Options {
  const [text, line] = [colourOf('--muted'), colourOf('--line')]
  const font = `12px ${getComputedStyle(document.body).fontFamily}`
  const axis = { stroke: text, font, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
  return {
    width,
    height: HEIGHT,
    cursor: { points: { size: 6 }, drag: { x: false, y: false } },
    scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
    axes: [
      { ...axis, space: 70, values: (_, ticks, __, ___, step) => ticks.map((at) => timeText(at, step)) },
      { ...axis, size: 70, values: (_, ticks) => ticks.map(format) },
    ],
    series: [
      {
        label: 'Time',
        value: (_, at) => (at === null ? NONE : new Date(at * 1000).toLocaleString('en-GB').slice(0, -3)),
      },
      ...lines.map(({ name, colour }, i) => ({
        label: name,
        stroke: colourOf(colour),
        width: 1.5,
        ...(i === 0 && { fill: `color-mix(in srgb, ${colourOf(colour)} 12%, transparent)` }),
        value: (_: uPlot, value: number | null) => (value === null ? NONE : format(value)),
      })),
    ],
  }
}

/** Lines over time. Whoever cannot see it reads the table beside it. @param times Unix times in seconds */
export function Chart({
  label,
  times,
  lines,
  format,
}: {
  label: string
  times: number[]
  lines: Line[]
  format: (value: number) => string
}) {
  const place = useRef<HTMLDivElement>(null)
  const plot = useRef<uPlot | undefined>(undefined)
  const data = [times, ...lines.map(({ values }) => values)] satisfies uPlot.AlignedData
  // What is drawn when the system's theme changes is what was read last.
  const latest = useRef(data)
  latest.current = data
  const { value: chosen } = theme
  const names = lines.map(({ name }) => name).join()

  useEffect(() => {
    const element = place.current!
    const draw = (): void => {
      plot.current?.destroy()
      plot.current = new uPlot(optionsOf(element.clientWidth, lines, format), latest.current, element)
    }
    draw()
    const size = new ResizeObserver(() => plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }))
    size.observe(element)
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', draw)
    return () => {
      size.disconnect()
      system.removeEventListener('change', draw)
      plot.current?.destroy()
      plot.current = undefined
    }
  }, [names, chosen])

  // New figures of the same lines leave the cursor where it is.
  useEffect(() => plot.current?.setData(data), [times, lines])
  return <div ref={place} class="chart" role="img" aria-label={label} />
}
