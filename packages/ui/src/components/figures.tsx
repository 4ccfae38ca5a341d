import type { ComponentChildren } from 'preact'

const WIDTH = 120
const HEIGHT = 32

/** The stretches of values without a gap, each with its position. */
function stretchesOf(values: readonly (number | null)[]): [number, number][][] {
  const stretches: [number, number][][] = []
  for (const [i, value] of values.entries()) {
    if (value === null) continue
    if (i === 0 || values[i - 1] === null) stretches.push([])
    stretches.at(-1)!.push([i, value])
  }
  return stretches
}

/** A line without axes, for how a figure went; null = a gap. */
export function Spark({ values, tone = '' }: { values: readonly (number | null)[]; tone?: '' | 'amber' | 'danger' }) {
  if (values.length < 2) return null
  const most = Math.max(...values.map((value) => value ?? 0)) || 1
  const x = (i: number): string => ((i / (values.length - 1)) * WIDTH).toFixed(1)
  const y = (value: number): string => (HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)
  return (
    <svg
      class={`spark ${values.some((value) => value !== null && value > 0) ? tone : 'none'}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      {stretchesOf(values).map((stretch) => {
        const [first, last] = [stretch[0]![0], stretch.at(-1)![0]]
        // One value alone is a short line, on the side where there is room.
        const beside = first + (first < values.length - 1 ? 0.5 : -0.5)
        const line = stretch.length > 1 ? stretch : [...stretch, [beside, stretch[0]![1]] as const]
        const points = line.map(([i, value]) => `${x(i)},${y(value)}`).join(' ')
        return (
          <g key={first}>
            <polygon
              points={`${x(first)},${HEIGHT} ${points} ${x(last)},${HEIGHT}`}
              fill="currentColor"
              fill-opacity="0.12"
            />
            <polyline
              points={points}
              fill="none"
              stroke="currentColor"
              stroke-width="1.5"
              vector-effect="non-scaling-stroke"
            />
          </g>
        )
      })}
    </svg>
  )
}

/** A figure with its name, what it is made of, and how it went. @param href the list of what it counts; default none */
export const Figure = ({
  name,
  value,
  href,
  detail,
  children,
}: {
  name: string
  value: string
  href?: string
  detail?: ComponentChildren
  children?: ComponentChildren
}) => (
  <div class={`figure ${href === undefined ? '' : 'linked'}`}>
    <dt>{name}</dt>
    <dd class="value number">{href === undefined ? value : <a href={href}>{value}</a>}</dd>
    <dd>{detail || '\u00a0'}</dd>
    {children !== undefined && <dd>{children}</dd>}
  </div>
)

/** A share from 0 to 1 as a bar; the figure stands beside it in words. */
export const Bar = ({ share, tone = '' }: { share: number; tone?: '' | 'amber' | 'danger' }) => (
  <span class={`bar ${tone}`} aria-hidden="true">
    <span style={{ width: `${Math.min(1, share) * 100}%` }} />
  </span>
)
