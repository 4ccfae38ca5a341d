import type { Column } from '@turnpike/ui'
import { Facts, NONE, Status, Table, time, usd } from '@turnpike/ui'
import type { Candidate, Choice, Simulated } from './answers.js'

const reasons: Record<string, string> = {
  unfit: 'cannot do what the request asks for',
  context: 'the prompt is longer than its context',
  output: 'cannot answer at that length',
  unhealthy: 'failed lately, so it is tried after others',
  limited: 'is rate limited, so it is tried after others',
}

/** Why a candidate stands where it stands. */
function Reason({
  candidate: { excluded, behind, expected_usd },
  by,
  first,
}: {
  candidate: Candidate
  by: Choice['by']
  first: boolean
}) {
  if (excluded !== null) return <Status tone="off">{reasons[excluded] ?? excluded}</Status>
  if (behind !== null) return <Status tone="warn">{reasons[behind] ?? behind}</Status>
  if (by === 'order') return first ? <>configured before the others</> : <>used if those before it fail</>
  if (expected_usd === null) return <>its price is unknown, so it comes after those with one</>
  return first ? <>the cheapest for this request</> : <>costs more; used if those before it fail</>
}

/** The candidates for a request in the order in which they are called, each with why. */
export function Candidates({ choice: { by, order }, served }: { choice: Simulated; served?: Choice['served'] }) {
  const first = order.find(({ excluded }) => excluded === null)
  const columns: Column<Candidate>[] = [
    {
      name: 'Candidate',
      cell: (one) => (
        <>
          {order.indexOf(one) + 1}. {one.provider}/{one.model}{' '}
          {served?.provider === one.provider && served.model === one.model && (
            <span class="badge accent">answered</span>
          )}
        </>
      ),
    },
    { name: 'Expected', number: true, cell: ({ expected_usd }) => (expected_usd === null ? NONE : usd(expected_usd)) },
    { name: 'Why', cell: (candidate) => <Reason candidate={candidate} by={by} first={candidate === first} /> },
  ]
  return (
    <Table
      caption="Candidates in the order of calls"
      columns={columns}
      rows={order}
      rowKey={({ provider, model }) => `${provider}/${model}/${order.length}`}
    />
  )
}

/** What was asked for, and what decided. */
export const ChoiceFacts = ({ choice }: { choice: Choice }) => (
  <Facts
    facts={[
      ['Time', time(choice.time)],
      ['Model', choice.model],
      ['Provider', choice.provider ?? 'not given'],
      ['Decided by', choice.by === 'price' ? 'price' : 'the order of configuration'],
      ['Answered', choice.served ? `${choice.served.provider}/${choice.served.model}` : 'no candidate'],
      ['Calls', choice.attempts],
    ]}
  />
)
