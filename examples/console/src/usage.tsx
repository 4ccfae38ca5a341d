import type { Schemas } from '@turnpike/client'
import type { Column } from '@turnpike/ui'
import {
  Ago,
  BudgetBar,
  budgetRest,
  budgetUse,
  Copy,
  count,
  Dialog,
  Empty,
  Field,
  Figure,
  Form,
  linkTo,
  Loaded,
  NONE,
  numberColumn,
  Page,
  Panel,
  plural,
  route,
  Segmented,
  setQuery,
  shortId,
  Table,
  textOf,
  usd,
  useAction,
  useData,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { credits, tokensOf } from './units.js'
import { account, turnpike } from './turnpike.js'
import { PagedTable, usePages } from './use-pages.js'

type Session = Schemas['Session']
type KeyUsage = Schemas['KeysUsage']['keys'][number]

const HOUR_MS = 3_600_000

const periods = [
  ['', 'All time'],
  ['24', '24 hours'],
  ['168', '7 days'],
  ['720', '30 days'],
] as const

/** What the user has left. */
function Balance() {
  const data = useData(
    (signal) =>
      Promise.all([turnpike.get('/api/account/balance', { signal }), turnpike.get('/api/account', { signal })]),
    [],
  )
  return (
    <Loaded data={data}>
      {([{ credit_coins: left }, { budget, budget_used_usd: used }]) => (
        <dl class="figures">
          {budget && (
            <Figure name="Budget left" value={budgetRest({ budget, used })} detail={budgetUse({ budget, used })}>
              <BudgetBar budget={budget} used={used} />
            </Figure>
          )}
          <Figure
            name="Credits"
            value={credits(left)}
            detail={`= ${tokensOf(left)}, of prompts and answers alike. The server takes off what your requests, conversations and tasks use, unless its administrator has turned that off; administrators add credits.`}
          />
        </dl>
      )}
    </Loaded>
  )
}

const keyColumns: Column<KeyUsage>[] = [
  { name: 'Key', cell: ({ name }) => name, sort: ({ name }) => name },
  numberColumn('Requests', (one) => one.requests, count),
  numberColumn('Tokens in', (one) => one.prompt_tokens, count),
  numberColumn('Tokens out', (one) => one.completion_tokens, count),
  numberColumn('Cost', (one) => one.cost_usd, usd),
]

/** What the keys used in a period. */
function KeysUsage() {
  const given = route.value.query.get('hours') ?? ''
  const hours = periods.find(([key]) => key === given)?.[0] ?? ''
  const data = useData(
    (signal) => {
      const from = new Date(Date.now() - Number(hours) * HOUR_MS).toISOString()
      return turnpike.get('/api/keys/usage', { ...(hours && { query: { from } }), signal })
    },
    [hours],
  )
  return (
    <Panel
      title="Keys"
      actions={<Segmented label="Period" options={periods} value={hours} onChange={(hours) => setQuery({ hours })} />}
    >
      <Loaded data={data}>
        {({ keys, requests, total_tokens, cost_usd }) =>
          keys.length === 0 ? (
            <Empty title="No key yet">
              <p>
                Make one in <a href={linkTo('/keys')}>Keys</a>, and send a request with it.
              </p>
            </Empty>
          ) : (
            <>
              <Table caption="What keys used" columns={keyColumns} rows={keys} rowKey={({ id }) => id} sorted={4} />
              <p class="foot muted small number">
                Together {plural(requests, 'request')}, {count(total_tokens)} tokens, {usd(cost_usd)}
              </p>
            </>
          )
        }
      </Loaded>
    </Panel>
  )
}

/** Asks for the label and the end of a session. */
function NewSession({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const make = useAction(async (fields: FormData) => {
    const [label, end] = [textOf(fields, 'label'), textOf(fields, 'end')]
    await turnpike.post('/api/sessions', {
      body: { ...(label && { label }), ...(end && { expiresAt: new Date(end).toISOString() }) },
    })
    onMade()
    onClose()
  })
  return (
    <Dialog title="New session" form="box" onClose={onClose}>
      <Form action={make} label="Make session">
        <Field label="Label" hint="What the requests have in common.">
          {(ids) => <input {...ids} name="label" maxLength={200} required autofocus />}
        </Field>
        <Field label="End" hint="Requests after it do not count here. Without one, it stays open.">
          {(ids) => <input {...ids} name="end" type="datetime-local" />}
        </Field>
      </Form>
    </Dialog>
  )
}

const sessionColumns: Column<Session>[] = [
  { name: 'Label', cell: ({ label }) => label ?? NONE },
  {
    name: 'Id',
    cell: ({ id }) => (
      <span class="together">
        <span class="mono">{shortId(id)}</span>
        <Copy text={id} class="link" />
      </span>
    ),
  },
  { name: 'Requests', number: true, cell: (one) => count(one.request_count) },
  { name: 'Tokens in', number: true, cell: (one) => count(one.prompt_tokens) },
  { name: 'Tokens out', number: true, cell: (one) => count(one.completion_tokens) },
  { name: 'Cost', number: true, cell: (one) => usd(one.cost_usd) },
  { name: 'Made', number: true, cell: (one) => <Ago at={one.created_at} /> },
  { name: 'Ends', number: true, cell: ({ expires_at: at }) => (at === null ? NONE : <Ago at={at} />) },
]

function Sessions() {
  const [isMaking, setMaking] = useState(false)
  const pages = usePages((page, signal) => turnpike.list('/api/sessions', { query: page, signal }))
  return (
    <Panel
      title="Sessions"
      actions={
        <button type="button" onClick={() => setMaking(true)}>
          New session
        </button>
      }
    >
      <PagedTable
        caption="Sessions"
        columns={sessionColumns}
        pages={pages}
        name="session"
        empty={
          <Empty title="No session yet">
            <p>
              A session sums up what requests used together. Make one, and send its id as the header{' '}
              <code>X-Session-ID</code>.
            </p>
          </Empty>
        }
      />
      {isMaking && <NewSession onClose={() => setMaking(false)} onMade={pages.again} />}
    </Panel>
  )
}

/** What the user has left and has used. */
export function Usage() {
  const isDeveloper = account.value!.role !== 'user'
  return (
    <Page title="Usage">
      <p class="small muted">
        {isDeveloper ? (
          <>
            Requests with your <a href={linkTo('/keys')}>keys</a>, and those that name a session.
          </>
        ) : (
          'Requests that name a session.'
        )}{' '}
        What conversations and tasks cost is in their <a href={linkTo('/projects')}>project</a>.
      </p>
      <Balance />
      {isDeveloper && <KeysUsage />}
      <Sessions />
    </Page>
  )
}
