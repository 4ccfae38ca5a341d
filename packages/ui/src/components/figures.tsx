import type { ComponentChildren } from 'preact'

const WIDTH = 120
const HEIGHT = 32

/** A line without axes, for how a figure went. */
export function Spark({ values, tone = '' }: { values: readonly number[]; tone?: '' | 'amber' | 'danger' }) {
  if (values.length < 2) return null
  const most = Math.max(...values) || 1
  const points = values
    .map(
      (value, i) =>
        `${((i / (values.length - 1)) * WIDTH).toFixed(1)},${(HEIGHT - 2 - (value / most) * (HEIGHT - 4)).toFixed(1)}`,
    )
    .join(' ')
  return (
    <svg
      class={`spark ${values.some((value) => value > 0) ? tone : 'none'}`}
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      aria-hidden="true"
    >
      <polygon points={`0,${HEIGHT} ${points} ${WIDTH},${HEIGHT}`} fill="currentColor" fill-opacity="0.12" />
      <polyline
        points={points}
        fill="none"
        stroke="currentColor"
        stroke-width="1.5"
        vector-effect="non-scaling-stroke"
      />
    </svg>
  )
}

/** A figure with its name, what it is made of, and how it went. */
export const Figure = ({
  name,
  value,
  detail,
  children,
}: {
  name: string
  value: string
  detail?: ComponentChildren
  children?: ComponentChildren
}) => (
  <div class="figure">
    <dt>{name}</dt>
    <dd class="value number">{value}</dd>
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
