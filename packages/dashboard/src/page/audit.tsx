import type { Column } from '@turnpike/ui'
import {
  Ago,
  Dialog,
  Empty,
  Facts,
  Field,
  Filter,
  Loaded,
  matches,
  NONE,
  Page,
  Panel,
  plural,
  route,
  setQuery,
  shortId,
  Status,
  Table,
  time,
  useData,
  RowLink,
} from '@turnpike/ui'
import type { AuditEntry, Key, UsageRow } from './answers.js'
import { read } from './api.js'
import { actionName, isOfKind, isRefusal, kinds } from './audit-words.js'
import type { Rows } from './rows.js'

/** Days that are read, by the field of the query; `all` = as many as are kept. */
const periods = [
  ['1', 'the last day'],
  ['7', 'the last 7 days'],
  ['30', 'the last 30 days'],
  ['', 'all time'],
] as const
const DAY_MS = 86_400_000
/** Entries of a page, and most of them. */
const [PAGE, MOST] = [500, 10_000]

/** The entries of so many days, newest first. */
async function readAudit(days: string, signal: AbortSignal): Promise<Rows<AuditEntry>> {
  const from = days === '' ? 0 : Date.now() - Number(days) * DAY_MS
  const rows: AuditEntry[] = []
  for (let after = ''; ;) {
    const { data, next } = await read<{ data: AuditEntry[]; next?: string }>(`audit?limit=${PAGE}${after}`, signal)
    const recent = data.filter(({ timestamp }) => Date.parse(timestamp) >= from)
    rows.push(...recent)
    if (next === undefined || recent.length < data.length) return { rows, cut: false }
    if (rows.length >= MOST) return { rows, cut: true }
    after = `&after=${next}`
  }
}

/** The names of users and keys by their ids, as far as the first pages have them. */
async function readNames(signal: AbortSignal): Promise<Map<string, string>> {
  const [users, keys] = await Promise.all([
    read<{ data: (UsageRow & { email?: string })[] }>('users/summary?limit=500', signal),
    read<{ data: Key[] }>('keys?limit=500', signal),
  ])
  return new Map([
    ...users.data.map(({ id, name, email }) => [id, email || name || id] as const),
    ...keys.data.map(({ id, name }) => [id, name] as const),
  ])
}

/** Who or what an id is, by its name where that is known. */
const Named = ({ id, names }: { id: string; names: Map<string, string> }) => (
  <span class="break" title={id}>
    {names.get(id) ?? (id.length > 30 ? <span class="mono small">{shortId(id)}</span> : id)}
  </span>
)

const columnsOf = (names: Map<string, string>): Column<AuditEntry>[] => [
  {
    name: 'What',
    cell: ({ id, action }) => (
      <>
        <RowLink open={() => setQuery({ id })}>{actionName(action)}</RowLink>
        {isRefusal(action) && <Status tone="warn">refused</Status>}
      </>
    ),
  },
  { name: 'Who', cell: ({ actor }) => <Named id={actor} names={names} /> },
  { name: 'Target', cell: ({ target }) => <Named id={target} names={names} /> },
  { name: 'Details', cell: ({ detail }) => detail || NONE },
  { name: 'When', number: true, cell: ({ timestamp }) => <Ago at={timestamp} /> },
]

const Entry = ({ of: entry, names }: { of: AuditEntry; names: Map<string, string> }) => (
  <Dialog title={actionName(entry.action)} onClose={() => setQuery({ id: undefined })}>
    <Facts
      facts={[
        ['When', time(entry.timestamp, new Date(0))],
        ['Who', names.get(entry.actor) ?? entry.actor],
        ['Id of who', names.has(entry.actor) && <span class="mono">{entry.actor}</span>],
        ['Target', names.get(entry.target) ?? entry.target],
        ['Target id', names.has(entry.target) && <span class="mono">{entry.target}</span>],
        ['Details', entry.detail],
        ['Action', <code>{entry.action}</code>],
      ]}
    />
  </Dialog>
)

export function Audit() {
  const { query } = route.value
  const [who, what, days, filter] = ['who', 'what', 'days', 'filter'].map((name) => query.get(name) ?? '') as [
    string,
    string,
    string,
    string,
  ]
  const shownDays = query.has('days') ? days.replace('all', '') : '7'
  const data = useData((signal) => readAudit(shownDays, signal), [shownDays])
  const names = useData(readNames, []).value ?? new Map<string, string>()
  const isShown = ({ actor, target, action, detail }: AuditEntry): boolean =>
    isOfKind(action, what) &&
    (who === '' || actor === who || target === who) &&
    matches(filter, [actor, names.get(actor), target, names.get(target), detail, actionName(action)])
  const opened = data.value?.rows.find(({ id }) => id === query.get('id'))
  return (
    <Page title="Audit log">
      <div class="fields">
        <Field label="What">
          {(ids) => (
            <select {...ids} onChange={(event) => setQuery({ what: event.currentTarget.value })}>
              {kinds.map(([kind, text]) => (
                <option key={kind} value={kind} selected={kind === what}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Field label="When">
          {(ids) => (
            <select {...ids} onChange={(event) => setQuery({ days: event.currentTarget.value || 'all' })}>
              {periods.map(([period, text]) => (
                <option key={period} value={period} selected={period === shownDays}>
                  {text}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Filter value={filter} hint="Who, what, address" onChange={(filter) => setQuery({ filter })} />
        {who !== '' && (
          <button type="button" onClick={() => setQuery({ who: undefined })}>
            Only {names.get(who) ?? shortId(who)}: show all
          </button>
        )}
      </div>
      <Loaded data={data}>
        {({ rows, cut }) => {
          const shown = rows.filter(isShown)
          return (
            <Panel title={`${cut ? 'Of the first 10,000: ' : ''}${plural(shown.length, 'event')}`}>
              {shown.length === 0 ? (
                <Empty title="Nothing of this kind in this time">
                  <p>What administrators and users change is listed here, with sign-ins.</p>
                </Empty>
              ) : (
                <Table caption="Audit log" columns={columnsOf(names)} rows={shown} rowKey={({ id }) => id} />
              )}
            </Panel>
          )
        }}
      </Loaded>
      {opened && <Entry of={opened} names={names} />}
    </Page>
  )
}
