const locale = 'en'
const whole = new Intl.NumberFormat(locale)
const compact = new Intl.NumberFormat(locale, { notation: 'compact', maximumFractionDigits: 1 })

/** What is shown where there is no value. */
export const NONE = '–'

/** `12,345`; from 100,000 on `123.5K`. */
export const count = (value: number): string => (value < 100_000 ? whole : compact).format(value)

/** US dollars with three significant digits at least: `$0.000165`, `$0.42`, `$1,234.50`. */
export function usd(value: number): string {
  if (value === 0) return '$0'
  const size = Math.abs(value)
  const digits = size >= 1 ? 2 : Math.min(9, 2 - Math.floor(Math.log10(size)))
  const text = size.toLocaleString(locale, { minimumFractionDigits: 2, maximumFractionDigits: digits })
  return `${value < 0 ? '-' : ''}$${text}`
}

/** `1 row`, `2 rows`. */
export const plural = (value: number, name: string): string => `${count(value)} ${name}${value === 1 ? '' : 's'}`

/** A share from 0 to 1 as `3.7 %`. */
export const percent = (share: number): string =>
  `${(share * 100).toLocaleString(locale, { maximumFractionDigits: 1 })} %`

/** `85 ms`, `5.8 s`, `3 min`. */
export function duration(ms: number | null | undefined): string {
  if (ms === null || ms === undefined) return NONE
  if (ms < 1000) return `${Math.round(ms)} ms`
  if (ms < 120_000) return `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`
  return `${Math.round(ms / 60_000)} min`
}

/** `1.2 MB`, of bytes. */
export function bytes(value: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB']
  let at = 0
  while (value >= 999.5 && at < units.length - 1) {
    value /= 1000
    at++
  }
  return `${value < 10 && at > 0 ? value.toFixed(1) : Math.round(value)} ${units[at]}`
}

/** A time of ISO 8601 as the reader's clock shows it: `14:03:27` today, else `24 Nov, 14:03`. */
export function time(iso: string, now = new Date()): string {
  const date = new Date(iso)
  if (date.toDateString() === now.toDateString()) return date.toLocaleTimeString('en-GB')
  const year = date.getFullYear() === now.getFullYear() ? undefined : 'numeric'
  return date.toLocaleString('en-GB', { day: 'numeric', month: 'short', year, hour: '2-digit', minute: '2-digit' })
}

/** A time of ISO 8601 with its day: `25 Nov, 14:03`. */
export const dayAndTime = (iso: string): string => time(iso, new Date(0)).replace(/ \d{4}(?=,)/, '')

const relative = new Intl.RelativeTimeFormat('en-GB', { numeric: 'auto', style: 'short' })
const MINUTE_MS = 60_000

/** A time of ISO 8601 from now: `just now`, `3 min ago`, `in 2 hrs`, `yesterday`, and beyond a week the day, as {@link time} has it. */
export function ago(iso: string, now = Date.now()): string {
  const minutes = (Date.parse(iso) - now) / MINUTE_MS
  const size = Math.abs(minutes)
  if (size < 1) return 'just now'
  if (size < 60) return relative.format(Math.trunc(minutes), 'minute')
  if (size < 24 * 60) return relative.format(Math.trunc(minutes / 60), 'hour')
  if (size < 7 * 24 * 60) return relative.format(Math.round(minutes / 60 / 24), 'day')
  return time(iso, new Date(now)).replace(/, \d\d:\d\d$/, '')
}

/** `upstream_error` as `upstream error`. */
export const words = (code: string): string => code.replaceAll('_', ' ')

/** The beginning of an id that tells it from others: ids of version 7 begin with the time. */
export const shortId = (id: string): string => (id.length > 12 ? `…${id.slice(-8)}` : id)

/** Whether one of the texts contains what is looked for, in upper or lower case. */
export function matches(wanted: string, texts: readonly (string | null | undefined)[]): boolean {
  const lower = wanted.toLowerCase()
  return texts.some((text) => text?.toLowerCase().includes(lower))
}

/** CSV by RFC 4180. Text that a spreadsheet would take for a formula gets an apostrophe before it. */
export function csv(rows: (string | number | null)[][]): string {
  const cell = (value: string | number | null): string => {
    if (typeof value === 'number') return String(value)
    // Where a list has semicolons or tabs between its cells, one begins behind each of them as well.
    const text = (value ?? '').replace(/^(?=\s)|(^|[;\t])(?=\s*[=+\-@\uFF1D\uFF0B\uFF0D\uFF20])/g, "$1'")
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
  }
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('')
}
