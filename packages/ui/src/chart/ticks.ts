const HOUR_MS = 3_600_000

/** Hours between two labels of a time axis: those that a day, or a number of days, is made of. */
const steps = [1, 2, 3, 4, 6, 8, 12, 24, 48, 96, 168, 336]

/**
 * The indexes that a time axis labels: at whole multiples of hours, or days, of the reader's clock.
 * @param times starts of equal steps, in milliseconds
 * @param most most labels
 */
export function ticksOf(times: readonly number[], most: number): number[] {
  if (times.length < 2) return [...times.keys()]
  const length = Math.round((times[1]! - times[0]!) / HOUR_MS)
  const hours = steps.find((step) => step >= length && (times.length * length) / step <= most) ?? steps.at(-1)!
  if (hours < 24) return [...times.keys()].filter((i) => new Date(times[i]!).getHours() % hours === 0)
  const days = [...times.keys()].filter((i) => length >= 24 || new Date(times[i]!).getHours() === 0)
  return days.filter((_, i) => i % (hours / 24) === 0)
}

/** A time of an axis: the hour, or at midnight the day. */
export function tickText(time: number): string {
  const date = new Date(time)
  return date.getHours() + date.getMinutes() === 0
    ? date.toLocaleDateString('en-GB', { day: 'numeric', month: 'short' })
    : date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })
}

/** A step of an axis in full: `Mon 24 Nov`, and of an hour `Mon 24 Nov, 14:00`. */
export function stepText(time: number, isDay: boolean): string {
  const date = new Date(time)
  const day = date.toLocaleDateString('en-GB', { weekday: 'short', day: 'numeric', month: 'short' }).replace(',', '')
  return isDay ? day : `${day}, ${date.toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })}`
}

/** The labels of an axis of figures, with as many decimals in each as in the longest: `$0.010` beside `$0.015`. */
export function sameDecimals(labels: readonly string[]): string[] {
  const decimals = (label: string): string => /\.(\d+)/.exec(label)?.[1] ?? ''
  const most = Math.max(0, ...labels.map((label) => decimals(label).length))
  return labels.map((label) => label.replace(/\.\d+/, (part) => part.padEnd(most + 1, '0')))
}
