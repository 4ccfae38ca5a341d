import type { Schemas } from '@turnpike/client'
import type { Column } from '@turnpike/ui'
import {
  BudgetFields,
  budgetIn,
  BudgetUse,
  ConfirmButton,
  count,
  Dialog,
  Empty,
  ErrorNotice,
  Facts,
  Form,
  LimitField,
  MOST_REQUESTS,
  numberIn,
  Panel,
  plural,
  time,
  usd,
  useAction,
  useSave,
  RowLink,
} from '@turnpike/ui'
import { useState } from 'preact/hooks'
import { turnpike } from '../turnpike.js'
import { PagedTable, usePages } from '../use-pages.js'
import type { Key } from './keys.js'

type EndUser = Schemas['EndUser']

const perMinute = (limit: number | undefined): string => (limit === undefined ? 'the limit of the key' : count(limit))

const limitsIn = (fields: FormData) => ({ budget: budgetIn(fields), rateLimit: numberIn(fields, 'rateLimit') })

/** Changes the limits of an end user, or removes them. */
function EndUserDialog({
  of: { id: endUser, budget, budget_used_usd: used, rate_limit, created_at, ...usage },
  inKey: { id, end_users: rules },
  onChange,
  onClose,
}: {
  of: EndUser
  inKey: Key
  onChange: () => void
  onClose: () => void
}) {
  const params = { id, endUser }
  const shown = { budget: budget ?? null, rateLimit: rate_limit ?? null }
  const save = useSave(shown, limitsIn, async (body) => {
    await turnpike.patch('/api/keys/{id}/end-users/{endUser}', { params, body })
    onChange()
  })
  const remove = useAction(async () => {
    await turnpike.delete('/api/keys/{id}/end-users/{endUser}', { params })
    onClose()
    onChange()
  })
  const current = budget ?? rules?.budget
  return (
    <Dialog title={endUser} form="box" onClose={onClose}>
      <Facts
        facts={[
          ['Used', `${plural(usage.requests, 'request')}, ${count(usage.total_tokens)} tokens, ${usd(usage.cost_usd)}`],
          ['First seen', time(created_at)],
        ]}
      />
      {current && <BudgetUse budget={current} used={used} />}
      <Form action={save} label="Save" done="Saved.">
        <BudgetFields
          budget={budget}
          hint={`Empty: as the key says, ${rules?.budget ? usd(rules.budget.usd) : 'no limit'}.`}
        />
        <LimitField
          label="Requests per minute"
          name="rateLimit"
          value={rate_limit}
          most={MOST_REQUESTS}
          hint={`Empty: as the key says, ${perMinute(rules?.rate_limit)}.`}
        />
      </Form>
      <ErrorNotice error={remove.error} />
      <div class="row end">
        <ConfirmButton action={remove} label="Remove" busy="Removing…" title="Remove the end user?">
          <p>
            The sums and the budget of <strong class="break">{endUser}</strong> are removed. Their next request begins
            anew.
          </p>
        </ConfirmButton>
      </div>
    </Dialog>
  )
}

/** The end users of a key, with what each has used. */
export function EndUsers({ of: key }: { of: Key }) {
  const pages = usePages((page, signal) =>
    turnpike.list('/api/keys/{id}/end-users', { params: { id: key.id }, query: page, signal }),
  )
  const [openedId, open] = useState<string>()
  const opened = pages.value?.items.find(({ id }) => id === openedId)
  const columns: Column<EndUser>[] = [
    {
      name: 'End user',
      cell: ({ id }) => <RowLink open={() => open(id)}>{id}</RowLink>,
    },
    { name: 'Requests', number: true, cell: ({ requests }) => count(requests) },
    { name: 'Cost', number: true, cell: ({ cost_usd }) => usd(cost_usd) },
    {
      name: 'Limits',
      cell: ({ budget, rate_limit }) =>
        budget || rate_limit !== undefined ? <span class="badge">of their own</span> : 'of the key',
    },
  ]
  // Those of a key that does not tell them apart any more are kept.
  if (!key.end_users && !pages.value?.items.length) return <ErrorNotice error={pages.error} again={pages.again} />
  return (
    <Panel title="End users so far">
      <PagedTable
        caption="End users"
        columns={columns}
        pages={pages}
        name="end user"
        empty={
          <Empty title="No end user yet">
            <p>
              One is listed when a request with this key names them as <code>user</code>.
            </p>
          </Empty>
        }
      />
      {opened && (
        <EndUserDialog key={opened.id} of={opened} inKey={key} onChange={pages.again} onClose={() => open(undefined)} />
      )}
    </Panel>
  )
}
