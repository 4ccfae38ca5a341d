import { Icon, icons, route, setQuery, time } from '@turnpike/ui'
import type { RequestEvent } from './answers.js'
import type { Names } from './names.js'

/** What requests are chosen by, besides their result and a text: the field of the page's address, its name, and what a request has there. */
const facets = [
  ['model', 'Model', ({ model, requested_model }: RequestEvent) => model ?? requested_model],
  ['provider', 'Provider', ({ provider }: RequestEvent) => provider],
  ['user', 'User', ({ user_id }: RequestEvent) => user_id],
  ['key', 'Key', ({ key_id }: RequestEvent) => key_id],
  ['project', 'Project', ({ project_id }: RequestEvent) => project_id],
  [
    'code',
    'Error',
    ({ error_code, outcome }: RequestEvent) => error_code ?? (outcome === 'complete' ? undefined : outcome),
  ],
] as const
type Facet = (typeof facets)[number][0]

/** The periods to choose from, in hours. */
const periods = [
  ['1', 'Last hour'],
  ['24', 'Last 24 hours'],
  ['168', 'Last 7 days'],
] as const

/** All fields of the address that requests are chosen by. */
export const fields = [...facets.map(([field]) => field), 'result', 'filter', 'hours', 'since', 'until'] as const

/** A value as people know it. */
function textOf(field: Facet, value: string, names: Names): string {
  if (field === 'user' || field === 'key' || field === 'project') return names[field](value)
  return field === 'code' ? value.replaceAll('_', ' ') : value
}

/** A time that is typed in the browser's zone, in ISO 8601; '' where it is none. */
const isoOf = (local: string): string => {
  const at = new Date(local)
  return Number.isNaN(at.getTime()) ? '' : at.toISOString()
}
const localOf = (iso: string | null): string => {
  if (iso === null || Number.isNaN(Date.parse(iso))) return ''
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}

/** Whether a request is among those that the address asks for, but for its text and result. */
export function filterOf(query: URLSearchParams, now: number): (event: RequestEvent) => boolean {
  const wanted = facets.flatMap(([field, , of]) => {
    const value = query.get(field)
    return value === null ? [] : [(event: RequestEvent) => of(event) === value]
  })
  const hours = Number(query.get('hours') ?? 0)
  const since = hours > 0 ? new Date(now - hours * 3_600_000).toISOString() : (query.get('since') ?? '')
  const until = query.get('until') ?? ''
  return (event) =>
    event.time >= since && (until === '' || event.time < until) && wanted.every((isWanted) => isWanted(event))
}

/** Finds requests by a text. What they are found by is put together once, as each letter that is typed compares thousands. */
export function finderOf(names: Names): (event: RequestEvent, text: string) => boolean {
  const known = new WeakMap<RequestEvent, string>()
  return (event, text) => {
    let all = known.get(event)
    if (all === undefined) {
      const { request_id, model, requested_model, provider, user_id, key_id, error_code, failed_calls, route } = event
      const ids = [request_id, user_id, key_id, user_id && names.user(user_id), key_id && names.key(key_id)]
      const others = [`${provider}/${model}`, requested_model, error_code, failed_calls, route, event.status]
      known.set(event, (all = [...ids, ...others].join('\n').toLowerCase()))
    }
    return all.includes(text)
  }
}

/** How often each value of a facet occurs, the most frequent first. */
function valuesOf(rows: readonly RequestEvent[], of: (event: RequestEvent) => string | undefined): [string, number][] {
  const counts = new Map<string, number>()
  for (const row of rows) {
    const value = of(row)
    if (value !== undefined) counts.set(value, (counts.get(value) ?? 0) + 1)
  }
  return [...counts].toSorted(([, a], [, b]) => b - a)
}

/** The menu that requests are chosen in. @param rows those that the choices are taken from */
export function FilterMenu({ rows, names }: { rows: readonly RequestEvent[]; names: Names }) {
  const { query } = route.value
  return (
    <div class="filters">
      {facets.map(([field, name, of]) => {
        const value = query.get(field) ?? ''
        const values = valuesOf(rows, of)
        if (value !== '' && !values.some(([one]) => one === value)) values.unshift([value, 0])
        return (
          <label class="field" key={field}>
            <span>{name}</span>
            <select value={value} onChange={(event) => setQuery({ [field]: event.currentTarget.value })}>
              <option value="">Any</option>
              {values.map(([one, count]) => (
                <option key={one} value={one}>
                  {textOf(field, one, names)}
                  {count > 0 && ` (${count})`}
                </option>
              ))}
            </select>
          </label>
        )
      })}
      <label class="field">
        <span>Time</span>
        <select
          value={query.get('hours') ?? ''}
          onChange={(event) => setQuery({ hours: event.currentTarget.value, since: '', until: '' })}
        >
          <option value="">Any</option>
          {periods.map(([hours, name]) => (
            <option key={hours} value={hours}>
              {name}
            </option>
          ))}
        </select>
      </label>
      {(['since', 'until'] as const).map((field) => (
        <label class="field" key={field}>
          <span>{field === 'since' ? 'From' : 'Until'}</span>
          <input
            type="datetime-local"
            value={localOf(query.get(field))}
            onChange={(event) => setQuery({ [field]: isoOf(event.currentTarget.value), hours: '' })}
          />
        </label>
      ))}
    </div>
  )
}

/** What requests are chosen by now; each can be removed. */
export function FilterChips({ names }: { names: Names }) {
  const { query } = route.value
  const chips = [
    ...facets.map(([field, name]) => {
      const value = query.get(field)
      return [field, value !== null && `${name}: ${textOf(field, value, names)}`] as const
    }),
    ['hours', periods.find(([hours]) => hours === query.get('hours'))?.[1]] as const,
    ['since', query.has('since') && `From ${time(query.get('since')!)}`] as const,
    ['until', query.has('until') && `Until ${time(query.get('until')!)}`] as const,
  ].filter(([, text]) => text)
  if (chips.length === 0) return null
  return (
    <div class="row chips" role="group" aria-label="Filters in force">
      {chips.map(([field, text]) => (
        <button
          key={field}
          type="button"
          aria-label={`Remove filter ${text}`}
          onClick={() => setQuery({ [field]: '' })}
        >
          {text}
          <Icon icon={icons.Close} size={12} />
        </button>
      ))}
      <button
        type="button"
        class="quiet"
        onClick={() => setQuery(Object.fromEntries(fields.map((field) => [field, ''])))}
      >
        Clear all
      </button>
    </div>
  )
}

/** The user whose requests are asked for, also by a key of theirs; '' = all. */
export const userOf = (query: URLSearchParams, names: Names): string =>
  query.get('user') ?? names.ownerOf(query.get('key') ?? '') ?? ''
