import type { Column } from '@turnpike/ui'
import { count, duration, NONE, numberColumn, setQuery, Status, time, usd, words, RowLink } from '@turnpike/ui'
import type { RequestEvent } from './answers.js'
import type { Names } from './names.js'
import { resultOf } from './outcomes.js'

/** The model that answered, else the one that was asked for. */
export const modelOf = ({ provider, model, requested_model }: RequestEvent): string =>
  model === undefined ? (requested_model ?? NONE) : `${provider}/${model}`

/** The model, or what else was asked for. */
export const nameOf = (event: RequestEvent): string =>
  (event.model ?? event.requested_model) === undefined ? event.route : modelOf(event)

export const costOf = ({ cost_usd, unpriced }: RequestEvent): string =>
  cost_usd === undefined ? NONE : unpriced ? 'unknown' : usd(cost_usd)

/** All tokens of a request; undefined where none are known. */
const tokensOf = ({ prompt_tokens: a, completion_tokens: b }: RequestEvent): number | undefined =>
  a === undefined ? undefined : a + (b ?? 0)

const tones = { refused: 'warn', failed: 'bad', left: 'off' } as const

/** How a request ended, in words. */
export function ResultStatus({ event }: { event: RequestEvent }) {
  const result = resultOf(event)
  if (result === 'ok') return <Status tone={event.failed_calls === undefined ? 'good' : 'warn'}>{event.status}</Status>
  return (
    <Status tone={tones[result]}>
      {event.status} {words(event.error_code ?? event.outcome ?? '')}
    </Status>
  )
}

const byId = (id: string | undefined, nameOf: (id: string) => string): string => (id ? nameOf(id) : NONE)

/** The columns of the request log. */
export const requestColumns = (names: Names): Column<RequestEvent>[] => [
  {
    name: 'Time',
    sort: ({ time }) => time,
    cell: (event) => (
      <RowLink class="nowrap" open={() => setQuery({ id: event.request_id })}>
        {time(event.time)}
      </RowLink>
    ),
  },
  { name: 'Result', cell: (event) => <ResultStatus event={event} />, sort: (event) => event.status },
  { name: 'Model', cell: nameOf, sort: nameOf },
  {
    name: 'User',
    cell: ({ user_id }) => byId(user_id, names.user),
    sort: ({ user_id }) => byId(user_id, names.user),
  },
  { name: 'Key', cell: ({ key_id }) => byId(key_id, names.key), sort: ({ key_id }) => byId(key_id, names.key) },
  numberColumn('Duration', ({ duration_ms }) => duration_ms, duration),
  numberColumn('First token', ({ first_token_ms }) => first_token_ms, duration),
  numberColumn('Tokens', tokensOf, (tokens) => (tokens === undefined ? NONE : count(tokens))),
  { name: 'Cost', number: true, cell: costOf, sort: ({ cost_usd }) => cost_usd ?? -1 },
  { name: 'Route', cell: ({ route }) => route, sort: ({ route }) => route, hidden: true },
  { name: 'Asked for', cell: ({ requested_model }) => requested_model ?? NONE, hidden: true },
  { name: 'Project', cell: ({ project_id }) => byId(project_id, names.project), hidden: true },
  {
    name: 'Calls',
    number: true,
    cell: ({ attempts }) => attempts ?? NONE,
    sort: ({ attempts }) => attempts ?? -1,
    hidden: true,
  },
  { name: 'Streamed', cell: ({ stream }) => (stream ? 'yes' : 'no'), hidden: true },
  { name: 'Request id', cell: ({ request_id }) => <span class="mono small">{request_id}</span>, hidden: true },
]
