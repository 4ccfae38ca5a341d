import type { Schemas } from '@turnpike/client'
import type { Column } from '@turnpike/ui'
import {
  Ago,
  count,
  Dialog,
  Empty,
  EndField,
  endIn,
  Field,
  Form,
  NONE,
  Panel,
  textOf,
  usd,
  useAction,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { ShortId } from './short-id.js'
import { PagedTable, usePages } from '../use-pages.js'

type Session = Schemas['Session']

/** Asks for the label and the end of a session. */
function NewSession({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const make = useAction(async (fields: FormData) => {
    const body = { label: textOf(fields, 'label'), expiresAt: endIn(fields) }
    await turnpike.post('/api/sessions', { body })
    onMade()
    onClose()
  })
  return (
    <Dialog title="New session" form="box" onClose={onClose}>
      <Form action={make} label="Create session">
        <Field label="Label" hint="What the requests have in common.">
          {(ids) => <input {...ids} name="label" maxLength={200} required autofocus />}
        </Field>
        <EndField hint="Requests after it do not count here. Without one, it stays open." />
      </Form>
    </Dialog>
  )
}

const sessionColumns: Column<Session>[] = [
  {
    name: 'Session',
    cell: ({ id, label }) => (
      <>
        {label ?? NONE} <ShortId id={id} />
      </>
    ),
  },
  { name: 'Requests', number: true, cell: (one) => count(one.request_count) },
  { name: 'Tokens in', number: true, cell: (one) => count(one.prompt_tokens) },
  { name: 'Tokens out', number: true, cell: (one) => count(one.completion_tokens) },
  { name: 'Cost', number: true, cell: (one) => usd(one.cost_usd) },
  { name: 'Created', number: true, cell: (one) => <Ago at={one.created_at} /> },
  { name: 'Ends', number: true, cell: ({ expires_at: at }) => (at === null ? NONE : <Ago at={at} />) },
]

/** The sessions of the user, with what each used in all. */
export function Sessions() {
  const [isMaking, setMaking] = useState(false)
  const pages = usePages((page, signal) => turnpike.list('/api/sessions', { query: page, signal }))
  return (
    <Panel
      title="All sessions"
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
