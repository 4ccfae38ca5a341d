import type { Schemas } from '@turnpike/client'
import type { Column } from '@turnpike/ui'
import { count, ErrorNotice, Field, NONE, Panel, Table, time, usd, useData } from '@turnpike/ui'
import { Markdown } from '@turnpike/ui/markdown'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { PagedList, useAgain, usePages } from '../use-pages.js'
import { DiffView } from './diff-view.js'
import type { Task } from './tasks.js'
import { isDrafted } from './tasks.js'

type Revision = Schemas['TaskRevision']

/** Revisions of a page: each may have a megabyte of text. */
const PER_PAGE = 20

const Choice = ({
  label,
  revisions,
  value,
  onChange,
}: {
  label: string
  revisions: readonly Revision[]
  value: Revision
  onChange: (id: string) => void
}) => (
  <Field label={label}>
    {(ids) => (
      <select {...ids} value={value.id} onChange={(event) => onChange(event.currentTarget.value)}>
        {revisions.map(({ id, created_at, output }) => (
          <option key={id} value={id}>
            {time(created_at)} ({count(output.length)} characters)
          </option>
        ))}
      </select>
    )}
  </Field>
)

/** How any two revisions differ; at first, the newest from the one before. */
function Compare({ revisions }: { revisions: readonly Revision[] }) {
  const [ids, setIds] = useState<readonly (string | undefined)[]>([])
  const pick = (id: string | undefined, standard: Revision): Revision =>
    revisions.find((one) => one.id === id) ?? standard
  const before = pick(ids[0], revisions[1] ?? revisions[0]!)
  const after = pick(ids[1], revisions[0]!)
  return (
    <div class="body stack">
      <div class="pair">
        <Choice label="From" revisions={revisions} value={before} onChange={(id) => setIds([id, ids[1]])} />
        <Choice label="To" revisions={revisions} value={after} onChange={(id) => setIds([ids[0], id])} />
      </div>
      <DiffView before={before.output} after={after.output} names={[time(before.created_at), time(after.created_at)]} />
    </div>
  )
}

/** What the task cost: in all, for each revision since the one before, and since the last. */
function Cost({ spend, revisions }: { spend: Schemas['TaskSpend']; revisions: readonly Revision[] }) {
  const times = new Map(revisions.map(({ id, created_at }) => [id, created_at]))
  const rows = [
    ...(spend.revisions.length > 0 ? [{ id: 'since', name: 'Since the last revision', ...spend.since }] : []),
    ...spend.revisions.map((one) => {
      const made = times.get(one.id)
      return { ...one, name: made === undefined ? 'An older revision' : `For the revision of ${time(made)}` }
    }),
    { id: 'all', name: 'In all', ...spend },
  ]
  const columns: Column<(typeof rows)[number]>[] = [
    { name: 'What', cell: ({ name }) => name },
    { name: 'Requests', number: true, cell: ({ requests }) => count(requests) },
    { name: 'Tokens', number: true, cell: ({ total_tokens }) => count(total_tokens) },
    { name: 'Cost', number: true, cell: ({ cost_usd, requests }) => (requests === 0 ? NONE : usd(cost_usd)) },
  ]
  return <Table caption="What the task cost" columns={columns} rows={rows} rowKey={({ id }) => id} />
}

/** The draft of a task that is done, where another text became the output. */
const OldDraft = ({ text }: { text: string }) => (
  <details class="body">
    <summary>A draft that did not become the output</summary>
    <Markdown text={text} showsAll />
  </details>
)

/** The revisions of a task, and what they cost; nothing of what there is not yet. */
export function Revisions({ task }: { task: Task }) {
  const { id, updated_at } = task
  const params = { id }
  const pages = usePages(
    (page, signal) => turnpike.list('/api/tasks/{id}/revisions', { params, query: page, signal }),
    { limit: PER_PAGE },
  )
  useAgain(pages, updated_at)
  const spend = useData((signal) => turnpike.get('/api/tasks/{id}/spend', { params, signal }), [id, updated_at])
  const oldDraft = task.status === 'done' && isDrafted(task) ? task.draft_output : null
  const isRevised = (pages.value?.items.length ?? 0) > 1
  const isPaid = (spend.value?.requests ?? 0) > 0
  return (
    <>
      {(isRevised || oldDraft !== null) && (
        <Panel title="Revisions">
          {oldDraft !== null && <OldDraft text={oldDraft} />}
          {isRevised && (
            <PagedList pages={pages} name="revision" empty={null}>
              {(revisions) => <Compare revisions={revisions} />}
            </PagedList>
          )}
        </Panel>
      )}
      <ErrorNotice error={pages.error} again={pages.again} />
      <ErrorNotice error={spend.error} again={spend.again} />
      {spend.value && isPaid && (
        <Panel title="Cost" actions={<b class="cost number">{usd(spend.value.cost_usd)}</b>}>
          <Cost spend={spend.value} revisions={pages.value?.items ?? []} />
        </Panel>
      )}
    </>
  )
}
