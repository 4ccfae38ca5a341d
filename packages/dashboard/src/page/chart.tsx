import { theme } from '@turnpike/ui'
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
  const { value: chosen } = theme
  useEffect(() => {
    const element = place.current!
    let plot: uPlot | undefined
    const draw = (): void => {
      plot?.destroy()
      const [text, line] = [colourOf('--muted'), colourOf('--line')]
      const axis = { stroke: text, grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } }
      const options: uPlot.Options = {
        width: element.clientWidth,
        height: HEIGHT,
        cursor: { points: { size: 6 }, drag: { x: false, y: false } },
        legend: { live: true },
        scales: { y: { range: (_, __, most) => [0, most > 0 ? most * 1.1 : 1] } },
        axes: [
          { ...axis, space: 70, values: (_, ticks, __, ___, step) => ticks.map((at) => timeText(at, step)) },
          { ...axis, size: 70, values: (_, ticks) => ticks.map(format) },
        ],
        series: [
          {
            label: 'Time',
            value: (_, at) => (at === null ? '–' : new Date(at * 1000).toLocaleString('en-GB').slice(0, -3)),
          },
          ...lines.map(({ name, colour }, i) => ({
            label: name,
            stroke: colourOf(colour),
            width: 1.5,
            ...(i === 0 && { fill: `color-mix(in srgb, ${colourOf(colour)} 12%, transparent)` }),
            points: { show: times.length < 3 },
            value: (_: uPlot, value: number | null) => (value === null ? '–' : format(value)),
          })),
        ],
      }
      plot = new uPlot(options, [times, ...lines.map(({ values }) => values)], element)
    }
    draw()
    const size = new ResizeObserver(() => plot?.setSize({ width: element.clientWidth, height: HEIGHT }))
    size.observe(element)
    const system = matchMedia('(prefers-color-scheme: dark)')
    system.addEventListener('change', draw)
    return () => {
      size.disconnect()
      system.removeEventListener('change', draw)
      plot?.destroy()
    }
  }, [times, lines, chosen])
  return <div ref={place} class="chart" role="img" aria-label={label} />
}
